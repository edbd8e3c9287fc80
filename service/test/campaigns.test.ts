import { expect, test } from "vitest";
import { listOwnOpenCases } from "../src/db/case-members.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { Stage, type StagedCase, type Step } from "./stage.ts";

const hour = 60;
const noId = "00000000-0000-0000-0000-000000000000";

// Somebody guesses the passwords of many accounts, each from four addresses that are used for nothing else.
function guessed(accounts: number, { from = 0, minute = 0 } = {}): Step[] {
  return Array.from({ length: 4 * accounts }, (_, index): Step => {
    const account = from + (index % accounts);
    const round = Math.floor(index / accounts);
    return {
      minute: minute + index / 10,
      type: "login_failed",
      website_account_id: `user-${account}`,
      ip: `198.${round}.${account % 256}.${Math.floor(account / 256)}`,
    };
  });
}

// Sources first, because cases of one batch may have the same time.
const placeOf = ({ website_account_id: account, subject }: StagedCase) => `${account === "UNKNOWN" ? 0 : 1}${subject}`;

async function sortedCases(stage: Stage): Promise<StagedCase[]> {
  return (await stage.cases()).toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

test("campaign: guesses at 40 accounts from 160 addresses are one case that lists the accounts as attacked", async () => {
  const stage = await Stage.open();
  await stage.play(guessed(40));
  const found = await stage.onlyCase();
  expect(found.website_account_id).toBe("UNKNOWN");
  expect(found.details.subject).toEqual({
    kind: "campaign",
    id: expect.stringMatching(/^stuffing_slow:\d{4}-\d\d-\d\dT\d\d:\d\dZ$/),
  });
  expect(found.details.members).toMatchObject({ count: 40, created: 0, entered: 0 });
  expect(found.details.members?.first).toContainEqual({ website_account_id: "user-0", state: "attacked" });
  // Accounts that are attacked later join it, and the version stays, so that it can be closed.
  await stage.play(guessed(10, { from: 40, minute: 2 * hour }));
  const joined = await stage.onlyCase();
  expect(joined.details.members).toMatchObject({ count: 50 });
  expect(joined.case_version).toBe(found.case_version);
});

test("campaign: after 12 quiet hours, the next attack is a new case, so one rule opens at most two a day", async () => {
  const stage = await Stage.open();
  await stage.play(guessed(3));
  await stage.play(guessed(3, { from: 3, minute: 11 * hour }));
  expect(await stage.cases()).toHaveLength(1);
  await stage.play(guessed(3, { from: 6, minute: 24 * hour }));
  const cases = await stage.cases();
  expect(cases.map(({ details }) => details.members?.count)).toEqual([6, 3]);
});

test("campaign: a log-in that succeeds opens the account's own case, which names the campaign's case", async () => {
  const stage = await Stage.open();
  await stage.play(guessed(20));
  await stage.play([{ minute: 10, type: "login_succeeded", website_account_id: "user-7", ip: "203.0.113.9" }]);
  const [campaign, own, ...more] = await sortedCases(stage);
  expect(more).toEqual([]);
  expect(own).toMatchObject({ subject: "account:user-7", website_account_id: "user-7" });
  expect(own?.details.campaign_case_id).toBe(campaign?.case_id);
  expect(campaign?.details.members).toMatchObject({ count: 20, entered: 1 });
  expect(campaign?.details.members?.first[0]).toEqual({ website_account_id: "user-7", state: "entered" });
});

test("campaign: an account that already has a case keeps it, and a decision about the campaign does not change it", async () => {
  const stage = await Stage.open();
  await stage.play([{ minute: 0, type: "fraud_report", website_account_id: "user-7" }, ...guessed(20)]);
  await stage.play([{ minute: 10, type: "login_succeeded", website_account_id: "user-7", ip: "203.0.113.9" }]);
  const own = (await stage.cases()).filter(({ website_account_id: account }) => account === "user-7");
  expect(own).toHaveLength(1);
  expect(own[0]?.details.campaign_case_id).toBeUndefined();
  expect(await ownCasesIn(stage)).toEqual([]);
});

async function ownCasesIn(stage: Stage): Promise<string[]> {
  const { database, tenantId } = stage.tenant;
  const sources = (await stage.cases()).filter(({ website_account_id: account }) => account === "UNKNOWN");
  const found = await Promise.all(
    sources.map(({ case_id }) => listOwnOpenCases(database, tenantId, { case_id, closed_to: noId, limit: 10 })),
  );
  return found.flat();
}

test("source: a stuffing attack is one case about its address, with every account that was tried and the ones entered", async () => {
  const stage = await Stage.open();
  const tried = Array.from({ length: 60 }, (_, index): Step => ({
    minute: index / 10,
    type: "login_failed",
    website_account_id: `user-${index}`,
    ip: "192.0.2.7",
    device_id: `fresh-${index}`,
  }));
  await stage.play(tried);
  await stage.play(
    [3, 30].map((index): Step => ({
      minute: 6 + index / 100,
      type: "login_succeeded",
      website_account_id: `user-${index}`,
      ip: "192.0.2.7",
    })),
  );
  const cases = await sortedCases(stage);
  expect(cases.map(({ subject }) => subject)).toEqual(["ip:192.0.2.7", "account:user-3", "account:user-30"]);
  const [source, ...own] = cases;
  expect(source?.details.subject).toEqual({ kind: "address", id: "192.0.2.7" });
  // The first seven were tried before anybody could tell that it was an attack; one of them was entered.
  expect(source?.details.members).toMatchObject({ count: 54, entered: 2 });
  for (const each of own) expect(each.details.campaign_case_id).toBe(source?.case_id);
  expect(new Set(await ownCasesIn(stage))).toEqual(new Set(own.map(({ case_id }) => case_id)));
});

// 60 customers without a history log in at an event, and everybody mistypes the password once.
const event: Step[] = Array.from({ length: 60 }, (_, index): Step[] => {
  const customer = { website_account_id: `customer-${index}`, ip: "203.0.113.80" };
  return [
    { minute: index / 3, type: "login_failed", ...customer },
    { minute: index / 3 + 0.2, type: "login_succeeded", ...customer },
  ];
}).flat();

test("source: an event's Wi-Fi where customers mistype their passwords is one case about the address, not one per customer", async () => {
  const stage = await Stage.open();
  await stage.play(event);
  const found = await stage.onlyCase();
  expect(found.subject).toBe("ip:203.0.113.80");
  expect(found.details.members?.entered).toBeGreaterThan(20);
});

test("source: among an event's customers, an account with evidence of its own still gets its own case", async () => {
  const stage = await Stage.open();
  const guess = { website_account_id: "customer-59", ip: "203.0.113.80" };
  const guesses = Array.from({ length: 10 }, (_, index): Step => ({ minute: 19 + index / 20, type: "login_failed", ...guess }));
  await stage.play([...event.slice(0, -2), ...guesses, { minute: 20, type: "login_succeeded", ...guess }]);
  const [source, own] = await sortedCases(stage);
  expect(own).toMatchObject({ subject: "account:customer-59" });
  expect(own?.details.campaign_case_id).toBe(source?.case_id);
});

test("source: an attacker who uses a new device and a new IPv6 network for every few tries does not open a case for each", async () => {
  for (const [type, tries] of [
    ["login_failed", 5],
    ["signup", 4],
  ] as const) {
    const stage = await Stage.open();
    await stage.play(
      Array.from({ length: 20 * tries }, (_, index): Step => {
        const turn = Math.floor(index / tries);
        const source = { device_id: `device-${turn}`, ip: `2001:db8:1:${turn}::1` };
        return { minute: index / 20, type, website_account_id: `user-${index}`, ...source };
      }),
    );
    const cases = await sortedCases(stage);
    // At first, each device counts as an attack, until the whole block does.
    expect(cases.length).toBeLessThanOrEqual(4);
    expect(cases.filter(({ subject }) => subject === "network:2001:db8:1::/48")).toHaveLength(1);
  }
});

const loginAt = (minute: number, type: string, account: string) => ({
  minute,
  type,
  website_account_id: account,
  ip: "192.0.2.7",
});

test("source: a list of accounts that an attacker has filled with invented names still shows the account that is entered", async () => {
  const stage = await Stage.open();
  await stage.play(Array.from({ length: 30 }, (_, index) => loginAt(index / 10, "login_failed", `tried-${index}`)));
  const { database, tenantId } = stage.tenant;
  // As if he had gone on for a while.
  await database.query(sql`
    update cases
    set document = regexp_replace(document, '"count":\\d+', '"count":100000')
    where tenant_id = ${tenantId}`);
  await stage.play([
    ...[1, 2, 3].map((index) => loginAt(4, "login_failed", `invented-${index}`)),
    loginAt(5, "login_succeeded", "tried-20"),
    loginAt(5, "login_succeeded", "entered"),
  ]);
  const source = (await stage.cases()).find(({ website_account_id: account }) => account === "UNKNOWN");
  expect(source?.details.members).toMatchObject({ count: 100_001, entered: 2 });
  expect(source?.details.members?.first.slice(0, 2).map((each) => each.website_account_id)).toEqual(["entered", "tried-20"]);
  const rows = await database.query(sql`
    select website_account_id, state
    from case_members
    where tenant_id = ${tenantId} and website_account_id not like 'tried-%'`);
  expect(rows).toEqual([{ website_account_id: "entered", state: "entered" }]);
});
