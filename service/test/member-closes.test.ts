import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { insertMemberCloses } from "../src/db/case-members.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { closeMembers } from "../src/engine/member-closes.ts";
import { Stage, type StagedCase } from "./stage.ts";

const login = (type: string, index: number) => ({
  minute: index / 10,
  type,
  website_account_id: `user-${index % 100}`,
  ip: "192.0.2.7",
});

const crash = () => {
  throw new Error("a crash");
};

// Somebody tries 30 accounts from one address and gets into three of them. Then the attack's case is closed with its members.
async function closedAttack(): Promise<{ stage: Stage; source: StagedCase; own: StagedCase[] }> {
  const stage = await Stage.open();
  await stage.play(Array.from({ length: 30 }, (_, index) => login("login_failed", index)));
  await stage.play([110, 111, 112].map((index) => login("login_succeeded", index)));
  const cases = await stage.cases();
  const source = cases.find(({ website_account_id: account }) => account === "UNKNOWN");
  if (!source) throw new Error("there is no case about the source");
  const own = cases.filter(({ details }) => details.campaign_case_id === source.case_id).toSorted(byId);
  expect(own).toHaveLength(3);
  await stage.decide(source.case_id, { status: "CLOSED", disposition: "CONFIRMED_FRAUD" });
  await insertMemberCloses(stage.tenant.database, stage.tenant.tenantId, [source.case_id]);
  return { stage, source, own };
}

const byId = (a: StagedCase, b: StagedCase) => (a.case_id < b.case_id ? -1 : 1);

const closeNext = ({ tenant: { database, tenantId } }: Stage) => closeMembers({ database, clock }, tenantId, 1);

async function statuses(stage: Stage, own: StagedCase[]): Promise<(string | undefined)[]> {
  const found = new Map((await stage.cases()).map(({ case_id, status }) => [case_id, status]));
  return own.map(({ case_id }) => found.get(case_id));
}

const waiting = ({ tenant: { database, tenantId } }: Stage) =>
  database.query(sql`select case_id from member_closes where tenant_id = ${tenantId}`);

test("member closes: each batch continues after the previous one, does not close a reopened case again, and stores outcomes", async () => {
  const { stage, own } = await closedAttack();
  expect(await closeNext(stage)).toBe(1);
  expect(await statuses(stage, own)).toEqual(["CLOSED", "OPEN", "OPEN"]);
  await stage.decide(own[0]?.case_id ?? "", { status: "OPEN" });
  expect([await closeNext(stage), await closeNext(stage), await closeNext(stage)]).toEqual([1, 1, 0]);
  expect(await statuses(stage, own)).toEqual(["OPEN", "CLOSED", "CLOSED"]);
  expect(await waiting(stage)).toEqual([]);
  const { database, tenantId } = stage.tenant;
  const outcomes = await database.query<{ disposition: string; decided_by: string }>(sql`
    select disposition, decided_by from outcomes where tenant_id = ${tenantId} and website_account_id <> 'UNKNOWN'`);
  expect(outcomes).toEqual([own[1], own[2]].map(() => ({ disposition: "CONFIRMED_FRAUD", decided_by: "somebody" })));
});

test("member closes: reopening the attack's case stops them", async () => {
  const { stage, source, own } = await closedAttack();
  await closeNext(stage);
  await stage.decide(source.case_id, { status: "OPEN" });
  expect(await closeNext(stage)).toBe(0);
  expect(await statuses(stage, own)).toEqual(["CLOSED", "OPEN", "OPEN"]);
  expect(await waiting(stage)).toEqual([]);
});

test("member closes: a batch that fails leaves no trace, and the next one closes the same cases", async () => {
  const { stage, own } = await closedAttack();
  const { database, tenantId } = stage.tenant;
  await expect(closeMembers({ database, clock: { ...clock, newId: crash } }, tenantId)).rejects.toThrow("a crash");
  expect(await statuses(stage, own)).toEqual(["OPEN", "OPEN", "OPEN"]);
  expect(await closeMembers({ database, clock }, tenantId)).toBe(3);
});
