import { randomUUID } from "node:crypto";
import type { CaseDigest } from "@casehound/client";
import { expect, test } from "vitest";
import type { LoggedEvent } from "../src/domain/event.ts";
import { noteCharactersMax, notesMax, type Note } from "../src/domain/note.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, TestTenant, type Answer, type Options } from "./harness.ts";
import { Browser } from "./people.ts";
import { until, useWebhooks } from "./webhook-rig.ts";

const { service, make } = useWebhooks("notes");

function write(tenant: TestTenant | Browser, caseId: string, body: unknown, more: Options = {}): Promise<Answer> {
  return tenant.call("POST", `/cases/${caseId}/notes`, { body, key: randomUUID(), ...more });
}

function noteOf(answer: Answer): Note {
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

async function notesOf(tenant: TestTenant, caseId: string): Promise<Note[]> {
  const answer = await tenant.call("GET", `/cases/${caseId}/notes`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { notes: Note[] }).notes;
}

test("POST note 201: it raises the version and the time of the case, and changes nothing else", async () => {
  const tenant = await TestTenant.create(service.current);
  const found = await tenant.openCase();
  const note = noteOf(await write(tenant, found.case_id, { text: " Two  spaces,\n✓ and \u202e\ttabs stay. " }));
  expect(note).toMatchObject({
    case_id: found.case_id,
    text: " Two  spaces,\n✓ and \u202e\ttabs stay. ",
    mentions: [],
    created_by: tenant.clientId,
    case_version: found.case_version + 1,
  });
  expect(await tenant.read(found.case_id)).toEqual({
    ...found,
    case_version: found.case_version + 1,
    updated_at: note.created_at,
  });
  expect(await notesOf(tenant, found.case_id)).toEqual([note]);
});

test("POST note: a close that has not seen it gets 409, and applies nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const found = await tenant.openCase();
  await write(tenant, found.case_id, { text: "Do not close this, I am on the phone with the bank." });
  const close = { status: "CLOSED", case_version: found.case_version };
  const problem = expectProblem(await tenant.put(found.case_id, close), 409, "item-version-conflict");
  expect(problem.current_version).toBe(found.case_version + 1);
  expect((await tenant.read(found.case_id)).status).toBe("OPEN");
});

test("POST note: a closed case can get notes, and stays closed", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, case_version } = await tenant.openCase();
  await tenant.put(case_id, { status: "CLOSED", case_version });
  expect(noteOf(await write(tenant, case_id, { text: "Refunded." })).case_version).toBe(case_version + 2);
  expect((await tenant.read(case_id)).status).toBe("CLOSED");
});

test("POST note: the same key and text add one note; another text under the key is 409", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const key = randomUUID();
  const first = await write(tenant, case_id, { text: "Once." }, { key });
  const again = await write(tenant, case_id, { text: "Once." }, { key });
  expect(again.text).toBe(first.text);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expectProblem(await write(tenant, case_id, { text: "Twice." }, { key }), 409, "operation-idempotency-conflict");
  expect(await notesOf(tenant, case_id)).toHaveLength(1);
  const both = await Promise.all([1, 2, 3].map(() => write(tenant, case_id, { text: "At once." }, { key: `${key}-2` })));
  expect(new Set(both.map((answer) => noteOf(answer).note_id)).size).toBe(1);
});

test("POST note: of many at once, each is kept and has a version of its own", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id, case_version } = await tenant.openCase();
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => write(tenant, case_id, { text: `Note ${at}` })));
  const versions = answers.map((answer) => noteOf(answer).case_version).toSorted((a, b) => a - b);
  expect(versions).toEqual(Array.from({ length: 8 }, (_, at) => case_version + 1 + at));
  expect(await notesOf(tenant, case_id)).toHaveLength(8);
});

test("POST note: @ and an e-mail address mention a person of the tenant, and nobody else", async () => {
  const tenant = await TestTenant.create(service.current);
  const other = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const [ada, ben] = [await Browser.join(tenant, "investigator"), await Browser.join(tenant, "lead")];
  const stranger = await Browser.join(other, "admin");
  const [a, b, s] = [ada, ben, stranger].map((each) => each.signedIn.user);
  const text = `@${a?.email.toUpperCase()}, please. (@${b?.email}) @${a?.email}. @${s?.email} mail me at x@${b?.email ?? ""} @nobody @@`;
  const { mentions } = noteOf(await write(tenant, case_id, { text }));
  expect(new Set(mentions)).toEqual(new Set([a?.user_id, b?.user_id]));
  await tenant.call("PUT", `/users/${a?.user_id ?? ""}`, { body: { is_disabled: true } });
  expect(noteOf(await write(tenant, case_id, { text: `@${a?.email ?? ""}` })).mentions).toEqual([]);
});

