import { expect, test } from "vitest";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { addEntries, entriesOf, eventsOf, makeList, readList } from "./lists-lab.ts";

const service = useService();
const newTenant = () => TestTenant.create(service.current);
const office = { name: "office", type: "ip", kind: "allow" } as const;
const later = "2099-01-01T00:00:00.000Z";

test("entries: are added once, changed by being sent again, listed by value, and removed", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  const first = { value: "203.0.113.7", expires_at: later, reason: "The door" };
  const send = (entries: unknown[]) => tenant.call("POST", "/lists/office/entries", { body: { entries } });
  expect((await send([first, { value: "2001:DB8::1" }])).json.data).toEqual({ added: 2, updated: 0, unchanged: 0 });
  expect((await send([first])).json.data).toEqual({ added: 0, updated: 0, unchanged: 1 });
  expect((await send([{ ...first, reason: "The window" }])).json.data).toEqual({ added: 0, updated: 1, unchanged: 0 });
  // The same address, written differently.
  expect((await send([{ value: "2001:db8:0::1" }])).json.data).toEqual({ added: 0, updated: 1, unchanged: 0 });
  const entries = await entriesOf(tenant, "office");
  const by = { added_by: tenant.clientId, added_at: expect.any(String), is_expired: false };
  expect(entries).toEqual([
    { value: "2001:db8:0::1", ...by },
    { ...first, reason: "The window", ...by },
  ]);
  expect(await entriesOf(tenant, "office", "?prefix=203.0")).toHaveLength(1);
  expect(await entriesOf(tenant, "office", "?prefix=2001:DB8::1")).toHaveLength(1);
  expect((await readList(tenant, "office")).entries).toBe(2);
  const removed = await tenant.call("POST", "/lists/office/entries/remove", {
    body: { values: ["2001:db8::1", "x", "203.0.113.8"] },
  });
  expect(removed.json.data).toEqual({ removed: 1 });
  expect((await readList(tenant, "office")).entries).toBe(1);
  const changes = (await eventsOf(tenant)).filter(({ type }) => type === "list.entries_changed");
  expect(changes.map(({ data }) => data)).toEqual([
    { added: 2, updated: 0 },
    { added: 0, updated: 1 },
    { added: 0, updated: 1 },
    { removed: 1 },
  ]);
});

const badEntries: [Record<string, unknown>, string][] = [
  [{ value: "203.0.113.7/24" }, "entries[1].value"],
  [{ value: "example.com" }, "entries[1].value"],
  [{ value: "0.0.0.0/0" }, "entries[1].value"],
  [{ value: 7 }, "entries[1].value"],
  [{ value: "203.0.113.7", expires_at: "2026-01-01T00:00:00.000Z" }, "entries[1].expires_at"],
  [{ value: "203.0.113.7", expires_at: "soon" }, "entries[1].expires_at"],
  [{ value: "203.0.113.7", expires_at: null }, "entries[1].expires_at"],
  [{ value: "203.0.113.7", reason: "" }, "entries[1].reason"],
  [{ value: "203.0.113.7", from_case_id: "x" }, "entries[1].from_case_id"],
  [{ value: "203.0.113.7", from_case_id: "0190f1aa-0000-7000-8000-000000000000" }, "entries[1].from_case_id"],
  [{ value: "203.0.113.7", added_by: "somebody else" }, "entries[1].added_by"],
  [{}, "entries[1].value"],
];

test.each(badEntries)("entries: %j is refused with its field, and nothing is added", async (entry, field) => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  const answer = await tenant.call("POST", "/lists/office/entries", { body: { entries: [{ value: "203.0.113.1" }, entry] } });
  expectProblem(answer, 422, "validation-error");
  expect(answer.json.errors).toMatchObject([{ field }]);
  expect((await readList(tenant, "office")).entries).toBe(0);
});

test("entries: a list of user agents has a limit of its own", async () => {
  const tenant = await newTenant();
  await makeList(tenant, { name: "bots", type: "user_agent", kind: "block" });
  await addEntries(
    tenant,
    "bots",
    Array.from({ length: 1000 }, (_, index) => `robot/${index}`),
  );
  const answer = await tenant.call("POST", "/lists/bots/entries", { body: { entries: [{ value: "one more" }] } });
  expect(answer.json.errors).toMatchObject([{ field: "entries" }]);
  expect((await readList(tenant, "bots")).entries).toBe(1000);
});

