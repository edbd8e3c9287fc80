import { beforeAll, expect, test } from "vitest";
import { scopesOf } from "../src/api/operation.ts";
import { operations } from "../src/api/operations.ts";
import { roleScopes } from "../src/domain/role.ts";
import { webhookReach } from "../src/domain/webhook.ts";
import { scopes } from "../src/domain/scope.ts";
import { createWorld, useWorld } from "./fault-world.ts";
import { draftOf, sendDraft, snapshot } from "./faults.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const world = useWorld(service);
let known: string;

beforeAll(async () => {
  known = await snapshot(world.current);
});

// The next test finds what this one leaves behind.
async function expectNoChange(): Promise<void> {
  const before = known;
  known = await snapshot(world.current);
  expect(known).toBe(before);
}

const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation.scope, operation] as const);

// Texts that a careless comparison would take for the scope.
function lookalikes(scope: string): string[] {
  const [verb = "", noun = ""] = scope.split(":");
  return [
    "",
    "*",
    `${verb}:*`,
    `*:${noun}`,
    verb,
    noun,
    `${verb}:`,
    scope.toUpperCase(),
    `${scope[0]?.toUpperCase()}${scope.slice(1)}`,
    scope.slice(0, -1),
    `${scope}s`,
    `${scope}:all`,
    `x${scope}`,
    scope.replace(":", "."),
    `${noun}:${verb}`,
    `${scope},${scope}`,
    `"${scope}"`,
    `${scope}\u0000`,
    `${scope}\t`,
    "admin",
  ].filter((text) => text !== scope && !text.split(" ").includes(scope));
}

// A token of the world's tenant with these scopes. Signing one takes longer than rejecting it, so operations share them.
const minted = new Map<string, Promise<string>>();
function mintOnce(granted: readonly string[]): Promise<string> {
  const key = JSON.stringify(granted);
  const token = minted.get(key) ?? world.current.tenant.mint(granted);
  minted.set(key, token);
  return token;
}

test.each(table)("%s 403: no other scope than %s gives access", async (_at, scope, operation) => {
  const others = scopes.filter((each) => each !== scope);
  for (const granted of [...others.map((each) => [each]), ...lookalikes(scope).map((each) => [each]), others, []]) {
    const draft = { ...draftOf(operation, world.current), token: await mintOnce(granted) };
    const answer = await sendDraft(service.current, draft);
    expect(expectProblem(answer, 403, "access-denied").detail).toBe(`The token lacks the scope ${scope}.`);
    const challenge = `Bearer realm="casehound", error="insufficient_scope", scope="${scope}"`;
    expect(answer.headers.get("www-authenticate")).toBe(challenge);
  }
  await expectNoChange();
});

// The scopes of the client or person that a draft is about.
function reached(id: string): readonly string[] {
  // The tenant's first client has every scope.
  if (id === "rotateAuthSecret") return scopes;
  if (["createSignInIssuer", "updateSignInIssuer", "deleteSignInIssuer"].includes(id)) return scopes;
  // The world's token was created with every scope.
  if (id === "revokeScimToken") return scopes;
  if (id === "updateProvisioning" || /Scim(User|Group)$/.test(id)) return roleScopes.lead;
  if (["rotateClientSecret", "revokeClient"].includes(id)) return ["read:cases"];
  if (["createRole", "updateRole", "deleteRole"].includes(id)) return ["read:cases", "read:case", "read:events"];
  if (["createWebhook", "updateWebhook", "rotateWebhookSecret"].includes(id)) return webhookReach;
  return ["createUser", "updateUser", "createUserLink", "endUserSessions", "resetSecondFactor"].includes(id)
    ? roleScopes.lead
    : [];
}

test("scopes: every operation works with its scope and those of the client or person it affects", async () => {
  const own = await createWorld(service.current);
  for (const operation of operations) {
    const token = await own.tenant.mint([...scopesOf(operation), ...reached(operation.id)]);
    const answer = await sendDraft(service.current, { ...draftOf(operation, own), token });
    // Clients cannot request approval.
    const wanted = operation.id === "requestApproval" ? 403 : operation.success.status;
    expect(answer.status, `${operation.id}: ${answer.text}`).toBe(wanted);
  }
});

test("scopes: the table requires no scope that the issuer cannot grant", () => {
  expect(operations.flatMap(scopesOf).filter((scope) => !scopes.includes(scope))).toEqual([]);
});

test("POST assessments 403: also requires the second scope, and stores nothing without it", async () => {
  const tenant = await TestTenant.create(service.current);
  const body = { activity_id: "a-1", type: "logout", occurred_at: "2026-11-15T09:30:00.000Z", website_account_id: "user-1" };
  const token = await tenant.mint(scopes.filter((scope) => scope !== "read:decisions"));
  const answer = await tenant.call("POST", "/assessments", { body, token });
  expect(expectProblem(answer, 403, "access-denied").detail).toBe("The token lacks the scope read:decisions.");
  expect(answer.headers.get("www-authenticate")).toContain('scope="read:decisions"');
  const stored = await tenant.call("POST", "/activities", { body: { activities: [body] } });
  expect(stored.json.data).toEqual({ accepted: 1, duplicates: 0 });
});

test("scopes: each of several scopes counts, at any position", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const granted of [
    ["read:cases", "read:case"],
    ["read:case", "read:cases"],
    ["x", "read:cases", "y"],
    ["", "read:cases", ""],
  ]) {
    expect((await tenant.call("GET", "/cases", { token: await tenant.mint(granted) })).status).toBe(200);
  }
});

const challenge = 'Bearer realm="casehound"';
const invalid = `${challenge}, error="invalid_token"`;

test.each(table)(
  "%s 401: the challenge contains the realm, and the error only if a token was sent",
  async (_at, _scope, operation) => {
    const { expiredToken } = world.current;
    const { token } = world.current.tenant;
    const good = draftOf(operation, world.current);
    const ask = async (authorization: string | null) => {
      const headers = { ...good.headers, ...(authorization !== null && { authorization }) };
      const answer = await sendDraft(service.current, { ...good, token: null, headers });
      expectProblem(answer, 401, "unauthorized");
      return answer.headers.get("www-authenticate");
    };
    expect(await ask(null)).toBe(challenge);
    const spoiled = [`Bearer ${expiredToken}`, "Bearer x", `Bearer ${token}x`, `Bearer ${token} ${token}`, `Bearer ${token},`];
    for (const each of [...spoiled, "Bearer", token, `Basic ${token}`, `Token ${token}`, `Bearer: ${token}`, `Bearer=${token}`]) {
      expect(await ask(each), each).toBe(invalid);
    }
    // A token anywhere but in the header is ignored.
    const elsewhere = { ...good, token: null, query: `?access_token=${token}` };
    expectProblem(await sendDraft(service.current, elsewhere), 401, "unauthorized");
    await expectNoChange();
  },
);

test("GET cases 200: Bearer is accepted in any letter case", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
    const headers = { authorization: `${scheme} ${tenant.token}` };
    expect((await tenant.call("GET", "/cases", { token: null, headers })).status).toBe(200);
  }
});
