import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { noticesMax, type Notice } from "../src/domain/notice.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, TestTenant, useService, type Answer } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService();

type Caller = TestTenant | Browser;

async function inboxOf(by: Caller, query = ""): Promise<Notice[]> {
  const answer = await by.call("GET", `/inbox${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { notices: Notice[] }).notices;
}

async function unreadOf(by: Caller): Promise<number> {
  return ((await by.call("GET", "/inbox/unread")).json.data as { unread: number }).unread;
}

async function write(by: Caller, path: string, body: object): Promise<Answer> {
  const answer = await by.call("POST", path, { body, key: randomUUID() });
  expect(answer.status, answer.text).toBe(201);
  return answer;
}

const markRead = (by: Caller, notice_ids: unknown) => by.call("POST", "/inbox/read", { body: { notice_ids } });
const idOf = ({ signedIn: { user } }: Browser) => user.user_id;
const at = ({ signedIn: { user } }: Browser) => `@${user.email}`;

async function team() {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator", { name: "Ada" });
  const ben = await Browser.join(tenant, "lead", { name: "Ben" });
  const eve = await Browser.join(tenant, "lead", { name: "Eve" });
  const found = await tenant.openCase();
  return { tenant, ada, ben, eve, found, notes: `/cases/${found.case_id}/notes`, handover: `/cases/${found.case_id}/handover` };
}

test("inbox: a mention reaches the mentioned people, but not the author", async () => {
  const { tenant, ada, ben, eve, found, notes } = await team();
  const text = `${at(ben)} and ${at(ada)}, please look.`;
  const { note_id } = (await write(ada, notes, { text })).json.data as { note_id: string };
  const [notice, ...others] = await inboxOf(ben);
  expect(others).toEqual([]);
  const { user } = ada.signedIn;
  expect(notice).toMatchObject({
    notice_id: note_id,
    kind: "mention",
    case_id: found.case_id,
    website_account_id: found.website_account_id,
    status: "OPEN",
    text,
    created_by: `${user.name} <${user.email}>`,
    is_read: false,
  });
  for (const each of [ada, eve, tenant]) expect([await inboxOf(each), await unreadOf(each)]).toEqual([[], 0]);
});

test("inbox: a handover reaches the person, or everybody with the role, once, but not the sender", async () => {
  const { ada, ben, eve, found, handover } = await team();
  const { case_version } = found;
  await write(ben, handover, { case_version, handed_to: idOf(ada), text: `${at(ada)} ${at(eve)} please.` });
  expect(await inboxOf(ada)).toMatchObject([{ kind: "handover", handed_to: idOf(ada) }]);
  expect(await inboxOf(eve)).toMatchObject([{ kind: "mention", handed_to: idOf(ada) }]);
  await write(ben, handover, { case_version: case_version + 1, handed_to: "lead", text: "For a lead." });
  expect(await inboxOf(eve)).toMatchObject([{ kind: "handover", handed_to: "lead", text: "For a lead." }, { kind: "mention" }]);
  expect(await inboxOf(ben)).toEqual([]);
  expect(await inboxOf(ada)).toHaveLength(1);
});

test("inbox: what is marked as read stays read, also if it is repeated; nobody marks for others", async () => {
  const { tenant, ada, ben, notes } = await team();
  for (const word of ["one", "two", "three"]) await write(tenant, notes, { text: `${word} ${at(ada)} ${at(ben)}` });
  const [newest, middle] = await inboxOf(ada);
  const ids = [newest?.notice_id ?? "", randomUUID(), "x"];
  for (const _ of [1, 2]) expect((await markRead(ada, ids)).json.data).toEqual({ unread: 2 });
  expect((await inboxOf(ada)).map(({ is_read }) => is_read)).toEqual([true, false, false]);
  expect((await inboxOf(ada, "?unread=true")).map(({ text }) => text.split(" ")[0])).toEqual(["two", "one"]);
  // The entries of one note have the same id for everybody.
  expect(await unreadOf(ben)).toBe(3);
  expect((await markRead(tenant, [middle?.notice_id])).json.data).toEqual({ unread: 0 });
  expect(await unreadOf(ada)).toBe(2);
});

test("inbox: another tenant neither sees nor marks anything, and a repeated request adds nothing", async () => {
  const { tenant, ada, ben, notes } = await team();
  const other = await TestTenant.create(service.current);
  const stranger = await Browser.join(other, "admin");
  const options = { body: { text: `${at(ben)} ${at(stranger)}` }, key: randomUUID() };
  for (const _ of [1, 2]) expect((await ada.call("POST", notes, options)).status).toBe(201);
  const [notice] = await inboxOf(ben);
  expect(await unreadOf(ben)).toBe(1);
  expect(await inboxOf(stranger)).toEqual([]);
  await markRead(stranger, [notice?.notice_id]);
  expect(await unreadOf(ben)).toBe(1);
  expectProblem(await other.call("GET", "/inbox", { token: tenant.token }), 403, "access-denied");
});

test("inbox: pages neither skip nor repeat, and a cursor belongs to its person", async () => {
  const { tenant, ada, ben, notes } = await team();
  for (const word of ["a", "b", "c"]) await write(tenant, notes, { text: `${word} ${at(ada)} ${at(ben)}` });
  const first = (await ada.call("GET", "/inbox?limit=2")).json.data as { notices: Notice[]; next_cursor: string };
  const query = `?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`;
  expect([...first.notices, ...(await inboxOf(ada, query))].map(({ text }) => text[0])).toEqual(["c", "b", "a"]);
  expectProblem(await ben.call("GET", `/inbox${query}`), 400, "bad-request");
  expectProblem(await ada.call("GET", `/inbox${query}&unread=true`), 400, "bad-request");
});

test("inbox: a person keeps the newest entries only", async () => {
  const { tenant, ben, found, notes } = await team();
  const text = `
    insert into notices (notice_id, tenant_id, user_id, kind, case_id, created_at, created_by)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, 'mention', $3, now(), 'x'
    from generate_series(1, $4::int) as n`;
  await service.current.database.query(statement(text, [tenant.tenantId, idOf(ben), found.case_id, noticesMax]));
  await write(tenant, notes, { text: `${at(ben)} one more` });
  const left = await inboxOf(ben);
  expect([left.length, left[0]?.text, left.at(-1)?.notice_id]).toEqual([
    noticesMax,
    `${at(ben)} one more`,
    "00000000-0000-7000-8000-000000000002",
  ]);
});

test("inbox: an entry about a case without an account says what the case is about", async () => {
  const { tenant, ada } = await team();
  const { case_id } = await tenant.openDeviceCase("kiosk");
  await write(tenant, `/cases/${case_id}/notes`, { text: at(ada) });
  const subject = { kind: "device", id: "kiosk" };
  expect(await inboxOf(ada)).toMatchObject([{ case_id, website_account_id: "UNKNOWN", subject }]);
});

test("erasure: the entries about the account's cases are deleted, and others lose its id", async () => {
  const { tenant, ben } = await team();
  const account = `victim-${randomUUID()}`;
  const [own, other] = [await tenant.openCase(account), await tenant.openCase()];
  for (const { case_id } of [own, other]) await write(tenant, `/cases/${case_id}/notes`, { text: `${account} ${at(ben)}` });
  expect(await unreadOf(ben)).toBe(2);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  const [left, ...more] = await inboxOf(ben);
  expect([left?.case_id, more]).toEqual([other.case_id, []]);
  expect(left?.text).toMatch(/^erased-/);
});

test("inbox 403 and 422: reading needs the scope, and only ids are accepted", async () => {
  const { tenant, ada } = await team();
  const token = await tenant.mint(["read:cases"]);
  for (const [method, path] of [
    ["GET", "/inbox"],
    ["GET", "/inbox/unread"],
    ["POST", "/inbox/read"],
  ] as const)
    expectProblem(await tenant.call(method, path, { token, ...(method === "POST" && { body: {} }) }), 403, "access-denied");
  const tooMany = Array.from({ length: noticesMax + 1 }, () => randomUUID());
  for (const ids of [[], [""], [7], "x", null, tooMany]) expectProblem(await markRead(ada, ids), 422, "validation-error");
  expectProblem(await ada.call("GET", "/inbox?unread=yes"), 400, "bad-request");
  expect(await inboxOf(ada)).toEqual([]);
});
