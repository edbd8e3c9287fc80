import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { saveLinks, type Link } from "../src/db/links.ts";
import type { CaseDigest } from "../src/domain/case-digest.ts";
import type { AccountLink, LinkTable, LinkedAccount } from "../src/domain/link.ts";
import { insertDecided } from "./decided.ts";
import { eventually } from "./process.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
const hostile = `<b>"'\u202e%2F/..`;

type Links = { links: AccountLink[]; next_cursor: string | null };
type Accounts = { accounts: LinkedAccount[]; next_cursor: string | null };

async function read<T>(tenant: TestTenant, path: string): Promise<T> {
  const answer = await tenant.call("GET", path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

const day = (index: number) => `2026-11-${String(index).padStart(2, "0")}T00:00:00.000Z`;

async function link(tenant: TestTenant, kind: "device" | "ip", value: string, accounts: string[], last = 10): Promise<void> {
  const stored: Link["kind"] = `account-${kind}`;
  const links = accounts.map((a) => ({ kind: stored, a, b: value, first_seen: day(1), last_seen: day(last) }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `other-${index}`);

test("GET account links 200: shared links first, rarest at the top, then the rest, page by page", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "user-1" } });
  await link(tenant, "device", "alone", ["user-1"], 3);
  await link(tenant, "ip", "192.0.2.1", ["user-1"], 9);
  await link(tenant, "ip", "192.0.2.9", ["user-1", ...many(150)]);
  await link(tenant, "device", hostile, ["user-1", ...many(2)]);
  await link(tenant, "device", "of-two", ["user-1", "other-1"], 2);
  await link(tenant, "device", "of-others", many(3));
  const path = "/enduseraccounts/user-1/links";
  const { links } = await read<Links>(tenant, path);
  expect(links.map((each) => [each.kind, each.value, each.shared_with])).toEqual([
    ["device", "of-two", 1],
    ["device", hostile, 2],
    ["ip", "192.0.2.9", 100],
    ["ip", "192.0.2.1", 0],
    ["device", "alone", 0],
  ]);
  expect(links[0]).toMatchObject({ first_seen: day(1), last_seen: day(2) });
  const first = await read<Links>(tenant, `${path}?limit=3`);
  const second = await read<Links>(tenant, `${path}?limit=3&cursor=${first.next_cursor}`);
  expect([...first.links, ...second.links]).toEqual(links);
  expect(second.next_cursor).toBeNull();
});

test("GET device and address accounts 200: lists the accounts with flags and open case; an erased account is gone", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-b");
  await tenant.openCase("user-c");
  await tenant.call("PUT", "/enduseraccounts/user-b", { body: { is_blocked: true, is_quarantined: true } });
  await link(tenant, "device", hostile, ["user-c", "user-b", "user-a"]);
  await link(tenant, "ip", "2001:db8::1", ["user-b"]);
  const path = `/devices/${encodeURIComponent(hostile)}/accounts`;
  const { accounts } = await read<Accounts>(tenant, path);
  expect(accounts.map((each) => each.website_account_id)).toEqual(["user-a", "user-b", "user-c"]);
  expect(accounts[1]).toEqual({
    website_account_id: "user-b",
    is_blocked: true,
    is_quarantined: true,
    is_fraudulent: false,
    first_seen: day(1),
    last_seen: day(10),
    open_case: {
      case_id: opened.case_id,
      overall_risk_score: 5,
      primary_fraud_label: opened.details.primary_fraud_label,
      created_at: opened.created_at,
    },
  });
  const first = await read<Accounts>(tenant, `${path}?limit=2`);
  const second = await read<Accounts>(tenant, `${path}?limit=2&cursor=${first.next_cursor}`);
  expect([...first.accounts, ...second.accounts]).toEqual(accounts);
  const address = "/addresses/2001%3Adb8%3A%3A1/accounts";
  expect((await read<Accounts>(tenant, address)).accounts).toMatchObject([{ website_account_id: "user-b" }]);
  await tenant.call("DELETE", "/enduseraccounts/user-b");
  expect((await read<Accounts>(tenant, path)).accounts.map((each) => each.website_account_id)).toEqual(["user-a", "user-c"]);
  expectProblem(await tenant.call("GET", address), 404, "item-not-found");
  const other = await TestTenant.create(service.current);
  expectProblem(await other.call("GET", path), 404, "item-not-found");
});

