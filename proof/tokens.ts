import { setTimeout as sleep } from "node:timers/promises";
import { listSigningKeys } from "../service/src/db/issuer.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { outcomeOf, tryAttacks } from "./tokens/attack.ts";
import { carriageAttacks } from "./tokens/carriage-attacks.ts";
import { make, otherSpellingOf, twinOf } from "./tokens/forge.ts";
import { grantAttacks } from "./tokens/grant-attacks.ts";
import { jwtAttacks } from "./tokens/jwt-attacks.ts";
import { peopleAttacks, wanderings } from "./tokens/people-attacks.ts";
import { Scene } from "./tokens/scene.ts";

const kinds = {
  "forged, changed and confused tokens": jwtAttacks,
  "valid tokens in the wrong place or form": carriageAttacks,
  "token requests": grantAttacks,
  "sessions, and sign-in through another issuer": peopleAttacks,
};

const triesMax = 500;
const all = Object.values(kinds).flat();

// The token that the attacks modify must itself be valid, or they would prove nothing. Encoding the same signature differently is
// not an attack: every ECDSA signature has two forms, and the claims are those that were signed.
async function harmless(scene: Scene): Promise<{ figures: Findings["figures"]; violations: string[] }> {
  const { token, recipe } = scene;
  const good = {
    "the token that the attacks modify": make(recipe),
    "the media type in full": make(recipe, { header: { typ: "application/at+jwt" } }),
    "our audience among others": make(recipe, { claims: { aud: ["else", "casehound"] } }),
  };
  const same = {
    "a signature's twin (s to n - s)": twinOf(token),
    "the same signature in another encoding": otherSpellingOf(token),
  };
  const violations: string[] = [];
  const figures: Findings["figures"] = {};
  for (const [name, text] of Object.entries(good)) {
    const { status } = await scene.call("GET", "/cases", { token: text });
    if (status !== 200) violations.push(`${name} got ${status}, so attacks that modify it prove nothing`);
  }
  for (const scheme of ["bearer", "BEARER", "bEaReR"]) {
    const headers = { authorization: `${scheme} ${token}` };
    const { status } = await scene.call("GET", "/cases", { token: null, headers });
    if (status !== 200) violations.push(`the scheme ${scheme} got ${status}`);
  }
  for (const [name, text] of Object.entries(same)) {
    const answer = await scene.call("GET", "/cases", { token: text });
    figures[name] = answer.status === 200 ? "accepted as the same token" : outcomeOf(answer, scene);
    const isTold = answer.status === 200 || outcomeOf(answer, scene) === "401 unauthorized";
    if (!isTold) violations.push(`${name} got ${answer.status}`);
  }
  return { figures, violations };
}

// After a rotation the old secret and its tokens stay valid. revoke_now ends both, and tokens of the new secret work at once.
async function rotations(scene: Scene): Promise<string[]> {
  const { tenant, token } = scene;
  const rotate = async (revoke_now: boolean) => {
    const answer = await scene.call("POST", "/tenants/rotate-auth-secret", { body: { revoke_now } });
    return { status: answer.status, client_secret: (answer.json.data as { client_secret?: string }).client_secret ?? "" };
  };
  const asked = (secret: string) =>
    scene.askToken({ grant_type: "client_credentials", client_id: tenant.client_id, client_secret: secret });
  const second = await rotate(false);
  const [promised, kept] = [await asked(tenant.client_secret), await scene.call("GET", "/cases", { token })];
  const third = await rotate(true);
  const [old, fresh] = [await asked(tenant.client_secret), await scene.tokenOf({ ...tenant, ...third })];
  const used = await scene.call("GET", "/cases", { token: fresh });
  // The process is notified of a revocation a moment later.
  let ended = 200;
  for (let tries = 0; tries < triesMax && ended === 200; tries++) {
    await sleep(10);
    ended = (await scene.call("GET", "/cases", { token })).status;
  }
  const { keys } = (await (await fetch(`${scene.url}/.well-known/jwks.json`)).json()) as { keys: Record<string, unknown>[] };
  const stored = await listSigningKeys(scene.stand.database);
  const violations: string[] = [];
  for (const { status } of [second, promised, kept, third, used])
    if (status !== 200) violations.push(`a rotation returned ${status}, or ended a secret or token that it had promised to keep`);
  if (ended !== 401) violations.push(`a token of a revoked secret got ${ended}`);
  if (outcomeOf(old, scene) !== "401 unauthorized") violations.push(`a replaced secret got ${outcomeOf(old, scene)}`);
  if (keys.length !== stored.length || keys.some((key) => "d" in key))
    violations.push("the published keys are not the public halves");
  return violations;
}

async function run({ progress }: Proof): Promise<Findings> {
  const scene = await Scene.open();
  try {
    const good = await harmless(scene);
    const tried = await tryAttacks(scene, all, (done) => progress(done, all.length, "attacks"));
    const more = [...(await wanderings(scene)), ...(await rotations(scene))];
    const counts = Object.entries(kinds).map(([name, attacks]) => [`attacks: ${name}`, attacks.length]);
    const sources = new Set(all.flatMap(({ source }) => source.split(/, (?=RFC)/)));
    return {
      figures: {
        ...Object.fromEntries(counts),
        "sections of the RFCs": [...sources].toSorted().join("; "),
        attempts: tried.attempts,
        ...good.figures,
      },
      violations: [...good.violations, ...tried.violations, ...more],
    };
  } finally {
    await scene.close();
  }
}

export const tokens: Part = {
  name: "tokens",
  title: "Tokens and sign-in",
  claim:
    "Every attack of RFC 8725 (JSON Web Tokens) and RFC 9700 (OAuth 2.0) that can be tried on the issuer, the API and the console's sign-in is rejected as the contract says, reveals nothing and changes nothing. The valid token works before and after each attack.",
  run,
};
