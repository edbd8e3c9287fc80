import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { findAnswers, insertAssessments, saveAnswers } from "../src/db/assessments.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { activityOf, drain, iso, labDetector, labNowMs, newTenant, useLab } from "./engine-lab.ts";

const lab = useLab();

function assessmentOf(id: string, account = `account-${id}`) {
  const activity = activityOf({ activity_id: id, type: "logout", occurred_at: iso(labNowMs), website_account_id: account });
  return { activity: { ...activity, prediction_id: randomUUID() }, fingerprint: Buffer.from(id) };
}

async function accept(tenantId: string, ...given: ReturnType<typeof assessmentOf>[]) {
  const database = lab.current.database.forTenant(tenantId);
  return insertAssessments(database, tenantId, { given, mustNotify: false });
}

async function scoredOf(tenantId: string): Promise<string[]> {
  const rows = await lab.current.database.query<{ activity_id: string }>(
    sql`select activity_id from activities where tenant_id = ${tenantId} order by activity_id`,
  );
  return rows.map((row) => row.activity_id);
}

test("assessments stored together: each is new, known or in conflict on its own, and every activity is scored once", async () => {
  const tenantId = await newTenant(lab.current);
  const [a, b, c] = [assessmentOf("a"), assessmentOf("b"), assessmentOf("c")];
  expect(await accept(tenantId, b)).toMatchObject([{ outcome: "new" }]);
  const other = { ...b, fingerprint: Buffer.from("another request") };
  const again = { ...assessmentOf("c"), fingerprint: c.fingerprint };
  expect(await accept(tenantId, a, b, other, c, again)).toMatchObject([
    { outcome: "new" },
    { outcome: "known", prediction_id: b.activity.prediction_id, received_at: b.activity.received_at, reply: null },
    { outcome: "conflict" },
    { outcome: "new" },
    { outcome: "known", prediction_id: c.activity.prediction_id, reply: null },
  ]);
  expect(await accept(tenantId, a, c)).toMatchObject([{ outcome: "known" }, { outcome: "known" }]);
  expect(await drain(labDetector(lab.current.database), tenantId)).toBe(3);
  expect(await scoredOf(tenantId)).toEqual(["a", "b", "c"]);
});

test("assessments stored together: more than fit into one parcel, with text outside ASCII, are all scored", async () => {
  const tenantId = await newTenant(lab.current);
  const all = Array.from({ length: 300 }, (_, n) => assessmentOf(`each-${n}`, `käthe-\u0001-"${n}"-\ud83d\ude00`));
  expect(new Set((await accept(tenantId, ...all)).map(({ outcome }) => outcome))).toEqual(new Set(["new"]));
  expect(await drain(labDetector(lab.current.database), tenantId)).toBe(300);
  const rows = await lab.current.database.query<{ website_account_id: string }>(
    sql`select website_account_id from activities where tenant_id = ${tenantId}`,
  );
  expect(rows.map((row) => row.website_account_id).toSorted()).toEqual(
    all.map(({ activity }) => activity.website_account_id ?? "").toSorted(),
  );
});

test("assessments stored together: of two senders of the same activities, each is stored by one", async () => {
  const tenantId = await newTenant(lab.current);
  const all = Array.from({ length: 50 }, (_, n) => assessmentOf(`each-${n}`));
  const outcomes = await Promise.all([accept(tenantId, ...all), accept(tenantId, ...all.toReversed())]);
  const stored = outcomes.flat().filter(({ outcome }) => outcome === "new");
  expect(new Set(stored.map(({ id_key }) => id_key)).size).toBe(50);
  expect(stored).toHaveLength(50);
  expect(outcomes.flat().filter(({ outcome }) => outcome === "known")).toHaveLength(50);
  expect(await drain(labDetector(lab.current.database), tenantId)).toBe(50);
});

test("assessments: an answer is stored once, and the first stays", async () => {
  const tenantId = await newTenant(lab.current);
  const [accepted] = await accept(tenantId, assessmentOf("a"));
  const answer = { id_key: accepted?.id_key ?? "", reply: "first" };
  const { database } = lab.current;
  expect(await database.transaction((tx) => saveAnswers(tx, tenantId, [answer]))).toEqual(new Set([answer.id_key]));
  expect(await database.transaction((tx) => saveAnswers(tx, tenantId, [{ ...answer, reply: "second" }]))).toEqual(new Set());
  expect(await findAnswers(database, tenantId, [answer.id_key])).toEqual([answer]);
});