test("notes: the audit trail, the feed and webhooks have the text, if the reader may read cases", async () => {
  const { tenant, receiver } = await make(["case.note_added"]);
  const { case_id } = await tenant.openCase();
  const note = noteOf(await write(tenant, case_id, { text: "Called the customer." }));
  const expected = { type: "case.note_added", data: { note_id: note.note_id, mentions: [], text: "Called the customer." } };
  const trail = (await tenant.call("GET", `/cases/${case_id}/events`)).json.data as { events: LoggedEvent[] };
  expect(trail.events[0]).toMatchObject({ ...expected, resource: { version: note.case_version } });
  const feed = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: LoggedEvent[] };
  expect(feed.events.at(-1)).toMatchObject({ ...expected, current: { case_version: note.case_version } });
  const token = await tenant.mint(["read:events"]);
  const poor = (await tenant.call("GET", "/events?limit=1000", { token })).json.data as { events: LoggedEvent[] };
  expect(poor.events.at(-1)?.data).toEqual({ note_id: note.note_id, mentions: [] });
  await until(() => expect(receiver.received).toHaveLength(1));
  expect(receiver.at(0).event).toMatchObject(expected);
});

test("erasure: the notes of the account's cases are deleted everywhere, and other notes lose its id", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `victim-${randomUUID()}`;
  const [own, other] = [await tenant.openCase(account), await tenant.openCase()];
  const key = randomUUID();
  await write(tenant, own.case_id, { text: `Jane Doe, born 1980. ${account}` }, { key });
  await write(tenant, other.case_id, { text: `Same device as ${account}.` });
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await notesOf(tenant, own.case_id)).toEqual([]);
  const [left] = await notesOf(tenant, other.case_id);
  expect(left?.text).toMatch(/^Same device as erased-[0-9a-f-]{36}\.$/);
  const replay = await write(tenant, own.case_id, { text: `Jane Doe, born 1980. ${account}` }, { key });
  expect([replay.status, noteOf(replay).text]).toEqual([201, ""]);
  const feed = await tenant.call("GET", "/events?limit=1000");
  expect(feed.text).not.toMatch(new RegExp(`Jane|${account}`));
  expect(replay.text + feed.text).not.toContain(account);
});

test("notes 404, 403, 422, 400: nothing is stored", async () => {
  const tenant = await TestTenant.create(service.current);
  const other = await TestTenant.create(service.current);
  const found = await tenant.openCase();
  const { case_id } = found;
  const body = { text: "x" };
  for (const id of [randomUUID(), "x"]) expectProblem(await write(tenant, id, body), 404, "item-not-found");
  expectProblem(await write(other, case_id, body), 404, "item-not-found");
  expectProblem(await other.call("GET", `/cases/${case_id}/notes`), 404, "item-not-found");
  const token = await tenant.mint(["read:case"]);
  expectProblem(await write(tenant, case_id, body, { token }), 403, "access-denied");
  expectProblem(await tenant.call("POST", `/cases/${case_id}/notes`, { body }), 400, "invalid-operation-id");
  for (const text of ["", 7, null, "a\0b", "\ud800", "x".repeat(noteCharactersMax + 1)])
    expectProblem(await write(tenant, case_id, { text }), 422, "validation-error");
  expectProblem(await write(tenant, case_id, { text: "x", created_by: "somebody" }), 422, "validation-error");
  expect(await tenant.read(case_id)).toEqual(found);
  expect(noteOf(await write(tenant, case_id, { text: "✓".repeat(noteCharactersMax) })).text).toHaveLength(noteCharactersMax);
});

test("POST note 422: a case has at most so many notes", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const text = `
    insert into case_notes (tenant_id, case_id, note_id, text, mentions, created_at, created_by, case_version)
    select $1, $2, gen_random_uuid(), 'x', '{}', now(), 'x', 1 from generate_series(1, $3::int)`;
  await service.current.database.query(statement(text, [tenant.tenantId, case_id, notesMax]));
  expectProblem(await write(tenant, case_id, { text: "One more" }), 422, "validation-error");
  expect((await tenant.read(case_id)).case_version).toBe(1);
});

test("GET notes: newest first, page by page; digests count them", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const digest = async () => {
    const answer = await tenant.call("GET", `/cases/digests?case_ids=${case_id}`);
    return (answer.json.data as { case_digests: CaseDigest[] }).case_digests[0];
  };
  expect((await digest())?.notes).toBeUndefined();
  for (const text of ["a", "b", "c"]) await write(tenant, case_id, { text });
  expect((await digest())?.notes).toBe(3);
  const seen: string[] = [];
  for (let query = "limit=2"; query !== "";) {
    const { notes, next_cursor } = (await tenant.call("GET", `/cases/${case_id}/notes?${query}`)).json.data as {
      notes: Note[];
      next_cursor: string | null;
    };
    seen.push(...notes.map(({ text }) => text));
    query = next_cursor === null ? "" : `limit=2&cursor=${encodeURIComponent(next_cursor)}`;
  }
  expect(seen).toEqual(["c", "b", "a"]);
});

test("GET colleagues: names and e-mail addresses of people who are not disabled, for anybody who may read cases", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator", { name: "Ada" });
  const ben = await Browser.join(tenant, "lead", { name: "Ben" });
  const read = async () => ((await ada.call("GET", "/colleagues")).json.data as { colleagues: unknown[] }).colleagues;
  const [a, b] = [ada.signedIn.user, ben.signedIn.user];
  const byEmail = [a, b].toSorted((one, other) => (one.email < other.email ? -1 : 1));
  expect(await read()).toEqual(byEmail);
  await tenant.call("PUT", `/users/${b.user_id}`, { body: { is_disabled: true } });
  expect(await read()).toEqual([a]);
  const token = await tenant.mint(["read:cases"]);
  expectProblem(await tenant.call("GET", "/colleagues", { token }), 403, "access-denied");
});
