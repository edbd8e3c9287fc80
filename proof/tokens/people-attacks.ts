import { randomUUID } from "node:crypto";
import { send, type Options } from "../../service/test/send.ts";
import type { Attack, Seen } from "./attack.ts";
import { password, type Scene } from "./scene.ts";

const csrf = "RFC 9700 4.7";
const injection = "RFC 9700 4.5, 4.8";
const mixUp = "RFC 9700 4.4";
const redirects = "RFC 9700 4.11";
const foreignOrigin = "https://evil.example";

// A change as the console sends it, with the headers that the attacker's page can send.
function block(scene: Scene, headers: Record<string, string>, query = ""): Promise<Seen> {
  const path = `/v2/${scene.tenant.tenant}/enduseraccounts/a${query}`;
  return send(scene.port, "PUT", path, { body: { is_blocked: true }, headers: { cookie: scene.session.cookie, ...headers } });
}

function session(scene: Scene, cookie: string): Promise<Seen> {
  return send(scene.port, "GET", "/auth/session", { headers: { cookie } });
}

function signIn(scene: Scene, options: Options = {}): Promise<Seen> {
  return send(scene.port, "POST", "/auth/sign-in", { body: { email: scene.session.email, password }, ...options });
}

const sessionAttacks: Attack[] = [
  {
    name: "a change with only the cookie, or with a token of another session",
    source: csrf,
    expected: "403 access-denied",
    attempt: async (scene) => {
      const tokens = ["", "x", scene.otherSession.csrf, scene.session.csrf.slice(0, -1), `${scene.session.csrf}x`];
      return Promise.all([block(scene, {}), ...tokens.map((token) => block(scene, { "x-csrf-token": token }))]);
    },
  },
  {
    name: "the session's token in the query or in a cookie",
    source: csrf,
    expected: "403 access-denied",
    attempt: async (scene) => [
      await block(scene, {}, `?x-csrf-token=${scene.session.csrf}&csrf_token=${scene.session.csrf}`),
      await block(scene, { cookie: `${scene.session.cookie}; x-csrf-token=${scene.session.csrf}` }),
    ],
  },
  {
    name: "a page of another origin, even with the token",
    source: csrf,
    expected: "403 access-denied",
    attempt: (scene) =>
      Promise.all(
        [foreignOrigin, "null", `${scene.url}.evil.example`, scene.url.replace("http:", "https:"), "http://127.0.0.1:1"].map(
          (origin) => block(scene, { origin, "x-csrf-token": scene.session.csrf }),
        ),
      ),
  },
  {
    name: "a page of another origin signs a browser in",
    source: csrf,
    expected: "403 access-denied",
    attempt: async (scene) => [await signIn(scene, { headers: { origin: foreignOrigin } })],
  },
  {
    name: "a cookie that was planted before the sign-in",
    source: csrf,
    expected: "401 unauthorized",
    attempt: async (scene) => {
      const planted = `casehound_session=${scene.tenant.tenant_id}.${"A".repeat(43)}`;
      const signedIn = await signIn(scene, { headers: { cookie: planted } });
      if (signedIn.status !== 200) throw new Error(`the sign-in returned ${signedIn.status}`);
      return [await session(scene, planted)];
    },
  },
  {
    name: "the attacker's own session, planted before the sign-in",
    source: csrf,
    expected: "401 unauthorized",
    attempt: async (scene) => {
      const own = await signIn(scene);
      const cookie = own.headers instanceof Headers ? (own.headers.getSetCookie()[0]?.split(";")[0] ?? "") : "";
      await signIn(scene, { headers: { cookie } });
      return [await session(scene, cookie)];
    },
  },
  {
    name: "a session that has ended, and sessions that never existed",
    source: "RFC 9700 4.10",
    expected: "401 unauthorized",
    attempt: async (scene) => {
      const { cookie } = scene.endedSession;
      const [, value = ""] = scene.session.cookie.split("=");
      const made = [
        `${scene.other.tenant_id}.${value.split(".")[1]}`,
        `${value}x`,
        value.slice(0, -1),
        value.toUpperCase(),
        "",
        ".",
      ];
      return Promise.all([session(scene, cookie), ...made.map((each) => session(scene, `casehound_session=${each}`))]);
    },
  },
  {
    name: "a session on another tenant's path",
    source: "RFC 9700 2.3",
    expected: "403 access-denied",
    attempt: async (scene) => {
      const headers = { cookie: scene.session.cookie, "x-csrf-token": scene.session.csrf };
      const path = `/v2/${scene.other.tenant}/cases`;
      return [await send(scene.port, "GET", path, { headers })];
    },
  },
  {
    name: "an invalid token next to a valid cookie",
    source: "RFC 9700 4.10",
    expected: "401 unauthorized",
    attempt: async (scene) => {
      const headers = { cookie: scene.session.cookie, authorization: "Bearer x.y.z" };
      return [await send(scene.port, "GET", `/v2/${scene.tenant.tenant}/cases`, { headers })];
    },
  },
];

type Way = { callback: string; cookie: string };