test("GET links 200: returns what an account shares, most suspicious first, and the same as a graph", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  await tenant.openCase("other-1");
  await tenant.call("PUT", "/enduseraccounts/other-1", { body: { is_fraudulent: true } });
  await link(tenant, "device", "alone", ["user-1"]);
  await link(tenant, "device", "of-two", ["user-1", "other-1"]);
  await link(tenant, "ip", "192.0.2.9", ["user-1", ...many(3)]);
  const table = await read<LinkTable>(tenant, "/links?website_account_id=user-1");
  expect(table.shared).toEqual([
    {
      kind: "device",
      value: "of-two",
      accounts: 2,
      website_account_ids: ["user-1", "other-1"],
      first_seen: day(1),
      last_seen: day(10),
    },
    {
      kind: "ip",
      value: "192.0.2.9",
      accounts: 4,
      website_account_ids: ["user-1", "other-0", "other-1", "other-2"],
      first_seen: day(1),
      last_seen: day(10),
    },
  ]);
  expect(
    table.nodes.map((each) => [each.node_id, each.is_origin, each.flags?.is_fraudulent, each.open_case !== undefined]),
  ).toEqual([
    ["device:of-two", false, undefined, false],
    ["account:user-1", true, false, true],
    ["account:other-1", false, true, true],
    ["ip:192.0.2.9", false, undefined, false],
    ["account:other-0", false, false, false],
    ["account:other-2", false, false, false],
  ]);
  expect(table.edges).toHaveLength(6);
  expect(table.is_cut).toBe(false);
  // The same table is found by case id. Without a filter, the table covers all open cases, so both accounts are origins.
  expect(await read<LinkTable>(tenant, `/links?case_ids=${case_id},${randomUUID()}`)).toEqual(table);
  const open = await read<LinkTable>(tenant, "/links");
  expect(
    open.nodes
      .filter((each) => each.is_origin)
      .map((each) => each.value)
      .toSorted(),
  ).toEqual(["other-1", "user-1"]);
  expect(await read<LinkTable>(tenant, "/links?website_account_id=nobody")).toEqual({
    shared: [],
    nodes: [],
    edges: [],
    is_cut: false,
  });
  expectProblem(await tenant.call("GET", `/links?website_account_id=a&case_ids=${case_id}`), 400, "bad-request");
});

test("GET links 200: a ring comes before pairs and before a busy address, and a device before an address", async () => {
  const tenant = await TestTenant.create(service.current);
  const ring = Array.from({ length: 6 }, (_, index) => `ring-${index}`);
  await Promise.all(ring.map((account) => tenant.openCase(account)));
  await tenant.openCase("user-1");
  await link(tenant, "ip", "192.0.2.1", ["user-1", ...many(150)]);
  for (const index of [2, 3, 4]) await link(tenant, "ip", `192.0.2.${index}`, ["user-1", `pair-${index}`]);
  await link(tenant, "ip", "192.0.2.5", ["user-1", ...ring]);
  await link(tenant, "device", "of-the-ring", ["user-1", ...ring]);
  await link(tenant, "device", "family", ["user-1", "sister"]);
  const wanted = ["of-the-ring", "192.0.2.5", "family", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.1"];
  for (const query of ["", "?website_account_id=user-1"]) {
    const { shared } = await read<LinkTable>(tenant, `/links${query}`);
    expect(shared.map(({ value }) => value)).toEqual(wanted);
  }
});

test("GET links 200: says in which country and network it was last seen, and with which browser; nothing after an erasure", async () => {
  const tenant = await TestTenant.create(service.current);
  const at = new Date(Date.now() - 60_000).toISOString();
  const seen = { device_id: "phone", ip: "192.0.2.7", user_agent: "Agent/2", received_at: at, occurred_at: at };
  await insertDecided(tenant, [
    { ...seen, website_account_id: "user-1", decision: { v: 1, l: 0, f: { "event.country": "DE", "event.asn": 3320 } } },
  ]);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "user-1" } });
  const links = ["user-1", "user-2"].flatMap((a) => [
    { kind: "account-device" as const, a, b: "phone", first_seen: at, last_seen: a === "user-1" ? at : day(1) },
    { kind: "account-ip" as const, a, b: "192.0.2.7", first_seen: at, last_seen: a === "user-1" ? at : day(1) },
  ]);
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
  const trace = { country: "DE", asn: 3320, user_agent: "Agent/2" };
  const { shared } = await read<LinkTable>(tenant, "/links?website_account_id=user-1");
  expect(shared).toMatchObject([
    { kind: "device", value: "phone", ...trace },
    { kind: "ip", value: "192.0.2.7", ...trace },
  ]);
  expect((await read<Links>(tenant, "/enduseraccounts/user-1/links")).links).toMatchObject([trace, trace]);
  expect((await tenant.call("DELETE", "/enduseraccounts/user-1")).status).toBe(204);
  expect((await read<LinkTable>(tenant, "/links?website_account_id=user-2")).shared).toEqual([]);
});