test("csv: an import adds what is right, counts what is refused and why, and an export gives it back", async () => {
  const tenant = await newTenant();
  await makeList(tenant, { name: "watched", type: "email", kind: "watch" });
  const csv = `value,expires_at,reason\nann@example.com,2099-01-01,"=HYPERLINK(""x"")"\nnobody,,\nAnn@example.com,,twice\nbob@example.com,,\n`;
  const answer = await tenant.call("POST", "/lists/watched/csv", { body: { csv } });
  expect(answer.json.data).toEqual({
    added: 2,
    updated: 0,
    unchanged: 1,
    refused: 1,
    reasons: [{ reason: "value must be an e-mail address", count: 1 }],
    refusals: [{ line: 3, value: "nobody", reason: "value must be an e-mail address" }],
  });
  await addEntries(tenant, "watched", [{ value: "eve@example.com", reason: "=1+1" }]);
  const parts: string[] = [];
  for (let path = "/lists/watched/csv?limit=2"; path !== "";) {
    const { csv: part, next_cursor } = (await tenant.call("GET", path)).json.data;
    parts.push(part);
    path = next_cursor === null ? "" : `/lists/watched/csv?limit=2&cursor=${encodeURIComponent(next_cursor)}`;
  }
  expect(parts).toHaveLength(2);
  const lines = parts.join("").trimEnd().split("\r\n");
  expect(lines[0]).toBe("value,expires_at,reason,from_case_id,added_at,added_by");
  expect(lines.slice(1).map((line) => line.split(",", 3))).toEqual([
    ["Ann@example.com", "", "twice"],
    ["bob@example.com", "", ""],
    ["eve@example.com", "", "'=1+1"],
  ]);
  await makeList(tenant, { name: "copy", type: "email", kind: "watch" });
  const copied = await tenant.call("POST", "/lists/copy/csv", { body: { csv: parts.join("") } });
  expect(copied.json.data).toMatchObject({ added: 3, refused: 0 });
  const entries = await entriesOf(tenant, "copy");
  expect(entries.at(-1)).toMatchObject({ value: "eve@example.com", reason: "=1+1" });
});

test("csv: a text that cannot be read is refused as a whole", async () => {
  const tenant = await newTenant();
  await makeList(tenant, office);
  for (const csv of ['"203.0.113.7', "a,b\n1,2\n", ""]) {
    const answer = await tenant.call("POST", "/lists/office/csv", { body: { csv } });
    expect(answer.json.errors).toMatchObject([{ field: "csv" }]);
  }
});

async function valuesOf(tenant: TestTenant, name: string): Promise<string[]> {
  return (await entriesOf(tenant, name)).map(({ value }) => value);
}

test("erasure: entries that are the account's id, or contain it as a word of its own, are removed from lists of devices and texts", async () => {
  const tenant = await TestTenant.create(service.current);
  const id = "user-4711-x";
  const other = { website_account_id: `shop/${id}` };
  for (const body of [{ website_account_id: id }, other])
    expect((await tenant.call("POST", "/enduseraccounts", { body })).status).toBe(201);
  // Parts of other ids, another spelling, and the id of another account.
  const kept = [`a-${id}`, `${id}-2`, `${id}9`, "user-4711", id.toUpperCase(), other.website_account_id];
  for (const type of ["device", "text"] as const)
    await makeList(tenant, { name: type, type, kind: "custom" }, [id, `${id}:phone`, `of "${id}"`, `${id}, ${id}.`, ...kept]);
  await makeList(tenant, { name: "payees", type: "payee", kind: "custom" }, [id, `${id}:shop`]);
  expect((await tenant.call("DELETE", `/enduseraccounts/${id}`)).status).toBe(204);
  for (const name of ["device", "text"]) expect(await valuesOf(tenant, name)).toEqual(kept.toSorted());
  expect(await valuesOf(tenant, "payees")).toEqual([`${id}:shop`]);
});

test("erasure: nobody gets an address, a country, a network or a domain off a list by choosing it as an account id", async () => {
  const tenant = await TestTenant.create(service.current);
  const lists = { ip: "203.0.113.0/24", country: "DE", asn: "64500", email_domain: "example.com" };
  for (const [type, value] of Object.entries(lists))
    await makeList(tenant, { name: type, type: type as keyof typeof lists, kind: "block" }, [value]);
  await makeList(tenant, { name: "mails", type: "email", kind: "block" }, ["Ann@Example.com", "bob@example.com"]);
  // A word or a number is an id only if it is the whole value.
  await makeList(tenant, { name: "plans", type: "text", kind: "custom" }, ["gold", "gold plan", "de", "64500 euros"]);
  for (const id of [...Object.values(lists), "ANN@EXAMPLE.COM", "gold", "Gold"]) {
    expect((await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } })).status).toBe(201);
    expect((await tenant.call("DELETE", `/enduseraccounts/${encodeURIComponent(id)}`)).status).toBe(204);
  }
  for (const [name, value] of Object.entries(lists)) expect(await valuesOf(tenant, name)).toEqual([value]);
  expect(await valuesOf(tenant, "mails")).toEqual(["bob@example.com"]);
  expect(await valuesOf(tenant, "plans")).toEqual(["64500 euros", "de", "gold plan"]);
});
