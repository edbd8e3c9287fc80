import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { appendScored, makePartition } from "../src/db/activities.ts";
import { saveMembers } from "../src/db/case-members.ts";
import { eraseAccountTraces } from "../src/db/erasure.ts";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import { saveLabels } from "../src/db/labels.ts";
import { saveLinks } from "../src/db/links.ts";
import { insertOutcomes } from "../src/db/outcomes.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { addRuleSubjects, insertDefaults } from "../src/db/rules.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { entityKey, saveSessions, saveStates } from "../src/db/states.ts";
import { deleteEntries, insertList, saveEntries } from "../src/db/value-lists.ts";
import { accountSubject, type RecordedActivity } from "../src/domain/activity.ts";
import { mergeAdditions, tallyBatch } from "../src/engine/tally.ts";
import { TestTenant } from "./harness.ts";
import { useOwnService } from "./process.ts";
import { findTraces } from "./traces.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const at = new Date().toISOString();

function activityOf(more: Partial<RecordedActivity>): RecordedActivity {
  return { activity_id: randomUUID(), type: "page_view", origin: "server", occurred_at: at, received_at: at, ...more };
}

// Writes everything that the service stores about an active account, with two sessions and one device.
async function writeTraces(tenant: TestTenant, account: string): Promise<void> {
  const session = `session-of-${account}`;
  const own = { website_account_id: account, session_id: session, device_id: "device" };
  const { database } = service.current;
  const made = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: account } });
  expect(made.status, made.text).toBe(201);
  await database.transaction((tx) => makePartition(tx, at.slice(0, 10)));
  await database.transaction(async (tx) => {
    const activities = [activityOf(own), activityOf({ session_id: session, device_id: "device" })];
    await insertActivities(tx, tenant.tenantId, [newActivity(activityOf(own))]);
    await appendScored(
      tx,
      tenant.tenantId,
      activities.map((activity) => ({
        id_key: randomUUID(),
        activity,
        ip: null,
        score: 1,
        prediction_id: null,
        case_id: null,
        decision: "{}",
      })),
    );
    const payment = { id_key: randomUUID(), activity: activityOf({ ...own, type: "payment" }) };
    await appendScored(tx, tenant.tenantId, [
      { ...payment, ip: null, score: 1, prediction_id: null, case_id: null, decision: "{}" },
    ]);
    const times = { event_at: at, labelled_at: at, known_at: at };
    const label = { activity: { id_key: payment.id_key, received_at: at }, source: "api", y: 1, weight: 1, ...times } as const;
    await saveLabels(tx, tenant.tenantId, [{ ...label, case_id: null, case_version: null, actor: "x" }]);
    const counted = { activities, startedSessions: new Map([[session, at]]) };
    await tallyBatch(tx, tenant.tenantId, counted);
    await mergeAdditions(tx, tenant.tenantId);
    await tallyBatch(tx, tenant.tenantId, counted);
    const facts = { ring: new Uint8Array(3), facts: "{}" };
    const states = [
      { kind: "account" as const, key: entityKey("account", account), ...facts },
      { kind: "device" as const, key: entityKey("device", "device"), ...facts },
    ];
    await saveStates(tx, tenant.tenantId, { states, day: at.slice(0, 10) });
    const stored = { session_id: session, website_account_id: account, device_id: "device", facts: "{}" };
    await saveSessions(tx, tenant.tenantId, [{ ...stored, started_at: at, last_at: at }]);
    const seen = { a: account, first_seen: at, last_seen: at };
    await saveLinks(tx, tenant.tenantId, [
      { kind: "account-device", b: "device", ...seen },
      { kind: "account-ip", b: "192.0.2.1", ...seen },
    ]);
    const subject = accountSubject(account);
    const last_activity = { activity_id: "1", website_account_id: account, occurred_at: at, sentence: "It was." };
    const hit = { rule_id: "rule", is_shadow: false, hits: 1, at, last_activity };
    await addRuleSubjects(tx, tenant.tenantId, [
      { ...hit, subject },
      { ...hit, subject: `device:of-${randomUUID()}` },
    ]);
    await writeEntries(tx, tenant.tenantId, account, at);
    const listed = { case_id: randomUUID(), state: "attacked" as const, seen_at: at, own_case_id: null };
    await saveMembers(tx, tenant.tenantId, [{ ...listed, account }]);
    const verdict = { case_version: 2, disposition: "CONFIRMED_FRAUD", decided_at: at, decided_by: "x" };
    await insertOutcomes(tx, tenant.tenantId, [{ case_id: randomUUID(), subject, website_account_id: account, ...verdict }]);
  });
}

