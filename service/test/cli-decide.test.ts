import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli, type Ended } from "./cli.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { entriesOf, makeList } from "./lists-lab.ts";
import { storeSnooze } from "./stored-snooze.ts";

const databaseUrl = useOwnDatabase("cli_decide");
const service = useService({ databaseUrl });
const folder = mkdtempSync(join(tmpdir(), "casehound-decide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function newTenant() {
  const tenant = await TestTenant.create(service.current);
  const run = (...args: string[]): Promise<Ended> =>
    runCli([...args, "--tenant", tenant.slug], { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url });
  const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).out) as Record<string, unknown>;
  return { tenant, run, json };
}

test("cli: values are added to a list, shown and removed", async () => {
  const { tenant, run, json } = await newTenant();
  expect((await run("lists")).out).toBe("no lists\n");
  await makeList(tenant, { name: "bad", type: "device", kind: "block", label: "Bot" });
  expect((await run("lists", "list")).out).toMatch(
    /^list +type +kind +entries +hits in 7 days +used by\nbad +device +block +0 +0 +-\n$/,
  );
  expect((await run("lists", "show", "bad")).out).toMatch(/^list +bad\n[^]*kind +block, Bot\n[^]*\n\nno entries\n$/);
  const added = await run("lists", "add", "bad", "d-1", "d-\u001b[31m2", "--expires", "2100-01-31", "--reason", "stolen");
  expect(added).toMatchObject({ code: 0, out: "2 added, 0 updated, 0 unchanged\n" });
  expect(await entriesOf(tenant, "bad")).toMatchObject([
    { value: "d-\u001b[31m2" },
    { value: "d-1", expires_at: "2100-01-31T00:00:00.000Z", reason: "stolen" },
  ]);
  const shown = await run("lists", "show", "bad", "--limit", "1");
  expect(shown.out).not.toContain("\u001b");
  expect(shown.out).toContain("raise --limit");
  expect(await json("lists", "show", "bad", "--prefix", "d-1")).toMatchObject({
    list: { name: "bad", entries: 2 },
    entries: [{ value: "d-1" }],
  });
  expect((await run("lists", "remove", "bad", "d-1", "absent")).out).toBe("1 of 2 removed\n");
  const wrong = await run("lists", "add", "bad", "d-3", "--expires", "tomorrow");
  expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("entries[0].expires_at") });
  expect(await run("lists", "show", "absent")).toMatchObject({ code: 1, err: expect.stringContaining("List not found: absent") });
  expect(await run("lists", "add", "bad")).toMatchObject({ code: 2, err: expect.stringContaining("usage: lists add") });
});

test("cli: a list is exported as CSV, and imported again with a report of what was refused", async () => {
  const { tenant, run, json } = await newTenant();
  for (const name of ["first", "second"]) await makeList(tenant, { name, type: "ip", kind: "watch" });
  const file = write("addresses.csv", "value;reason\n203.0.113.1;=SUM(1)\n\nnonsense;x\n203.0.113.0/24;\n");
  const imported = await run("lists", "import", "first", file);
  expect(imported.code).toBe(1);
  expect(imported.out.split("\n")).toEqual([
    "3 rows: 2 entries added, 0 updated, 0 unchanged, 1 refused",
    expect.stringMatching(/^1: value must be /),
    "  line 4: nonsense",
    "",
  ]);
  const exported = join(folder, "exported.csv");
  expect(await run("lists", "export", "first", exported)).toMatchObject({ code: 0, out: `2 entries in ${exported}\n` });
  expect(readFileSync(exported, "utf8")).toContain("'=SUM(1)");
  expect(await run("lists", "export", "first", exported)).toMatchObject({
    code: 2,
    err: expect.stringContaining("exists already"),
  });
  const again = await json("lists", "import", "second", exported);
  expect(again).toMatchObject({ rows: 2, added: 2, refused: 0 });
  const values = (await entriesOf(tenant, "second")).map(({ value, reason }) => [value, reason]);
  expect(values).toEqual((await entriesOf(tenant, "first")).map(({ value, reason }) => [value, reason]));
  expect(values).toContainEqual(["203.0.113.1", "=SUM(1)"]);
  expect(await run("lists", "import", "first", join(folder, "absent.csv"))).toMatchObject({ code: 2 });
  const other = write("other.csv", "a,b\n1,2\n");
  expect(await run("lists", "import", "first", other)).toMatchObject({ code: 1, err: expect.stringContaining("named value") });
  const missing = join(folder, "missing.csv");
  expect((await run("lists", "export", "absent", missing)).code).toBe(1);
  expect([existsSync(missing), existsSync(`${missing}.part`)]).toEqual([false, false]);
});

