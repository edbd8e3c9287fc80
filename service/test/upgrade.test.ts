import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { hashSecret } from "../src/api/tokens/secret.ts";
import { clock } from "../src/clock.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { migrate, readMigrations } from "../src/db/postgres/migrate.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { lockSettings } from "../src/db/rules.ts";
import { scopes } from "../src/domain/scope.ts";
import { startService } from "../src/service.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, send, testConfig } from "./harness.ts";
import { createDatabase } from "./launch.ts";
import { eventually, useOpened } from "./process.ts";
import { makePartition } from "../src/db/activities.ts";
import { applyLabels } from "../src/engine/labels.ts";

const opened = useOpened();

const tenantId = randomUUID();
const at = "2026-10-02T10:00:00.000Z";
const later = "2026-10-03T10:00:00.000Z";

type Made = { status: "OPEN" | "CLOSED"; states: number; by: string };

// Contains a text that looks like members of an occurrence.
function explanationOf(account: string) {
  const text = JSON.stringify({ occurrence_id: account, prediction_id: account, generated_at: at });
  return { fraud_reason: "r", fraud_reason_description: text, fraud_types: [], model_behaviour: null };
}

// One without a session and one with a session.
function occurrencesOf(account: string) {
  const rest = { generated_at: at, risk_score: 5, explanation: explanationOf(account) };
  const [one, two] = ["a", "b"].map((name) => ({ occurrence_id: `${name}-${account}`, prediction_id: randomUUID() }));
  return { [`a-${account}`]: { ...one, ...rest }, [`b-${account}`]: { ...two, session_id: "s", ...rest } };
}

// Inserts a case as the first version wrote it.
async function insertCase(database: Database, account: string, { status, states, by }: Made): Promise<string> {
  const caseId = clock.newId(at);
  const state = {
    state_id: randomUUID(),
    case_status: status,
    session_status: "FINISHED",
    score: 5,
    changed_at: at,
    reason: "r",
  };
  const details = {
    overall_risk_score: 5,
    primary_fraud_label: "Organic",
    fraud_labels: ["Organic"],
    summary: `Fraud was reported for ${account}.`,
    highlights: [],
    recommended_action: "Escalate",
  };
  const document = {
    case_id: caseId,
    tenant_id: tenantId,
    website_account_id: account,
    ...(account === "joined" && { session_id: "s" }),
    status,
    case_version: states,
    created_at: at,
    updated_at: states > 1 ? later : null,
    current_state: { ...state, changed_by: by },
    state_history: Array.from({ length: states - 1 }, () => ({ ...state, changed_by: "system" })),
    details,
    fraud_occurrences: occurrencesOf(account),
  };
  await database.query(
    statement(
      `insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
       values ($1, $2, false, false, false, $3, $3)`,
      [tenantId, account, at],
    ),
  );
  await database.query(
    statement(
      `insert into cases (tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at,
         updated_at, overall_risk_score, primary_fraud_label, recommended_action, document)
       values ($1, $2, $3, $4, false, $5, $6, $7, $8, 5, 'Organic', 'Escalate', $9)`,
      [tenantId, caseId, `account:${account}`, account, status, states, at, document.updated_at, JSON.stringify(document)],
    ),
  );
  return caseId;
}

async function insertEvent(database: Database, id: number, type: string, caseId: string, data: object | null): Promise<void> {
  const occurredAt = type === "case.opened" ? at : later;
  await database.query(
    statement(
      `insert into events (tenant_id, event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data)
       values ($1, $2, $3, $4, 'crm', 'case', $5, 1, $6)`,
      [tenantId, id, type, occurredAt, caseId, data && JSON.stringify(data)],
    ),
  );
}

async function insertActivity(database: Database, id: string, scoredAt: string | null): Promise<void> {
  const activity = { activity_id: id, type: "fraud_report", occurred_at: at, website_account_id: `account-of-${id}` };
  await database.query(
    statement(
      `insert into activities (tenant_id, activity_id, website_account_id, received_at, scored_at, activity)
       values ($1, $2, $3, $4, $5, $6)`,
      [tenantId, id, activity.website_account_id, at, scoredAt, JSON.stringify(activity)],
    ),
  );
}

