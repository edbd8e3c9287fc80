import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { Stage, type Step } from "./stage.ts";

// How far each source is trusted, tested with the real engine. In most tests the tenant's servers report its accounts.
const owner = { website_account_id: "owner" };
const home = { device_id: "phone", ip: "192.0.2.10" };
const thief = { device_id: "burner", ip: "198.51.100.7" };

const server = (minute: number, type: string, more: Partial<Step> = {}): Step => ({ minute, type, ...more });
const page = (minute: number, type: string, more: Partial<Step> = {}): Step => ({ minute, type, origin: "browser", ...more });

// A shop whose server has reported one log-in.
const spoken = server(0, "login_succeeded", {
  website_account_id: "somebody",
  session_id: "other",
  device_id: "other",
  ip: "203.0.113.9",
});

const bot = { browser: { is_webdriver: true } };

async function accountsOf({ tenant }: Stage): Promise<string[]> {
  const text = "select website_account_id from accounts where tenant_id = $1 order by 1";
  const rows = await tenant.database.query<{ website_account_id: string }>(statement(text, [tenant.tenantId]));
  return rows.map((row) => row.website_account_id);
}

async function linksOf({ tenant }: Stage, account: string): Promise<string[]> {
  const text = "select b from links where tenant_id = $1 and a = $2 order by 1";
  const rows = await tenant.database.query<{ b: string }>(statement(text, [tenant.tenantId, account]));
  return rows.map((row) => row.b);
}

async function namedIn({ tenant }: Stage, activityId: string): Promise<{ account: string | null; claimed: string | null }> {
  const text =
    "select website_account_id as account, claimed_account_id as claimed from activities where tenant_id = $1 and activity_id = $2";
  const [row] = await tenant.database.query<{ account: string | null; claimed: string | null }>(
    statement(text, [tenant.tenantId, activityId]),
  );
  if (!row) throw new Error(`${activityId} was not stored`);
  return row;
}

test("claim: an unverified page that names an account creates no account, no link and no case on that account", async () => {
  const stage = await Stage.open();
  await stage.play([spoken]);
  const events = Array.from({ length: 12 }, (_, index) =>
    page(1 + index / 60, "login_succeeded", { ...owner, ...thief, session_id: "s1", ...bot }),
  );
  const last = await stage.playLast(events);
  expect(last.features).toMatchObject({ "event.source": "page" });
  expect(Object.keys(last.features).filter((name) => name.startsWith("account."))).toEqual(["account.is_known"]);
  expect(await accountsOf(stage)).toEqual(["somebody"]);
  expect(await linksOf(stage, "owner")).toEqual([]);
  for (const found of await stage.cases())
    expect(found).toMatchObject({ subject: "device:burner", website_account_id: "UNKNOWN" });
  expect(await namedIn(stage, last.activity_id)).toEqual({ account: null, claimed: "owner" });
});

test("claim: suspicious activity of an unverified page opens a case about its source, with score 3 and MONITOR", async () => {
  const stage = await Stage.open();
  await stage.play([spoken]);
  const rhythm = Array.from({ length: 20 }, (_, index) =>
    page(1 + index / 30, "custom:check_stock", { ...owner, ...thief, session_id: "s1" }),
  );
  const last = await stage.playLast(rhythm);
  expect(last).toMatchObject({ rules: ["scripted_rhythm"], score: 3 });
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "device:burner", website_account_id: "UNKNOWN" });
  expect(found.details).toMatchObject({ overall_risk_score: 3, recommended_action: "MONITOR", claimed_accounts: ["owner"] });
  const [occurrence] = Object.values(found.fraud_occurrences);
  expect(occurrence?.explanation).toMatchObject({ evidence_source: "page", evidence: "claimed by a page" });
});

test("tie: a server activity of the same session verifies the page, back to the session's start", async () => {
  const stage = await Stage.open();
  const session = { ...owner, ...home, session_id: "s1" };
  const [before, login, after] = await stage.play([
    page(0, "custom:open_basket", session),
    server(1, "login_succeeded", session),
    page(2, "custom:open_basket", session),
  ]);
  for (const each of [before, after]) expect(each?.features).toMatchObject({ "event.source": "verified_session" });
  expect(login?.features).not.toHaveProperty("event.source");
  const later = await stage.playLast([page(3, "custom:open_basket", session)]);
  expect(later.features).toMatchObject({ "event.source": "verified_session", "account.is_known": true });
});

