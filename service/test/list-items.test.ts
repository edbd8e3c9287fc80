// The items of a list are stored as text with their cases. These tests make the text and the case differ, as other releases may.
import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertCase, saveCases } from "../src/db/cases.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { changeStatus, openCase, type CaseDocument } from "../src/domain/case.ts";
import { checkFinding } from "../src/domain/random-check.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });
const nowMs = Date.parse("2026-03-01T12:34:56.007Z");
const iso = (ms: number) => new Date(ms).toISOString();

// Ordinary ids, ids that look like the end of an item, and ids that need escaping.
const accounts = [
  "ann",
  'x"},{"end_user_is_blocked":true,"case_id":"forged',
  "},{",
  'back\\slash "quoted"',
  "tab\there, line\nthere, and \u0001 and \u001f and \u007f",
  "Zoë – 名前 – 😀",
  "'; drop table cases; --",
  "UNKNOWN",
];

function documentOf({ tenantId }: TestTenant, account: string, index: number): CaseDocument {
  const createdMs = nowMs + index * 1_000;
  const id = uuidV7(createdMs, randomBytes(10));
  const ids = { case_id: id, state_id: randomUUID(), occurrence_id: randomUUID(), prediction_id: randomUUID() };
  const finding = checkFinding({ moment: "entry", score: index % 2 === 0 ? 1 : 2 });
  const opened = openCase({ tenant_id: tenantId, website_account_id: account }, finding, ids, iso(createdMs)).document;
  return index % 3 === 0 ? { ...opened, due_at: iso(createdMs + 60_000) } : opened;
}

async function seed(tenant: TestTenant): Promise<CaseDocument[]> {
  const documents = accounts.map((account, index) => documentOf(tenant, account, index));
  await tenant.service.database.transaction(async (tx) => {
    for (const [index, document] of documents.entries())
      await insertCase(tx, { document, subject: `seed:${index}`, end_user_is_blocked: index % 4 === 1 });
  });
  return documents;
}

const change = ({ service: { database }, tenantId }: TestTenant, set: string) =>
  database.query(statement(`update cases set ${set} where tenant_id = $1`, [tenantId]));

const sorts = ["created_at", "-created_at", "-updated_at", "-overall_risk_score", "due_at"];

async function listed(tenant: TestTenant): Promise<string[]> {
  return Promise.all(sorts.map(async (sort) => (await tenant.call("GET", `/cases?sort=${sort}`)).text));
}

test("list items: a stored item is the same as the item built from the columns, byte for byte", async () => {
  const tenant = await TestTenant.create(service.current);
  const documents = await seed(tenant);
  const stored = await listed(tenant);
  await change(tenant, "item = null, item_version = null");
  expect(await listed(tenant)).toEqual(stored);
  const { cases } = JSON.parse(stored[0] ?? "").data;
  expect(cases).toEqual(
    documents.map((document, index) => ({
      case_id: document.case_id,
      website_account_id: accounts[index],
      end_user_is_blocked: index % 4 === 1,
      status: "OPEN",
      case_version: 1,
      created_at: document.created_at,
      updated_at: null,
      overall_risk_score: document.details.overall_risk_score,
      primary_fraud_label: document.details.primary_fraud_label,
      recommended_action: document.details.recommended_action,
      ...(document.due_at !== undefined && { due_at: document.due_at }),
    })),
  );
});

test("list items: a case that another release has changed is listed as it is now", async () => {
  const tenant = await TestTenant.create(service.current);
  await seed(tenant);
  await change(
    tenant,
    "status = 'CLOSED', case_version = case_version + 1, updated_at = '2026-04-01T00:00:00Z', end_user_is_blocked = true",
  );
  const [text = ""] = await listed(tenant);
  for (const each of JSON.parse(text).data.cases)
    expect(each).toMatchObject({
      status: "CLOSED",
      case_version: 2,
      updated_at: "2026-04-01T00:00:00.000Z",
      end_user_is_blocked: true,
    });
});

test("list items: a change of a case changes its item", async () => {
  const tenant = await TestTenant.create(service.current);
  const documents = await seed(tenant);
  const actor = { name: "Ada", state_id: randomUUID(), now: iso(nowMs + 90_000) };
  const saved = documents.map((document, index) => ({
    document: changeStatus(document, { status: "CLOSED", case_version: 1 }, actor).document,
    subject: `seed:${index}`,
    end_user_is_blocked: false,
  }));
  await tenant.service.database.transaction((tx) => saveCases(tx, tenant.tenantId, saved));
  const stored = await listed(tenant);
  for (const each of JSON.parse(stored[0] ?? "").data.cases)
    expect(each).toMatchObject({ status: "CLOSED", case_version: 2, updated_at: actor.now });
  await change(tenant, "item = null, item_version = null");
  expect(await listed(tenant)).toEqual(stored);
});

test.each(sorts)("list items: pages by %s end between items, whatever the accounts are called", async (sort) => {
  const tenant = await TestTenant.create(service.current);
  await seed(tenant);
  const whole = JSON.parse((await tenant.call("GET", `/cases?sort=${sort}`)).text).data.cases;
  for (const limit of [1, 2, 3, accounts.length]) {
    const found: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const path = `/cases?sort=${sort}&limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { data } = JSON.parse((await tenant.call("GET", path)).text);
      expect(data.cases.length).toBeLessThanOrEqual(limit);
      found.push(...data.cases);
      cursor = data.next_cursor;
    }
    expect(found).toEqual(whole);
  }
});