// Two browsers on their way back from the other issuer: the victim's and the attacker's.
async function travel(scene: Scene): Promise<[Way, Way]> {
  scene.issuer.at = { sub: randomUUID(), email: scene.session.email, email_verified: true };
  return [await scene.issuer.travel(scene), await scene.issuer.travel(scene)];
}

function comeBack(scene: Scene, { callback, cookie }: Way, change: Record<string, string | null> = {}): Promise<Seen> {
  const { pathname, searchParams } = new URL(callback);
  for (const [name, value] of Object.entries(change)) {
    if (value === null) searchParams.delete(name);
    else searchParams.set(name, value);
  }
  return send(scene.port, "GET", `${pathname}?${searchParams.toString()}`, { headers: { cookie } });
}

// The state, nonce and verifier of a sign-in, as the cookie stores them.
function kept(cookie: string): string[] {
  return (cookie.split("=")[1] ?? "").split(".");
}

function cookieOf(...parts: (string | undefined)[]): string {
  return `casehound_oidc=${parts.join(".")}`;
}

type Return = [name: string, source: string, problem: string, attempt: (scene: Scene, mine: Way, theirs: Way) => Promise<Seen>[]];

const returns: Return[] = [
  ["without the cookie of the browser that started", csrf, "expired", (s, mine) => [comeBack(s, { ...mine, cookie: "" })]],
  ["another browser's cookie", csrf, "refused", (s, mine, theirs) => [comeBack(s, { ...mine, cookie: theirs.cookie })]],
  [
    "no state, and a made-up one",
    csrf,
    "refused",
    (s, mine) => [comeBack(s, mine, { state: null }), comeBack(s, mine, { state: "x" })],
  ],
  [
    "the victim's code in the attacker's browser",
    injection,
    "refused",
    (s, mine, theirs) => [comeBack(s, theirs, { code: new URL(mine.callback).searchParams.get("code") })],
  ],
  [
    "another PKCE verifier, and invalid ones",
    injection,
    "refused",
    (s, mine, theirs) => {
      const [state, nonce] = kept(mine.cookie);
      const [otherState, otherNonce] = kept(theirs.cookie);
      return [
        comeBack(s, { ...mine, cookie: cookieOf(state, nonce, "v".repeat(43)) }),
        comeBack(s, { ...theirs, cookie: cookieOf(otherState, otherNonce, "plain") }),
      ];
    },
  ],
  [
    "another nonce",
    injection,
    "refused",
    (s, mine) => {
      const [state, , verifier] = kept(mine.cookie);
      return [comeBack(s, { ...mine, cookie: cookieOf(state, "n".repeat(43), verifier) })];
    },
  ],
  ["a made-up code", injection, "refused", (s, mine) => [comeBack(s, mine, { code: "made-up" })]],
  ["no code", injection, "refused", (s, mine) => [comeBack(s, mine, { code: null })]],
  ["an ID token in the address", "RFC 9700 4.6", "refused", (s, mine) => [comeBack(s, mine, { code: null, id_token: s.token })]],
  ["another issuer in the response", mixUp, "refused", (s, mine) => [comeBack(s, mine, { iss: "https://evil.example" })]],
  ["no issuer in the response, although ours always sends it", mixUp, "refused", (s, mine) => [comeBack(s, mine, { iss: null })]],
];

const wayBack: Attack[] = returns.map(([name, source, problem, attempt]) => ({
  name: `sign-in through another issuer: ${name}`,
  source,
  expected: `303 ${problem}`,
  attempt: async (scene) => {
    const [mine, theirs] = await travel(scene);
    return Promise.all(attempt(scene, mine, theirs));
  },
}));

// Open redirects: the destination of a sign-in, whatever the address asks for, and an error that redirects the browser.
const openRedirects: Attack[] = [
  {
    name: "sign-in through another issuer: a redirect address after a rejection",
    source: redirects,
    expected: "303 refused",
    attempt: async (scene) => {
      const [mine] = await travel(scene);
      const wishes = { redirect_uri: foreignOrigin, return_to: foreignOrigin, next: foreignOrigin, code: "made-up" };
      return [await comeBack(scene, mine, wishes)];
    },
  },
];

export const peopleAttacks: Attack[] = [...sessionAttacks, ...wayBack, ...openRedirects];

// Parameters that must not change where the sign-in leads. Each request must lead to the issuer, and from there back to us.
export async function wanderings(scene: Scene): Promise<string[]> {
  const wishes = ["redirect_uri", "return_to", "next", "issuer", "client_id", "state", "code_challenge_method"];
  const found: string[] = [];
  for (const name of wishes) {
    const asked = `/auth/oidc?${name}=${encodeURIComponent(foreignOrigin)}`;
    const answer = await send(scene.port, "GET", asked);
    const to = new URL(answer.headers.get("location") ?? "http://nowhere.invalid");
    const isOurs =
      to.origin === scene.issuer.url &&
      to.searchParams.get("redirect_uri") === `${scene.url}/auth/oidc/callback` &&
      to.searchParams.get("code_challenge_method") === "S256" &&
      !to.href.includes("evil.example");
    if (!isOurs) found.push(`${asked} (${redirects}): led to ${to.href}`);
  }
  return found;
}