test("tie: events that a page sent before its session was tied belong to the account from then on", async () => {
  const stage = await Stage.open();
  const session = { ...owner, ...home, session_id: "s1" };
  await stage.play([spoken]);
  const early = await stage.playLast([page(1, "custom:open_basket", session)]);
  expect(await namedIn(stage, early.activity_id)).toEqual({ account: null, claimed: "owner" });
  await stage.play([server(2, "login_succeeded", session)]);
  expect(await namedIn(stage, early.activity_id)).toEqual({ account: "owner", claimed: null });
});

test.each(["login_failed", "fraud_report", "custom:reset_asked"])(
  "tie: a server's %s verifies nobody, because anybody can cause it",
  async (type) => {
    const stage = await Stage.open();
    const session = { ...owner, ...thief, session_id: "s1" };
    await stage.play([server(0, type, session)]);
    const said = await stage.playLast([page(1, "custom:open_basket", { ...session, ...bot })]);
    expect(said.features).toMatchObject({ "event.source": "page" });
  },
);

test("tie: a session tied to one account does not verify another", async () => {
  const stage = await Stage.open();
  await stage.play([server(0, "login_succeeded", { website_account_id: "mallory", ...thief, session_id: "s1" })]);
  const said = await stage.playLast([page(1, "payment", { ...owner, ...thief, session_id: "s1", ...bot })]);
  expect(said.features).toMatchObject({ "event.source": "page" });
  expect(await accountsOf(stage)).toEqual(["mallory"]);
});

test("tie: a server that names only the device verifies the session that was open on it, and no later one", async () => {
  const stage = await Stage.open({}, 2);
  const at = (minute: number) => ({ received_at: stage.at(minute) });
  const login = server(1, "login_succeeded", { ...owner, ...home, ...at(1) });
  const early = page(0.5, "page_view", { device_id: "phone", session_id: "s1", ...at(0.5) });
  const [, , said] = await stage.play([early, login, page(2, "custom:x", { ...owner, ...home, session_id: "s1", ...at(2) })]);
  expect(said?.features).toMatchObject({ "event.source": "verified_session" });
  const next = await stage.playLast([page(20, "custom:x", { ...owner, ...home, session_id: "s2", ...at(20) })]);
  expect(next.features).toMatchObject({ "event.source": "page" });
});

test("signature: a signed event verifies itself and its session, and a bad token verifies nothing", async () => {
  const stage = await Stage.open();
  await stage.play([spoken]);
  const session = { ...owner, ...home, session_id: "s1" };
  const [bad, signed, after] = await stage.play([
    page(1, "custom:x", { ...owner, ...home, session_id: "s2", identity: "bad-token" }),
    page(2, "custom:x", { ...session, identity: "signed" }),
    page(3, "custom:x", session),
  ]);
  expect(bad?.features).toMatchObject({ "event.source": "page" });
  for (const each of [signed, after]) expect(each?.features).toMatchObject({ "event.source": "verified_session" });
  expect(await accountsOf(stage)).toEqual(["owner", "somebody"]);
});

test("signature: only one log-in per session is learned from a page, so that a thief's device does not become a usual one", async () => {
  const stage = await Stage.open();
  const session = { ...owner, ...thief, session_id: "s1", identity: "signed" as const };
  await stage.play(Array.from({ length: 30 }, (_, index) => page(index / 10, "login_succeeded", session)));
  const next = await stage.playLast([page(60, "login_succeeded", { ...session, session_id: "s2" })]);
  expect(next.features).toMatchObject({ "account.logins": 1, "ip.logins_1h": 1 });
});

