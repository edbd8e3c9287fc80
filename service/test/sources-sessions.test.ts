import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { Stage, type Step } from "./stage.ts";

const own = { session_id: "s", device_id: "burner", ip: "198.51.100.7" };
const server = (minute: number, type: string, account: string, more: Partial<Step> = {}): Step => ({
  minute,
  type,
  website_account_id: account,
  ...own,
  ...more,
});

async function ownerOf({ tenant }: Stage, session: string): Promise<string | null | undefined> {
  const text = "select website_account_id from sessions where tenant_id = $1 and session_id = $2";
  const [row] = await tenant.database.query<{ website_account_id: string | null }>(statement(text, [tenant.tenantId, session]));
  return row?.website_account_id;
}

async function lastSessionOf({ tenant }: Stage, account: string): Promise<unknown> {
  const text = "select last_session_updated_on from accounts where tenant_id = $1 and website_account_id = $2";
  const [row] = await tenant.database.query<{ last_session_updated_on: unknown }>(statement(text, [tenant.tenantId, account]));
  return row?.last_session_updated_on;
}

test("sessions: a failed log-in does not give its session to the account that it names", async () => {
  const stage = await Stage.open();
  await stage.play([server(0, "login_succeeded", "victim", { session_id: "home", device_id: "phone" })]);
  const before = await lastSessionOf(stage, "victim");
  await stage.play([server(10, "login_failed", "victim")]);
  expect(await ownerOf(stage, "s")).toBeNull();
  expect(await lastSessionOf(stage, "victim")).toEqual(before);
  expect(before).not.toBeNull();
});

test("sessions: a report gives its session to the account that it names", async () => {
  const stage = await Stage.open();
  await stage.play([server(0, "fraud_report", "victim")]);
  expect(await ownerOf(stage, "s")).toBe("victim");
});

test("sessions: a thief's session stays with the account it was signed in to after a wrong password elsewhere", async () => {
  const stage = await Stage.open();
  await stage.play([server(0, "login_succeeded", "victim")]);
  await stage.play([server(5, "login_failed", "somebody")]);
  expect(await ownerOf(stage, "s")).toBe("victim");
  await stage.play([server(6, "login_succeeded", "somebody")]);
  expect(await ownerOf(stage, "s")).toBe("somebody");
});

test("sessions: a page that sends an old time does not make its device old", async () => {
  const stage = await Stage.open({}, 4);
  await stage.play([{ minute: -60 * 24 * 60, type: "page_view", origin: "browser", ...own }]);
  const paid = await stage.playLast([server(230, "payment", "victim", { attributes: { amount: 10 } })]);
  expect(paid.features["device.is_known"]).toBe(true);
  expect(paid.features["device.age_minutes"] ?? 0).toBe(0);
});

test("sessions: a signed page that sends an old time makes neither its device nor its account old", async () => {
  const stage = await Stage.open({}, 4);
  const signed = { type: "login_succeeded", origin: "browser", identity: "signed", website_account_id: "made today" } as const;
  const [said] = await stage.play([{ minute: -60 * 24 * 60, ...signed, ...own }]);
  const paid = await stage.playLast([server(230, "payment", "made today", { attributes: { amount: 10 } })]);
  for (const features of [said?.features, paid.features]) {
    expect(features).toMatchObject({ "device.is_known": true, "account.is_known": true });
    expect([features?.["device.age_minutes"] ?? 0, features?.["account.age_minutes"] ?? 0]).toEqual([0, 0]);
  }
});