test("upgrade: what the first version stored is listed, counted and scored by this one", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = opened.database(url);
  const [first, ...others] = readMigrations();
  expect(await migrate(database, first && [first])).toEqual(["0001_foundation.sql"]);
  await database.query(
    statement("insert into tenants (tenant_id, slug, app_key, created_at) values ($1, 'shop', 'key', $2)", [tenantId, at]),
  );
  await database.query(statement("insert into event_counters (tenant_id, last_event_id) values ($1, 7)", [tenantId]));
  const fresh = await insertCase(database, 'a"b\\', { status: "OPEN", states: 1, by: "system" });
  const joined = await insertCase(database, "joined", { status: "OPEN", states: 2, by: "system" });
  const reopened = await insertCase(database, "reopened", { status: "OPEN", states: 3, by: "crm" });
  const closed = await insertCase(database, "closed", { status: "CLOSED", states: 2, by: "crm" });
  for (const [index, id] of [fresh, joined, closed].entries()) await insertEvent(database, index + 1, "case.opened", id, null);
  await insertEvent(database, 4, "case.closed", closed, { disposition: "FALSE_POSITIVE" });
  await insertEvent(database, 5, "case.opened", reopened, null);
  await insertEvent(database, 6, "case.closed", reopened, { disposition: "CONFIRMED_FRAUD" });
  await insertEvent(database, 7, "case.reopened", reopened, null);
  await insertActivity(database, "old", at);
  await insertActivity(database, "waiting", null);
  expect(await migrate(database)).toEqual(others.map((each) => each.name));
  const service = await startService(testConfig({ databaseUrl: url }));
  opened.keep({ end: () => service.stop() });
  const made = await createClient(database, { slug: "shop", scopes: [...scopes] }, clock);
  const tenant = await TestTenant.of(service, { ...made, app_key: "key" });
  const waiting = await eventually(async () => {
    const [found] = await tenant.list("website_account_id=account-of-waiting");
    expect(found).toBeDefined();
    return found?.case_id ?? "";
  });
  const ids = async (query: string) => new Set((await tenant.list(query)).map((each) => each.case_id));
  expect(await ids("status=OPEN")).toEqual(new Set([fresh, joined, reopened, waiting]));
  expect(await ids("new_evidence=true")).toEqual(new Set([joined]));
  const call = async (path: string) => (await tenant.call("GET", path)).json.data as Record<string, unknown>;
  expect(await call("/cases/counts")).toMatchObject({ open: 4, new_evidence: 1 });
  const overview = await call("/overview?start_date=2026-10-02&end_date=2026-10-04");
  expect(overview).toMatchObject({
    outcomes: { confirmed: 0, false_positives: 1 },
    days: [
      { day: "2026-10-02", opened: 4, closed: 0 },
      { day: "2026-10-03", opened: 0, closed: 1, reopened: 1 },
    ],
  });
  for (const [id, account, session] of [
    [fresh, 'a"b\\', ""],
    [joined, "joined", "s"],
  ] as const) {
    const { session_id, website_account_id, fraud_occurrences } = await tenant.read(id);
    expect([session_id, website_account_id]).toEqual([session, account]);
    const occurrences = Object.values(fraud_occurrences);
    expect(occurrences.map((each) => each.session_id)).toEqual(["", "s"]);
    for (const each of occurrences) expect(each.explanation).toEqual(explanationOf(account));
  }
  const again = { activity_id: "old", type: "fraud_report", occurred_at: at, website_account_id: "account-of-old" };
  expect(await tenant.call("POST", "/activities", { body: { activities: [again] } })).toMatchObject({
    status: 202,
    json: { data: { accepted: 0, duplicates: 1 } },
  });
  expect((await tenant.put(reopened, { status: "CLOSED", case_version: 3 })).status).toBe(200);
});

