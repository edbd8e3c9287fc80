import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { blocksOf } from "./guide.ts";
import { makeSecret, tokenOf } from "./identity.ts";
import { Site, browserEvent, useCollector } from "./site.ts";

const service = useCollector();
const hour = 3600;
const minute = 60;

type User = { accountId?: unknown; token?: unknown; attributes?: Record<string, unknown> };

function eventBy({ accountId = "user-42", token, attributes = {} }: User) {
  const identity = token === undefined ? {} : { casehound_identity: { value: token, set_timestamp: Date.now() } };
  return browserEvent({ user: { _user_id: { value: accountId }, ...identity } }, attributes);
}

const attribute = (token: unknown) => ({ attributes: { casehound_identity: token } });

async function openSite(): Promise<{ site: Site; secret: string }> {
  const site = await Site.create(service.current);
  return { site, secret: (await makeSecret(site.tenant)).secret };
}

// Sends one event in its own request and returns its verdict.
async function verdictOn(site: Site, user: User): Promise<string | undefined> {
  const event = eventBy(user);
  await site.post([event]);
  const stored = await site.stored();
  const found = stored.find((each) => each.activity_id === event.event_id);
  expect(found).toBeDefined();
  return found?.identity;
}

test("identity: a valid token for the named account makes the event signed, and the token is stored nowhere", async () => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret });
  await site.post([eventBy({ token, attributes: { tenant_id: "foreign", amount: 5 } })], { query: { hashCode: "00000000" } });
  await site.post([{ ...eventBy({ token, attributes: { casehound_identity: token } }), event_id: "" }]);
  await site.collect(`{"user": "${token}"}`);
  await site.collect(`[{"user": "${token}"`);
  const stored = await site.storedOne();
  expect(stored).toMatchObject({ website_account_id: "user-42", identity: "signed" });
  const quarantined = await site.quarantined();
  expect(quarantined.quarantine).toHaveLength(5);
  expect(stored.attributes).toEqual({ tenant_id: "foreign", amount: 5 });
  for (const part of [token, token.split(".")[2] ?? ""]) expect(JSON.stringify([stored, quarantined])).not.toContain(part);
});

test("identity: the guide's curl commands send a signed event", async () => {
  const { site, secret } = await openSite();
  const block = blocksOf("signed-identity", "sh").find((each) => each.includes("/collect/")) ?? "";
  const { PATH = "" } = process.env;
  const env = { PATH, CASEHOUND_URL: site.tenant.service.url, APP_KEY: site.key, IDENTITY_SECRET: secret };
  const [send = ""] = block.split("sleep");
  const { stdout } = await promisify(execFile)("sh", ["-euc", send], { env });
  expect(stdout).toBe("{}\n");
  expect(await site.storedOne()).toMatchObject({ website_account_id: "user-42", session_id: "try-session", identity: "signed" });
});

test("identity: the quarantine shows no excerpt of a compressed body that is too large", async () => {
  const { site, secret } = await openSite();
  const packed = gzipSync(JSON.stringify([{ token: tokenOf({ secret }), padding: "x".repeat(9 * 1024 * 1024) }])).toString(
    "base64",
  );
  await site.collect(packed, { query: { compression: "gzip" } });
  const { quarantine } = await site.quarantined();
  expect(quarantine).toMatchObject([{ reason: "unpacked-too-large", excerpt: "" }]);
});

test("identity: without a token there is no verdict, whether the tenant has a secret or not", async () => {
  const { site } = await openSite();
  const plain = await Site.create(service.current);
  for (const token of [undefined, null, ""]) {
    expect(await verdictOn(site, { token })).toBeUndefined();
    expect(await verdictOn(plain, { token })).toBeUndefined();
  }
});

test("identity: a token without an account has no effect", async () => {
  const { site, secret } = await openSite();
  for (const accountId of [null, "", "UNKNOWN", { a: 1 }])
    expect(await verdictOn(site, { accountId, token: tokenOf({ secret }) })).toBeUndefined();
});

test("identity: a token is verified even while verification is off", async () => {
  const { site, secret } = await openSite();
  await site.tenant.call("PUT", "/tenants", { body: { identity_verification: "off" } });
  expect(await verdictOn(site, { token: tokenOf({ secret }) })).toBe("signed");
});

