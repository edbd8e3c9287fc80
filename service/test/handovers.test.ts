import { randomUUID } from "node:crypto";
import type { CaseDigest } from "@casehound/client";
import { expect, test } from "vitest";
import type { LoggedEvent } from "../src/domain/event.ts";
import { handoversMax, type CaseHandover, type Handover } from "../src/domain/handover.ts";
import { noteCharactersMax, type Note } from "../src/domain/note.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, TestTenant, type Answer, type Options } from "./harness.ts";
import { Browser } from "./people.ts";
import { until, useWebhooks } from "./webhook-rig.ts";

const { service, make } = useWebhooks("handovers");

type Caller = TestTenant | Browser;

function handOver(by: Caller, caseId: string, body: unknown, more: Options = {}): Promise<Answer> {
  return by.call("POST", `/cases/${caseId}/handover`, { body, key: randomUUID(), ...more });
}

function handoverOf(answer: Answer): Handover {
  expect(answer.status, answer.text).toBe(201);
  const { handover } = answer.json.data as CaseHandover;
  if (!handover) throw new Error("the response has no handover");
  return handover;
}

async function readHandover(by: Caller, caseId: string): Promise<Handover | undefined> {
  const answer = await by.call("GET", `/cases/${caseId}/handover`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as CaseHandover).handover;
}

async function notesOf(by: Caller, caseId: string): Promise<Note[]> {
  return ((await by.call("GET", `/cases/${caseId}/notes`)).json.data as { notes: Note[] }).notes;
}

async function holderOf(by: Caller, caseId: string): Promise<string | undefined> {
  const answer = await by.call("GET", `/cases/${caseId}/claim`);
  return (answer.json.data as { claim?: { claimed_by: string } }).claim?.claimed_by;
}

async function eventsOf(tenant: TestTenant, caseId: string): Promise<LoggedEvent[]> {
  const answer = await tenant.call("GET", `/cases/${caseId}/events`);
  return (answer.json.data as { events: LoggedEvent[] }).events;
}