test("upgrade: a secret rotated by an earlier version works for the rest of its day, even after another rotation", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = opened.database(url);
  const seventh = readMigrations().slice(0, 7);
  await migrate(database, seventh);
  const [tenant_id, inAnHour] = [randomUUID(), new Date(Date.now() + 3_600_000).toISOString()];
  await database.query(
    statement("insert into tenants (tenant_id, slug, app_key, created_at) values ($1, 'shop', 'key', $2)", [tenant_id, at]),
  );
  await database.query(statement("insert into event_counters (tenant_id) values ($1)", [tenant_id]));
  const insert = (id: string, hashes: (string | null)[], until: string | null) =>
    database.query(
      statement(
        `insert into clients (tenant_id, client_id, scopes, is_primary, secret_hash, previous_secret_hash, previous_secret_until, created_at)
         values ($1, $2, $3, false, $4, $5, $6, $7)`,
        [tenant_id, id, [...scopes], ...hashes, until, at],
      ),
    );
  await insert("rotated", [await hashSecret("current"), await hashSecret("previous")], inAnHour);
  await insert("over", [await hashSecret("current"), await hashSecret("previous")], at);
  await insert("never", [await hashSecret("current"), null], null);
  await migrate(database);
  const service = await startService(testConfig({ databaseUrl: url, roles: new Set(["api"]) }));
  opened.keep({ end: () => service.stop() });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const ask = async (id: string, secret: string) => {
    const form = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    return (await send(service.port, "POST", "/v2/oauth/token", { rawBody: new URLSearchParams(form).toString(), headers }))
      .status;
  };
  for (const id of ["rotated", "over", "never"]) expect(await ask(id, "current")).toBe(200);
  expect([await ask("rotated", "previous"), await ask("over", "previous"), await ask("never", "")]).toEqual([200, 401, 401]);
  const grant = { clientId: "rotated", tenantId: tenant_id, slug: "shop", scope: scopes.join(" "), expiresInSeconds: 600 };
  const token = await service.issuer.mint(grant);
  expect((await send(service.port, "POST", "/v2/shop/clients/rotated/rotate-secret", { token })).status).toBe(200);
  for (const secret of ["current", "previous"]) expect(await ask("rotated", secret)).toBe(200);
});

const isEarlier = ({ name }: { name: string }) => name < "0016_labels.sql";

test("upgrade: outcomes that an earlier version stored become labels", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = opened.database(url);
  await migrate(database, readMigrations().filter(isEarlier));
  const tenant_id = randomUUID();
  const [case_id, prediction_id] = [randomUUID(), randomUUID()];
  const insert = (text: string, ...values: unknown[]) => database.query(statement(text, [tenant_id, ...values]));
  await insert("insert into tenants (tenant_id, slug, app_key, created_at) values ($1, 'labelled', 'key', $2)", at);
  await insert("insert into engine_turns (tenant_id) values ($1) on conflict do nothing");
  await database.transaction((tx) => makePartition(tx, at.slice(0, 10)));
  await insert(
    `insert into activities (tenant_id, received_at, id_key, occurred_at, score, origin, type, activity_id, prediction_id, document, decision)
     values ($1, $2, $3, $2, 5, 'server', 'payment', 'p', $4, '{}', '{}')`,
    at,
    randomUUID(),
    prediction_id,
  );
  await insert(
    `insert into cases (tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at,
       overall_risk_score, primary_fraud_label, recommended_action, document, has_new_evidence)
     values ($1, $2, 'account:a', 'a', false, 'CLOSED', 2, $3, 5, 'Organic', 'BLOCK', $4, false)`,
    case_id,
    at,
    JSON.stringify({ current_state: { status: "CLOSED" }, fraud_occurrences: { one: { prediction_id } } }),
  );
  await insert(
    `insert into outcomes (tenant_id, case_id, case_version, subject, website_account_id, disposition, decided_at, decided_by)
     values ($1, $2, 2, 'account:a', 'a', 'CONFIRMED_FRAUD', $3, 'crm')`,
    case_id,
    at,
  );
  await migrate(database);
  expect(await applyLabels({ database, clock }, tenant_id)).toEqual({ outcomes: 1, labels: 1 });
  const stored = await database.query(statement("select case_id, y, actor from labels where tenant_id = $1", [tenant_id]));
  expect(stored).toEqual([{ case_id, y: 1, actor: "crm" }]);
});

test("upgrade: a budget of cases a day that an earlier version stored is still the number that was sent", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = opened.database(url);
  await migrate(
    database,
    readMigrations().filter(({ name }) => name < "0022_exact_budget.sql"),
  );
  const tenant_id = randomUUID();
  const query = (text: string) => database.query(statement(text, [tenant_id]));
  await query("insert into tenants (tenant_id, slug, app_key, created_at) values ($1, 'frugal', 'key', now())");
  await database.transaction((tx) => lockSettings(tx, tenant_id, at));
  await query("update detection_settings set cases_per_day = 0.1 where tenant_id = $1");
  await migrate(database);
  expect(await query("select cases_per_day from detection_settings where tenant_id = $1")).toEqual([{ cases_per_day: 0.1 }]);
});