test("GET links 200: returns at most 200 nodes, and says that some were left out", async () => {
  const tenant = await TestTenant.create(service.current);
  for (let index = 0; index < 15; index++) {
    await link(tenant, "device", `device-${index}`, ["user-1", ...many(40).map((name) => `${name}-${index}`)]);
  }
  const table = await read<LinkTable>(tenant, "/links?website_account_id=user-1");
  expect(table.shared).toHaveLength(15);
  for (const each of table.shared) expect(each).toMatchObject({ accounts: 41, website_account_ids: { length: 20, 0: "user-1" } });
  expect(table.nodes).toHaveLength(200);
  const known = new Set(table.nodes.map((each) => each.node_id));
  expect(table.edges.filter(({ from, to }) => !known.has(from) || !known.has(to))).toEqual([]);
  expect(table.is_cut).toBe(true);
});

async function digests(tenant: TestTenant, ids: string[]): Promise<CaseDigest[]> {
  return (await read<{ case_digests: CaseDigest[] }>(tenant, `/cases/digests?case_ids=${ids.join(",")}`)).case_digests;
}

test("GET case digests 200: returned in the given order, with summary, flags, new evidence and linked open cases", async () => {
  const tenant = await TestTenant.create(service.current);
  const [one, two, three] = [await tenant.openCase("user-1"), await tenant.openCase("user-2"), await tenant.openCase("user-3")];
  const device_id = randomUUID();
  await tenant.report(undefined, { device_id });
  await expect.poll(() => tenant.list("website_account_id=UNKNOWN"), { timeout: 15_000 }).toHaveLength(1);
  const [unknown] = await tenant.list("website_account_id=UNKNOWN");
  await tenant.call("PUT", "/enduseraccounts/user-2", { body: { is_blocked: true, is_fraudulent: true } });
  await link(tenant, "device", device_id, ["user-1", "user-2"]);
  await link(tenant, "ip", "192.0.2.1", ["user-1", "user-2", "no-case"]);
  const ids = [three.case_id, randomUUID(), unknown?.case_id ?? "", one.case_id, two.case_id, "no-id", three.case_id];
  const found = await digests(tenant, ids);
  expect(found.map((each) => [each.case_id, each.linked_cases])).toEqual([
    [three.case_id, 0],
    [unknown?.case_id, 2],
    [one.case_id, 2],
    [two.case_id, 2],
  ]);
  expect(found[3]).toEqual({
    case_id: two.case_id,
    summary: two.details.summary,
    fraud_labels: two.details.fraud_labels,
    has_new_evidence: false,
    is_blocked: true,
    is_quarantined: false,
    is_fraudulent: true,
    linked_cases: 2,
    linked_case_ids: [one.case_id, unknown?.case_id ?? ""].toSorted(),
  });
  await tenant.put(one.case_id, { status: "CLOSED", case_version: 1 });
  expect((await digests(tenant, [two.case_id]))[0]?.linked_case_ids).toEqual([unknown?.case_id]);
  expect(await digests(await TestTenant.create(service.current), ids)).toEqual([]);
});

test("GET case digests 200: a closed case says who closed it, when and how, whatever the reason contains", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase("user-1");
  expect((await digests(tenant, [case_id]))[0]).not.toHaveProperty("closed");
  const reason = '","state_history":[],"changed_by":"nobody"';
  await tenant.put(case_id, { status: "CLOSED", case_version: 1, disposition: "INCONCLUSIVE", reason });
  const { changed_at: at, changed_by: by } = (await tenant.read(case_id)).current_state;
  expect(await digests(tenant, [case_id])).toMatchObject([{ closed: { at, by, disposition: "INCONCLUSIVE" } }]);
});

test("GET case digests 400: an empty list and more than 100 ids are rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await tenant.call("GET", "/cases/digests")).json.data).toEqual({ case_digests: [] });
  for (const ids of ["", ",", "a,,b", many(101).join(",")]) {
    expectProblem(await tenant.call("GET", `/cases/digests?case_ids=${ids}`), 400, "bad-request");
  }
});

test("GET case digests 200: a reporter's text that looks like members of a case changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const note = `x","details":{"summary":"planted"},"fraud_occurrences":{}`;
  await tenant.report("user-1", { attributes: { note, label: "Bot" } });
  const { case_id } = await tenant.openCase("user-1");
  await eventually(async () => expect((await tenant.read(case_id)).case_version).toBe(2));
  const { details } = await tenant.read(case_id);
  expect(await digests(tenant, [case_id])).toMatchObject([{ summary: details.summary, has_new_evidence: true }]);
});