async function listed(by: Caller, query: string): Promise<string[]> {
  const answer = await by.call("GET", `/cases?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { cases: { case_id: string }[] }).cases.map(({ case_id }) => case_id);
}

async function countFor(by: Caller): Promise<number> {
  return ((await by.call("GET", "/cases/counts")).json.data as { handed_to_me: number }).handed_to_me;
}

const nameOf = ({ signedIn: { user } }: Browser) => `${user.name} <${user.email}>`;

async function team() {
  const tenant = await TestTenant.create(service.current);
  const [ada, ben] = [
    await Browser.join(tenant, "investigator", { name: "Ada" }),
    await Browser.join(tenant, "lead", { name: "Ben" }),
  ];
  return { tenant, ada, ben };
}

test("POST handover 201: the note, the end of the claim, the version and the event are one change", async () => {
  const { tenant, ada, ben } = await team();
  const { user_id: bens } = ben.signedIn.user;
  const found = await tenant.openCase();
  const { case_id, case_version } = found;
  expect(await readHandover(ada, case_id)).toBeUndefined();
  await ada.call("PUT", `/cases/${case_id}/claim`);
  const text = `Please call the bank, @${ben.signedIn.user.email}.`;
  const handover = handoverOf(await handOver(ada, case_id, { case_version, handed_to: bens, text }));
  expect(handover).toMatchObject({ handed_to: bens, handed_by: nameOf(ada), text, case_version: case_version + 1 });
  expect(await readHandover(ada, case_id)).toEqual(handover);
  expect(await tenant.read(case_id)).toEqual({ ...found, case_version: case_version + 1, updated_at: handover.handed_at });
  const { note_id } = handover;
  expect(await notesOf(tenant, case_id)).toEqual([
    {
      note_id,
      case_id,
      text,
      mentions: [bens],
      created_at: handover.handed_at,
      created_by: nameOf(ada),
      case_version: case_version + 1,
      handed_to: bens,
    },
  ]);
  expect(await holderOf(tenant, case_id)).toBeUndefined();
  const [last] = await eventsOf(tenant, case_id);
  expect(last).toMatchObject({ type: "case.handed_over", actor: nameOf(ada), resource: { version: case_version + 1 } });
  expect(last?.data).toEqual({ handed_to: bens, note_id, mentions: [bens], text });
});

test("POST handover: the recipient keeps a claim, and anybody else loses it", async () => {
  const { tenant, ada, ben } = await team();
  const { case_id, case_version } = await tenant.openCase();
  await ben.call("PUT", `/cases/${case_id}/claim`);
  const to = { handed_to: ben.signedIn.user.user_id, text: "Yours." };
  handoverOf(await handOver(ada, case_id, { case_version, ...to }));
  expect(await holderOf(tenant, case_id)).toBe(nameOf(ben));
  handoverOf(await handOver(tenant, case_id, { case_version: case_version + 1, handed_to: "admin", text: "For an admin." }));
  expect(await holderOf(tenant, case_id)).toBeUndefined();
  expect((await readHandover(ben, case_id))?.handed_to).toBe("admin");
});

test("POST handover 409: a stale version changes nothing, and is stored under its key", async () => {
  const { tenant, ada } = await team();
  const { case_id, case_version } = await tenant.openCase();
  await ada.call("PUT", `/cases/${case_id}/claim`);
  await ada.call("POST", `/cases/${case_id}/notes`, { body: { text: "Wait." }, key: randomUUID() });
  const key = randomUUID();
  const body = { case_version, handed_to: "lead", text: "Please decide." };
  const refused = await handOver(ada, case_id, body, { key });
  expect(expectProblem(refused, 409, "item-version-conflict").current_version).toBe(case_version + 1);
  const again = await handOver(ada, case_id, body, { key });
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([refused.text, "true"]);
  expect(await readHandover(ada, case_id)).toBeUndefined();
  expect(await notesOf(ada, case_id)).toHaveLength(1);
  expect(await holderOf(ada, case_id)).toBe(nameOf(ada));
});

test("POST handover: the same key hands over once; of many at once, one wins and the others get 409", async () => {
  const { tenant, ada } = await team();
  const { case_id, case_version } = await tenant.openCase();
  const key = randomUUID();
  const body = { case_version, handed_to: "lead", text: "Once." };
  const both = await Promise.all([1, 2, 3].map(() => handOver(ada, case_id, body, { key })));
  expect(new Set(both.map((answer) => handoverOf(answer).note_id)).size).toBe(1);
  expectProblem(await handOver(ada, case_id, { ...body, text: "Twice." }, { key }), 409, "operation-idempotency-conflict");
  const next = { case_version: case_version + 1, handed_to: "admin" };
  const racing = await Promise.all([1, 2, 3].map((at) => handOver(tenant, case_id, { ...next, text: `Race ${at}` })));
  expect(racing.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  expect(await notesOf(tenant, case_id)).toHaveLength(2);
  expect((await tenant.read(case_id)).case_version).toBe(case_version + 2);
});

test("a close that has not seen the handover gets 409; a close ends the handover, and reopening restores it", async () => {
  const { tenant, ada, ben } = await team();
  const { case_id, case_version } = await tenant.openCase();
  handoverOf(await handOver(ada, case_id, { case_version, handed_to: "lead", text: "Please decide." }));
  expectProblem(await tenant.put(case_id, { status: "CLOSED", case_version }), 409, "item-version-conflict");
  expect((await tenant.put(case_id, { status: "CLOSED", case_version: case_version + 1 })).status).toBe(200);
  expect(await readHandover(ben, case_id)).toBeUndefined();
  expect(await listed(ben, "handed_to=me")).toEqual([]);
  const late = { case_version: case_version + 2, handed_to: "lead", text: "Too late." };
  const problem = expectProblem(await handOver(ada, case_id, late), 422, "validation-error");
  expect(problem.errors?.map(({ field }) => field)).toEqual(["case_id"]);
  expect((await tenant.put(case_id, { status: "OPEN", case_version: case_version + 2 })).status).toBe(200);
  expect((await readHandover(ben, case_id))?.handed_to).toBe("lead");
  const bulk = { cases: [{ case_id, case_version: case_version + 3 }] };
  expect((await tenant.call("POST", "/cases/close", { body: bulk, key: randomUUID() })).status).toBe(200);
  expect(await readHandover(ben, case_id)).toBeUndefined();
});

test("GET cases?handed_to: mine or my role's, a person's and a role's, in every order; digests and counts agree", async () => {
  const { tenant, ada, ben } = await team();
  const [toBen, toLeads, toAda, free] = [1, 2, 3, 4].map(() => tenant.openCase());
  const opened = await Promise.all([toBen, toLeads, toAda, free]);
  const ids = opened.map((each) => each?.case_id ?? "");
  const recipients = [ben.signedIn.user.user_id, "lead", ada.signedIn.user.user_id];
  for (const [at, handed_to] of recipients.entries())
    handoverOf(await handOver(tenant, ids[at] ?? "", { case_version: 1, handed_to, text: "x" }));
  const [forBen, forLeads, forAda] = ids;
  for (const sort of ["-created_at", "created_at", "-overall_risk_score", "-updated_at"]) {
    expect(new Set(await listed(ben, `handed_to=me&sort=${sort}`))).toEqual(new Set([forBen, forLeads]));
    expect(await listed(ada, `handed_to=me&status=OPEN&min_score=2&sort=${sort}`)).toEqual([forAda]);
    expect(await listed(ada, `handed_to=lead&sort=${sort}`)).toEqual([forLeads]);
    expect(await listed(ada, `handed_to=${recipients[0] ?? ""}&sort=${sort}`)).toEqual([forBen]);
  }
  expect(await listed(ada, "handed_to=lead&status=CLOSED")).toEqual([]);
  expect(await listed(ada, "handed_to=lead&claimed_by=none")).toEqual([forLeads]);
  expect(await listed(ada, `handed_to=lead&website_account_id=${opened[0]?.website_account_id ?? ""}`)).toEqual([]);
  for (const value of ["nobody", randomUUID(), "' or 1=1 --"])
    expect(await listed(ada, `handed_to=${encodeURIComponent(value)}`)).toEqual([]);
  // A client is neither a person nor in a role.
  expect(await listed(tenant, "handed_to=me")).toEqual([]);
  expectProblem(await ada.call("GET", "/cases?handed_to="), 400, "bad-request");
  expect([await countFor(ben), await countFor(ada), await countFor(tenant)]).toEqual([2, 1, 0]);
  const digests = (await ada.call("GET", `/cases/digests?case_ids=${ids.join(",")}`)).json.data as { case_digests: CaseDigest[] };
  expect(digests.case_digests.map(({ handover }) => handover?.handed_to)).toEqual([...recipients, undefined]);
});

test("handovers: the feed and webhooks have the text, if the reader may read cases", async () => {
  const { tenant, receiver } = await make(["case.handed_over"]);
  const { case_id, case_version } = await tenant.openCase();
  const { note_id, text } = handoverOf(
    await handOver(tenant, case_id, { case_version, handed_to: "lead", text: "Please decide." }),
  );
  const expected = { type: "case.handed_over", data: { handed_to: "lead", note_id, mentions: [], text } };
  const feed = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: LoggedEvent[] };
  expect(feed.events.at(-1)).toMatchObject({ ...expected, current: { case_version: case_version + 1 } });
  const token = await tenant.mint(["read:events"]);
  const poor = (await tenant.call("GET", "/events?limit=1000", { token })).json.data as { events: LoggedEvent[] };
  expect(poor.events.at(-1)?.data).toEqual({ handed_to: "lead", note_id, mentions: [] });
  await until(() => expect(receiver.received).toHaveLength(1));
  expect(receiver.at(0).event).toMatchObject(expected);
});

test("erasure: the handover stays without its text, also in the log and in a repeated request", async () => {
  const { tenant, ada } = await team();
  const account = `victim-${randomUUID()}`;
  const { case_id, case_version } = await tenant.openCase(account);
  const key = randomUUID();
  const body = { case_version, handed_to: "lead", text: `Jane Doe, born 1980. ${account}` };
  handoverOf(await handOver(ada, case_id, body, { key }));
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await readHandover(ada, case_id)).toMatchObject({ handed_to: "lead", text: "" });
  const replay = await handOver(ada, case_id, body, { key });
  expect(handoverOf(replay).text).toBe("");
  const feed = await tenant.call("GET", "/events?limit=1000");
  expect(feed.text + replay.text).not.toMatch(new RegExp(`Jane|${account}`));
});

test("handovers 404, 403, 428, 400, 422: nothing is stored", async () => {
  const { tenant, ada, ben } = await team();
  const other = await TestTenant.create(service.current);
  const stranger = await Browser.join(other, "lead");
  const found = await tenant.openCase();
  const { case_id, case_version } = found;
  const body = { case_version, handed_to: "lead", text: "x" };
  for (const id of [randomUUID(), "x"]) expectProblem(await handOver(ada, id, body), 404, "item-not-found");
  expectProblem(await handOver(other, case_id, body), 404, "item-not-found");
  expectProblem(await other.call("GET", `/cases/${case_id}/handover`), 404, "item-not-found");
  const token = await tenant.mint(["read:case"]);
  expectProblem(await handOver(tenant, case_id, body, { token }), 403, "access-denied");
  expectProblem(await handOver(ada, case_id, { handed_to: "lead", text: "x" }), 428, "precondition-required");
  expectProblem(await tenant.call("POST", `/cases/${case_id}/handover`, { body }), 400, "invalid-operation-id");
  await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { is_disabled: true } });
  const nobody = [randomUUID(), "boss", "me", "LEAD", "", 7, null, stranger.signedIn.user.user_id, ben.signedIn.user.user_id];
  for (const handed_to of nobody) {
    const problem = expectProblem(await handOver(ada, case_id, { ...body, handed_to }), 422, "validation-error");
    expect(problem.errors?.map(({ field }) => field)).toEqual(["handed_to"]);
  }
  for (const text of ["", 7, null, "a\0b", "x".repeat(noteCharactersMax + 1)])
    expectProblem(await handOver(ada, case_id, { ...body, text }), 422, "validation-error");
  expectProblem(await handOver(ada, case_id, { ...body, handed_by: "somebody" }), 422, "validation-error");
  expect(await tenant.read(case_id)).toEqual(found);
  expect(await readHandover(ada, case_id)).toBeUndefined();
});

test("POST handover: a role of the tenant's own gets cases, and keeps existing until they are handed over again", async () => {
  const { tenant, ada, ben } = await team();
  await tenant.call("POST", "/roles", { body: { role: "night-shift", scopes: ["read:case", "read:cases"] } });
  const { case_id, case_version } = await tenant.openCase();
  const changed = await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { role: "night-shift" } });
  expect(changed.status, changed.text).toBe(200);
  handoverOf(await handOver(ada, case_id, { case_version, handed_to: "night-shift", text: "For tonight." }));
  expect(await listed(ben, "handed_to=me")).toEqual([case_id]);
  await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { role: "lead" } });
  const refused = expectProblem(await tenant.call("DELETE", "/roles/night-shift"), 422, "validation-error");
  expect(refused.errors).toEqual([{ field: "role_name", message: "must not be deleted: one open case was handed over to it" }]);
  handoverOf(await handOver(ada, case_id, { case_version: case_version + 1, handed_to: "lead", text: "Then you." }));
  expect((await tenant.call("DELETE", "/roles/night-shift")).status).toBe(204);
  const late = { case_version: case_version + 2, handed_to: "night-shift", text: "Too late." };
  expectProblem(await handOver(ada, case_id, late), 422, "validation-error");
});

test("POST handover 422: one recipient cannot get more than the maximum of open cases", async () => {
  const { tenant, ada } = await team();
  const { case_id, case_version } = await tenant.openCase();
  const text = `
    insert into case_handovers (tenant_id, case_id, handed_to, handed_by, handed_at, note_id, case_version)
    select $1, gen_random_uuid(), 'lead', 'x', now(), gen_random_uuid(), 1 from generate_series(1, $2::int)`;
  await service.current.database.query(statement(text, [tenant.tenantId, handoversMax]));
  expectProblem(await handOver(ada, case_id, { case_version, handed_to: "lead", text: "One more" }), 422, "validation-error");
  const { handed_to } = handoverOf(await handOver(ada, case_id, { case_version, handed_to: "admin", text: "Then you." }));
  expect(handed_to).toBe("admin");
});