// Two weeks of the owner's activity, then a thief. Returns the log-odds of the thief's actions.
async function takeOver(forged: (minute: number) => Step[]): Promise<number[]> {
  const stage = await Stage.open();
  const day = 24 * 60;
  const logins = Array.from({ length: 12 }, (_, index) =>
    server(index * day, "login_succeeded", { ...owner, ...home, session_id: `home-${index}`, user_agent: "a" }),
  );
  const payments = [2, 4, 6].map((index) =>
    server(index * day + 5, "payment", { ...owner, ...home, attributes: { amount: 20 } }),
  );
  await stage.play([...forged(0), spoken]);
  await stage.play([...logins, ...payments, ...forged(13 * day)]);
  const stolen = { ...owner, ...thief, session_id: "stolen", user_agent: "b" };
  const acts = [
    server(14 * day, "login_succeeded", stolen),
    server(14 * day + 1, "email_changed", stolen),
    server(14 * day + 2, "transfer", { ...stolen, attributes: { amount: 900 } }),
  ];
  const played: number[] = [];
  for (const act of acts) {
    const { activity_id } = await stage.playLast([...forged(act.minute - 0.1), act]);
    const text = "select decision from activities where tenant_id = $1 and activity_id = $2";
    const [row] = await stage.tenant.database.query<{ decision: string }>(statement(text, [stage.tenant.tenantId, activity_id]));
    played.push(JSON.parse(row?.decision ?? "{}").l);
  }
  return played;
}

test("hide: forged log-ins and amounts do not change a takeover's log-odds", async () => {
  const honest = await takeOver(() => []);
  const forged = await takeOver((minute) =>
    Array.from({ length: 40 }, (_, index) => [
      page(minute + index / 1000, "login_succeeded", { ...owner, ...thief, session_id: `forged-${index}`, user_agent: "b" }),
      page(minute + index / 1000, "login_succeeded", { ...owner, ...thief, session_id: "stolen", user_agent: "b" }),
      page(minute + index / 1000, "payment", { ...owner, ...thief, session_id: "stolen", attributes: { amount: 5000 } }),
      page(minute + index / 1000, "login_succeeded", { website_account_id: `x${index}`, ...thief, user_agent: "b" }),
    ]).flat(),
  );
  expect(Math.max(...honest)).toBeGreaterThan(6);
  expect(forged).toEqual(honest);
});

const failures = (minute: number, index: number) =>
  server(minute, "login_failed", { website_account_id: `victim-${index}`, ip: thief.ip });

test("hide: forged successes and failures do not hide the stuffing from an address", async () => {
  const rules: string[][] = [];
  for (const isForged of [false, true]) {
    const stage = await Stage.open();
    const steps = Array.from({ length: 12 }, (_, index) => [
      ...(isForged
        ? Array.from({ length: 20 }, (_each, extra) => [
            page(index / 10, "login_succeeded", { website_account_id: `made-up-${index}-${extra}`, ...thief }),
            page(index / 10, "login_failed", { website_account_id: "one", ...thief }),
          ]).flat()
        : []),
      failures(index / 10 + 0.001, index),
    ]).flat();
    const played = await stage.play(steps);
    rules.push(played.filter((_, index) => steps[index]?.origin !== "browser").map((each) => each.rules.join()));
  }
  expect(rules[0]?.join()).toContain("stuffing_address");
  expect(rules[1]).toEqual(rules[0]);
});

test("accuse: forged sign-ups from a shared address do not accuse people who sign up there", async () => {
  const stage = await Stage.open();
  const forged = Array.from({ length: 40 }, (_, index) =>
    page(1 + index / 100, "signup", { website_account_id: `f${index}`, ...thief }),
  );
  const innocent = server(3, "signup", { website_account_id: "innocent", device_id: "own", ip: thief.ip });
  const played = await stage.playLast([spoken, ...forged, innocent]);
  expect(played).toMatchObject({ rules: [], score: 1 });
  expect(played.features).toMatchObject({ "ip.signups_1h": 1 });
});

test("steer: unverified pages do not make sessions without browser events suspicious", async () => {
  const stage = await Stage.open();
  await stage.play(
    Array.from({ length: 50 }, (_, index) => page(index / 10, "page_view", { ...thief, session_id: `s${index}` })),
  );
  const change = await stage.playLast([server(30, "email_changed", { ...owner, ...home, session_id: "quiet" })]);
  expect(change.features).not.toHaveProperty("tenant.has_browser");
});