test("identity: a token of another account or tenant, or for a tenant without a secret, is bad", async () => {
  const [{ site, secret }, other, none] = [await openSite(), await openSite(), await Site.create(service.current)];
  expect(await verdictOn(site, { token: tokenOf({ secret, accountId: "mallory" }) })).toBe("bad-token");
  expect(await verdictOn(other.site, { token: tokenOf({ secret }) })).toBe("bad-token");
  expect(await verdictOn(none, { token: tokenOf({ secret }) })).toBe("bad-token");
  expect(await verdictOn(none, { token: tokenOf({ secret: "" }) })).toBe("bad-token");
});

test.each([
  [-9 * minute, "signed"],
  [-11 * minute, "bad-token"],
  [-400 * 24 * hour, "bad-token"],
  [24 * hour + 9 * minute, "signed"],
  [24 * hour + 11 * minute, "bad-token"],
  [60 * 24 * hour, "bad-token"],
])("identity: a token that expires %i seconds after receipt is %s, whatever the event's own time", async (seconds, verdict) => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret, expiresInSeconds: seconds });
  const events = [0, -20 * minute, -24 * hour, hour].map((off) => ({
    ...eventBy({ token }),
    timestamp: Date.now() + off * 1000,
  }));
  await site.post(events);
  await site.post([eventBy({ token })], { query: { upload_timestamp: String(Date.now() + seconds * 1000) } });
  expect((await site.stored()).map((each) => each.identity)).toEqual(Array.from({ length: 5 }, () => verdict));
});

test("identity: a token whose expiry was changed after signing is bad", async () => {
  const { site, secret } = await openSite();
  const [, expiry, signature] = tokenOf({ secret }).split(".");
  expect(await verdictOn(site, { token: `v1.${Number(expiry) + 1}.${signature}` })).toBe("bad-token");
});

test("identity: malformed, truncated, huge and foreign values are bad tokens, and the event is kept", async () => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret });
  const [, expiry = "", signature = ""] = token.split(".");
  // Two bits of the last of the 43 characters are not part of any byte.
  const alike = signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(42) + 1);
  const tokens: unknown[] = [
    token.slice(0, -1),
    `${token}x`,
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    `${token}\0`,
    token.toUpperCase(),
    `v1.${expiry}.${alike}`,
    `v2.${expiry}.${signature}`,
    `v1.0${expiry}.${signature}`,
    `v1.+${expiry}.${signature}`,
    `v1..${signature}`,
    `v1.${expiry}.`,
    "v1",
    ".",
    signature,
    `v1.1e9.${signature}`,
    `v1.-1.${signature}`,
    `v1.${"9".repeat(400)}.${signature}`,
    "x".repeat(500_000),
    `v1.${expiry}.${"A".repeat(500_000)}`,
    7,
    -1,
    true,
    false,
    {},
    { value: token },
    [],
    [token],
  ];
  for (const each of tokens) expect(await verdictOn(site, { token: each }), JSON.stringify(each).slice(0, 80)).toBe("bad-token");
  expect(await site.counts()).toEqual({});
});

test.each([
  ["of 512 characters", "x".repeat(512)],
  ["of 512 characters outside the BMP", "😀".repeat(512)],
  ["with colons and full stops", "v1:1794848804:a.b.c:"],
  ["that is not ASCII", "zoë/Ürümqi\u0301 名"],
  ["with surrounding white space", " a\tb "],
  ["that is a number", "42"],
])("identity: an account id %s is verified byte by byte", async (_name, accountId) => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret, accountId });
  expect(await verdictOn(site, { accountId, token })).toBe("signed");
  for (const close of [`${accountId.slice(0, -1)}_`, accountId.normalize("NFD").slice(0, -1), ` ${accountId}`])
    expect(await verdictOn(site, { accountId: close, token })).not.toBe("signed");
});

test("identity: a numeric account id is verified as text, and a token is not valid for ids that only look alike", async () => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret, accountId: "42" });
  expect(await verdictOn(site, { accountId: 42, token })).toBe("signed");
  for (const accountId of ["042", "42.0", "４２"]) expect(await verdictOn(site, { accountId, token })).toBe("bad-token");
  const [, expiry = "", signature = ""] = tokenOf({ secret, accountId: "1:b" }).split(".");
  expect(await verdictOn(site, { accountId: "b", token: `v1.${expiry}.${signature}` })).toBe("bad-token");
});