async function writeEntries(tx: Queryable, tenantId: string, account: string, at: string): Promise<void> {
  const list_name = `list_${randomUUID().replaceAll("-", "")}`;
  const entry = { expires_at: null, reason: `Because of ${account}`, from_case_id: null };
  await insertDefaults(tx, tenantId, [], at);
  const made = { created_at: at, created_by: "x", updated_at: at, updated_by: "x" };
  await insertList(tx, tenantId, {
    name: list_name,
    type: "account",
    kind: "watch",
    label: "Bot",
    description: "",
    ...made,
  });
  const entries = [account, "another"].map((key) => ({ key, value: key, ...entry }));
  await saveEntries(tx, tenantId, { list_name, now: at, actor: "x", entries });
  await saveEntries(tx, tenantId, { list_name: "gone", now: at, actor: "x", entries: entries.slice(0, 1) });
  await deleteEntries(tx, tenantId, { list_name: "gone", keys: [account] });
}

async function countKept(tenant: TestTenant, table: string): Promise<number> {
  const text = `select count(*) as count from ${table} where tenant_id = $1`;
  const [row] = await service.current.database.query<{ count: number }>(statement(text, [tenant.tenantId]));
  return row?.count ?? NaN;
}

test("DELETE account 204: no row of any table contains the account's id, and another account's rows are all kept", async () => {
  const tenant = await TestTenant.create(service.current);
  const [erased, other] = [`erased-one-${randomUUID()}`, `other-${randomUUID()}`];
  await writeTraces(tenant, erased);
  await writeTraces(tenant, other);
  const before = await findTraces(tenant, other);
  const held = [
    "accounts",
    "activities",
    "case_members",
    "events",
    "inbox",
    "links",
    "list_entries",
    "list_removals",
    "outcomes",
    "rule_subjects",
    "sessions",
  ];
  expect([...new Set(before)]).toEqual(held);
  expect(await findTraces(tenant, erased)).toEqual(before);
  expect((await tenant.call("DELETE", `/enduseraccounts/${erased}`)).status).toBe(204);
  expect(await findTraces(tenant, erased)).toEqual([]);
  expect(await findTraces(tenant, other)).toEqual(before);
});

test("erasure: anonymous activity of the account's sessions and its state are deleted; labels and counts stay under the pseudonym", async () => {
  const tenant = await TestTenant.create(service.current);
  const account = `account-${randomUUID()}`;
  await writeTraces(tenant, account);
  expect(await countKept(tenant, "activities")).toBe(3);
  expect(await countKept(tenant, "labels")).toBe(1);
  expect(await countKept(tenant, "entity_states")).toBe(2);
  const pseudonym = `erased-${randomUUID()}`;
  await service.current.database.transaction((tx) => eraseAccountTraces(tx, tenant.tenantId, { id: account, pseudonym }));
  for (const table of ["activities", "labels", "sessions", "links"]) expect(await countKept(tenant, table), table).toBe(0);
  const states = await service.current.database.query(
    statement("select kind from entity_states where tenant_id = $1", [tenant.tenantId]),
  );
  expect(states).toEqual([{ kind: "device" }]);
  expect(await countKept(tenant, "outcomes")).toBe(1);
  expect(await findTraces(tenant, pseudonym)).toEqual(expect.arrayContaining(["outcomes"]));
});