test("cli: a policy is shown, tried and set from a file", async () => {
  const { run, json } = await newTenant();
  expect((await run("policy", "show")).out).toMatch(
    /^version 1, on, [^]*\n +3 +Perhaps a stranger +all +3 to 5 +Account Takeover +any +CHALLENGE\n$/,
  );
  const found = await json("policy", "show");
  const rows = [{ moments: ["payment"], min_score: 5, action: "BLOCK", set_quarantined: true }];
  const file = write("policy.json", JSON.stringify({ ...found, mode: "shadow", rows }));
  const tried = await run("policy", "try", file);
  expect(tried).toMatchObject({ code: 0, out: expect.stringMatching(/known frauds in brackets\n\nno activity\n/) });
  expect(await json("policy", "show")).toEqual(found);
  const set = await run("policy", "set", file);
  expect(set.out).toMatch(/^changed: version 2, shadow, [^]*payment +5 +any +any +BLOCK, quarantine\n$/);
  // The file has the version that was read, which is not the current one any more.
  expect(await run("policy", "set", file)).toMatchObject({ code: 1, err: expect.stringMatching(/version/) });
  const free = write("free.json", JSON.stringify({ mode: "shadow", rows }));
  expect((await run("policy", "set", free)).out).toMatch(/^unchanged: version 2/);
  const wrong = write("wrong.json", JSON.stringify({ mode: "on", rows: [{ min_score: 9, action: "BLOCK" }] }));
  for (const command of ["set", "try"])
    expect(await run("policy", command, wrong)).toMatchObject({ code: 1, err: expect.stringContaining("rows[0].min_score") });
  for (const text of ["{", "[]", '{"mode":"on"}'])
    expect(await run("policy", "set", write("broken.json", text))).toMatchObject({ code: 2 });
  expect(await run("policy", "set", join(folder, "absent.json"))).toMatchObject({ code: 2 });
});

test("cli: snoozes are listed and ended", async () => {
  const { tenant, run, json } = await newTenant();
  expect((await run("snoozes")).out).toBe("no snoozes\n");
  const id = await storeSnooze(service.current.database, tenant.tenantId, "ann\u001b[31m");
  const { out } = await run("snoozes");
  expect(out).toMatch(/^snooze +state +hits +kept +about +rules +case\n/);
  expect(out).toContain(`${id}  until `);
  expect(out).not.toContain("\u001b");
  expect(await run("snoozes", "end", id)).toMatchObject({ code: 0, out: `${id} has ended\n` });
  expect((await run("snoozes")).out).toBe("no snoozes\n");
  expect((await run("snoozes", "--all")).out).toContain(": by_hand");
  expect(await json("snoozes", "--all")).toMatchObject({ snoozes: [{ snooze_id: id, is_active: false }] });
  expect((await run("snoozes", "end", "absent")).code).toBe(1);
});

test("cli: due times are shown and set from a file", async () => {
  const { run, json } = await newTenant();
  expect((await run("due-times", "show")).out).toBe("version 1, Mon Tue Wed Thu Fri from 09:00 to 17:00\n\nno due times\n");
  const found = await json("due-times", "show");
  const changed = { ...found, days_off: ["2026-12-25"], targets: [{ min_score: 4, label: "Bot", hours: 8 }] };
  const file = write("due.json", JSON.stringify(changed));
  expect((await run("due-times", "set", file)).out).toMatch(
    /^changed: version 2, [^]*, except 2026-12-25\n\nscore +label +working hours\n4 or higher +Bot +8\n$/,
  );
  expect(await run("due-times", "set", file)).toMatchObject({ code: 1, err: expect.stringMatching(/version/) });
  const wrong = write("wrong-due.json", JSON.stringify({ ...changed, end: "09:10" }));
  expect(await run("due-times", "set", wrong)).toMatchObject({ code: 1, err: expect.stringContaining("end") });
  expect(await run("due-times", "set", write("broken.json", "[]"))).toMatchObject({ code: 2 });
});

test("cli: issuers are created and changed from a file, listed without their secret, and deleted", async () => {
  const { run, json } = await newTenant();
  expect((await run("issuers", "list")).out).toBe("no issuers\n");
  const issuer = { issuer_key: "entra", name: "Entra ID", issuer: "https://id.example", client_id: "a", client_secret: "s3cret" };
  const file = write("issuer.json", JSON.stringify({ ...issuer, role_groups: [{ group: "leads", role: "lead" }] }));
  const made = await run("issuers", "create", file);
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/entra +Entra ID +https:\/\/id\.example +leads=lead +refused/),
  });
  expect(await run("issuers", "create", file)).toMatchObject({ code: 1, err: expect.stringContaining("already exists") });
  const change = write("change.json", JSON.stringify({ without_group: "default_role" }));
  expect(await json("issuers", "set", "entra", change)).toMatchObject({ without_group: "default_role", name: "Entra ID" });
  expect((await run("issuers", "list")).out).not.toContain("s3cret");
  expect(await run("issuers", "set", "entra", write("broken.json", "["))).toMatchObject({ code: 2 });
  expect((await run("issuers", "delete", "entra")).out).toBe("the issuer entra is deleted\n");
});

test("cli: a SCIM token is created and shown once with the base URL, listed without its secret, and revoked", async () => {
  const { run, json } = await newTenant();
  expect((await run("scim", "tokens", "list")).out).toBe("no SCIM tokens\n");
  const made = await run("scim", "tokens", "create", "entra", "--adopt");
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/\/scim\/v2\n[^]*scim_[0-9a-f]{32}_[\w-]{43}\n/) });
  expect(await run("scim", "tokens", "create", "entra")).toMatchObject({
    code: 1,
    err: expect.stringContaining("already exists"),
  });
  expect(await run("scim", "tokens", "create", "Not a name")).toMatchObject({ code: 1, err: expect.stringContaining("name") });
  const listed = await run("scim", "tokens", "list");
  expect(listed.out).toMatch(/entra +\S+ +everybody/);
  expect(listed.out).not.toContain("scim_");
  expect(await json("scim", "tokens", "list")).toMatchObject({ scim_tokens: [{ name: "entra", adopts_people: true }] });
  expect((await run("scim", "tokens", "revoke", "entra")).out).toBe("the SCIM token entra is revoked\n");
  expect(await run("scim", "tokens", "revoke", "entra")).toMatchObject({ code: 1 });
});