test("identity: the Clickstream SDK's global attribute works too and is not stored; the user attribute takes precedence", async () => {
  const { site, secret } = await openSite();
  const good = tokenOf({ secret });
  expect(await verdictOn(site, attribute(good))).toBe("signed");
  expect(await verdictOn(site, attribute("v1.1.x"))).toBe("bad-token");
  expect(await verdictOn(site, { token: "v1.1.x", ...attribute(good) })).toBe("bad-token");
  expect(await verdictOn(site, { token: good, ...attribute("v1.1.x") })).toBe("signed");
  for (const each of await site.stored()) expect(each.attributes).toBeUndefined();
});

test("identity: a token elsewhere in the event is ignored", async () => {
  const { site, secret } = await openSite();
  const token = tokenOf({ secret });
  await site.post([
    { ...eventBy({}), casehound_identity: token, token },
    browserEvent({ user: { _user_id: { value: "user-42", token, casehound_identity: token }, casehound_identity: token } }),
    browserEvent({ user: { _user_id: { value: "user-42" }, token: { value: token } } }, { token: "x" }),
  ]);
  expect((await site.stored()).map((each) => each.identity)).toEqual([undefined, undefined, undefined]);
});

test("identity: an event cannot set its own verdict", async () => {
  const { site } = await openSite();
  await site.post([{ ...eventBy({ attributes: { identity: "signed" } }), identity: "signed" }]);
  expect((await site.storedOne()).identity).toBeUndefined();
});

test("identity: a replaced secret works for its day; a revoked or expired one stops working from the next request on", async () => {
  const { site, secret: first } = await openSite();
  const second = await makeSecret(site.tenant);
  const third = await makeSecret(site.tenant);
  for (const secret of [first, second.secret, third.secret])
    expect(await verdictOn(site, { token: tokenOf({ secret }) })).toBe("signed");
  await service.current.database.transaction((tx) =>
    tx.query(sql`
      update identity_secrets
      set expires_at = ${new Date(Date.now() - 1).toISOString()}
      where tenant_id = ${site.tenant.tenantId} and secret = ${first}`),
  );
  expect(await verdictOn(site, { token: tokenOf({ secret: first }) })).toBe("bad-token");
  expect(await verdictOn(site, { token: tokenOf({ secret: second.secret }) })).toBe("signed");
  const fourth = await makeSecret(site.tenant, { body: { revoke_now: true } });
  for (const secret of [first, second.secret, third.secret])
    expect(await verdictOn(site, { token: tokenOf({ secret }) })).toBe("bad-token");
  expect(await verdictOn(site, { token: tokenOf({ secret: fourth.secret }) })).toBe("signed");
});

test("identity: each event of a request has its own verdict; in a flood of tokens only the first hundred are hashed", async () => {
  const { site, secret } = await openSite();
  const [ann, bob] = ["ann", "bob"].map((accountId) => tokenOf({ secret, accountId }));
  await site.post([
    eventBy({ accountId: "ann", token: ann }),
    eventBy({ accountId: "bob", token: ann }),
    eventBy({ accountId: "bob", token: bob }),
    eventBy({ accountId: "bob" }),
  ]);
  const verdicts = (await site.stored()).map((each) => `${each.website_account_id} ${each.identity}`);
  expect(verdicts.toSorted()).toEqual(["ann signed", "bob bad-token", "bob signed", "bob undefined"]);
  const many = Array.from({ length: 150 }, (_, index) => `flood-${index}`);
  await site.post([...many, "flood-0"].map((accountId) => eventBy({ accountId, token: tokenOf({ secret, accountId }) })));
  const flood = (await site.stored()).filter((each) => each.website_account_id?.startsWith("flood-"));
  expect(flood.filter((each) => each.identity === "signed")).toHaveLength(101);
  expect(flood.filter((each) => each.identity === "bad-token")).toHaveLength(50);
});

test("identity: a resend with another token is the same event, and the first verdict is kept", async () => {
  const { site, secret } = await openSite();
  const event = { ...eventBy({ token: tokenOf({ secret }) }), event_id: randomUUID() };
  await site.post([event]);
  await site.post([{ ...event, user: { _user_id: { value: "user-42" } } }]);
  expect(await site.storedOne()).toMatchObject({ identity: "signed" });
  expect(await site.counts()).toEqual({});
});
