import { randomUUID } from "node:crypto";
import { peopleRoutes } from "../../service/src/api/people/routes.ts";
import { systemOperations } from "../../service/src/api/system.ts";
import type { Answer, Options } from "../../service/test/send.ts";
import type { Pair } from "./attempts.ts";
import { sharedEmail, type Twin } from "./twin.ts";

type Attempt = (pair: Pair, what: string) => Promise<void>;

// Sends both requests. Both must be rejected with the same bytes.
async function refused({ by, tally }: Pair, what: string, [one, other]: [Asked, Asked], wanted: number): Promise<void> {
  const answers: [Answer, Answer] = [
    await by.ask(one.method, one.path, one.options),
    await by.ask(other.method, other.path, other.options),
  ];
  for (const answer of answers) tally.see(what, answer, { wanted });
  tally.seeSame(what, answers);
}

type Asked = { method: string; path: string; options: Options };

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Asked => ({
  method: "POST",
  path,
  options: { body, headers: { "x-forwarded-for": `2001:db8::${randomUUID().slice(0, 4)}`, ...headers } },
});

const form = (fields: Record<string, string>): Asked => ({
  method: "POST",
  path: "/v2/oauth/token",
  options: {
    rawBody: new URLSearchParams({ grant_type: "client_credentials", ...fields }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  },
});

const collect = (method: string, key: string, origin: string): Asked => ({
  method,
  path: `/collect/${key}`,
  options: { headers: { origin }, ...(method === "POST" && { rawBody: "[]" }) },
});

const nobody = "0".repeat(24);

const getToken: Attempt = ({ by, on, tally }, what) => {
  const secret = { client_secret: by.clientSecret };
  const asked: [Asked, Asked] = [
    form({ client_id: on.clientId, ...secret }),
    form({ client_id: `t-${randomUUID()}`, ...secret }),
  ];
  return refused({ by, on, tally }, what, asked, 401);
};

const signIn: Attempt = ({ by, on, tally }, what) => {
  const password = by.password;
  const asked: [Asked, Asked] = [
    post("/auth/sign-in", { email: sharedEmail, password, tenant: on.slug }),
    post("/auth/sign-in", { email: `${randomUUID()}@shop.example`, password, tenant: on.slug }),
  ];
  return refused({ by, on, tally }, what, asked, 401);
};

const readOwnSession: Attempt = async ({ by, tally }, what) => {
  const answer = await by.ask("GET", "/auth/session", { headers: by.person });
  tally.see(what, answer, { wanted: 200 });
  if (!answer.text.includes(by.tenantId)) tally.fault(`${what}: the session does not belong to its own tenant`);
};

// A session's token names its tenant, which is not secret. Naming another tenant must give no session.
const forgedSession =
  (method: string, path: string): Attempt =>
  async ({ by, on, tally }, what) => {
    const cookie = (by.person["cookie"] ?? "")
      .replaceAll(by.tenantId, on.tenantId)
      .replaceAll(bare(by.tenantId), bare(on.tenantId));
    const headers = { ...by.person, cookie: cookie === by.person["cookie"] ? `${cookie}x` : cookie };
    tally.see(what, await by.ask(method, path, { headers, ...(method === "POST" && { body: {} }) }), { wanted: 401 });
  };

const bare = (id: string) => id.replaceAll("-", "");

const foreignCsrf =
  (path: string): Attempt =>
  async ({ by, on, tally }, what) => {
    const headers = { cookie: by.person["cookie"] ?? "", "x-csrf-token": on.person["x-csrf-token"] ?? "" };
    const body = { current_password: by.password, new_password: `${by.password} new` };
    tally.see(what, await by.ask("POST", path, { headers, body }), { wanted: 403 });
  };

// A ticket says whose password was right. One that names somebody else must not let anybody try codes.
const forgedTicket: Attempt = async ({ by, on, tally }, what) => {
  const ticket = [on.tenantId, on.shared["user_id"], Date.now() + 60_000, randomUUID()].join(".");
  const headers = { cookie: `casehound_ticket=${ticket}` };
  tally.see(what, await by.ask("POST", "/auth/second-factor", { headers, body: { code: "123456" } }), { wanted: 401 });
};

const ownFactors = [
  "/auth/totp",
  "/auth/totp/confirm",
  "/auth/totp/remove",
  "/auth/passkeys/begin",
  "/auth/passkeys",
  "/auth/passkeys/remove",
  "/auth/recovery-codes",
];

// Passkeys need a domain name, which this service does not have. So everybody gets the same response.
const noPasskeys =
  (path: string): Attempt =>
  async ({ by, tally }, what) =>
    tally.see(what, await by.ask("POST", path, { body: {} }), { wanted: 404 });

// A link works with its token alone, so a changed token must open nothing.
const changedLink =
  (path: string, more: (by: Twin) => Record<string, string>): Attempt =>
  async ({ by, on, tally }, what) => {
    const token = on.linkToken.slice(0, -1) + (on.linkToken.endsWith("A") ? "B" : "A");
    tally.see(what, await by.ask("POST", path, { body: { token, ...more(by) } }), { wanted: 404 });
  };

const collectorOf =
  (method: string): Attempt =>
  async (pair, what) => {
    const { by, on } = pair;
    await refused(pair, what, [collect(method, on.appKey, by.origin), collect(method, nobody, by.origin)], 403);
    await refused(pair, what, [collect(method, by.appKey, on.origin), collect(method, nobody, on.origin)], 403);
  };

// Responses that must be the same for every tenant.
const sameForAll =
  (path: string): Attempt =>
  async ({ by, tally }, what) => {
    const response = await fetch(`${by.base}${path}`, { redirect: "manual", headers: { authorization: `Bearer ${by.token}` } });
    const [text, headers] = [await response.text(), response.headers];
    tally.see(what, { status: response.status, headers, text, json: undefined as never });
  };

const attempts: Record<string, Attempt> = {
  "POST /v2/oauth/token": getToken,
  "POST /auth/sign-in": signIn,
  "GET /auth/session": async (pair, what) => {
    await readOwnSession(pair, what);
    await forgedSession("GET", "/auth/session")(pair, what);
  },
  "POST /auth/sign-out": foreignCsrf("/auth/sign-out"),
  "POST /auth/sign-out-everywhere": foreignCsrf("/auth/sign-out-everywhere"),
  "POST /auth/password": foreignCsrf("/auth/password"),
  "POST /auth/second-factor": forgedTicket,
  "POST /auth/passkey/challenge": noPasskeys("/auth/passkey/challenge"),
  "POST /auth/passkey": noPasskeys("/auth/passkey"),
  "GET /auth/second-factors": forgedSession("GET", "/auth/second-factors"),
  ...Object.fromEntries(ownFactors.map((path) => [`POST ${path}`, foreignCsrf(path)])),
  "POST /auth/link": changedLink("/auth/link", () => ({})),
  "POST /auth/link/use": changedLink("/auth/link/use", ({ password }) => ({ password })),
  "POST /collect/{app_key}": collectorOf("POST"),
  "OPTIONS /collect/{app_key}": collectorOf("OPTIONS"),
};
const alike = [
  "/auth/options",
  "/auth/oidc",
  "/auth/oidc/callback",
  "/.well-known/jwks.json",
  "/openapi.json",
  "/docs",
  "/docs/",
];
for (const path of [...alike, "/tag.js", "/livez", "/readyz"]) attempts[`GET ${path}`] = sameForAll(path);
for (const path of ["", "/callback"])
  attempts[`GET /auth/oidc/{tenant_slug}/{issuer_key}${path}`] = sameForAll(`/auth/oidc/nobody-here/none${path}`);
attempts["GET /docs/{page}"] = sameForAll("/docs/api");

// Only the table is needed. No handler is called, so their dependencies are not needed.
const table = systemOperations({ people: peopleRoutes({} as never, null) } as never);

export async function trySystem(pair: Pair): Promise<number> {
  for (const { method, path } of table) {
    const what = `${method} ${path}`;
    const attempt = attempts[what];
    if (attempt) await attempt(pair, what);
    else pair.tally.fault(`${what} is an operation that was not tried`);
  }
  return table.length;
}
