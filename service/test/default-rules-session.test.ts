import { expect, test } from "vitest";
import { addressIn, shownValues, Stage, withCountries, type Step } from "./stage.ts";

const day = 24 * 60;
const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const updated = chrome.replace("142.", "143.");
const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0";
const home = { user_agent: chrome, ip: addressIn("Berlin"), browser: { screen: "1920x1080" } };
const elsewhere = addressIn("Lagos");

const act = (minute: number, type: Step["type"], more: Partial<Step> = {}): Step => ({
  minute,
  type,
  website_account_id: "owner",
  session_id: `session-${Math.floor(minute / day)}`,
  device_id: "own-laptop",
  ...home,
  ...more,
});
// Six log-ins on six days. On the last one, the session goes on.
const before = [0, 1, 2, 3, 4, 5].map((days) => act(days * day, "login_succeeded"));
const today = 5 * day;
const transfer = (minute: number, more: Partial<Step> = {}): Step =>
  act(today + minute, "transfer", { attributes: { amount: 20 }, ...more });

test("rule moved_session: another browser in another network continues the session, and its transfer opens a case", async () => {
  const stage = await Stage.open(withCountries());
  const stolen = { user_agent: firefox, ip: elsewhere };
  const last = await stage.playLast([...before, transfer(5), act(today + 20, "page_view", stolen), transfer(22, stolen)]);
  expect(last.rules).toEqual(["moved_session"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    details: { overall_risk_score: 3, primary_fraud_label: "Account Takeover" },
  });
  expect(found.details.summary).toMatch(
    "The session went on in another browser and another network (NG) without a log-in: transfer. Minutes since the network changed: 2.",
  );
  expect(shownValues(found, "moved_session")).toMatchObject({
    "session.agent_changed": true,
    "session.network_changed": true,
    "account.asn_is_new": true,
    "account.ip_is_known": false,
  });
});

test.each(["password_changed", "email_changed", "mfa_changed", "payee_added", "payment"] as const)(
  "rule moved_session: it fires for %s too",
  async (type) => {
    const stage = await Stage.open(withCountries());
    const last = await stage.playLast([...before, act(today + 20, type, { user_agent: firefox, ip: elsewhere })]);
    expect(last.rules).toEqual(["moved_session"]);
    await stage.onlyCase();
  },
);

test("rule moved_session: a copied user agent does not hide another screen in another country", async () => {
  const stage = await Stage.open(withCountries());
  const stolen = { ip: elsewhere, browser: { screen: "1366x768" } };
  const last = await stage.playLast([...before, transfer(20, stolen)]);
  expect(last.rules).toEqual(["moved_session"]);
});

test.each([
  ["only the network changes", [{ ip: elsewhere }]],
  ["the browser was updated at home", [{ user_agent: updated }]],
  [
    "the browser was updated at home, and the network changed later",
    [{ user_agent: updated }, { user_agent: updated, ip: elsewhere }],
  ],
  ["a monitor is used at home", [{ browser: { screen: "2560x1440" } }]],
  ["a monitor is used elsewhere in the country", [{ ip: addressIn("Munich"), browser: { screen: "2560x1440" } }]],
  ["the page sends no screen", [{ ip: elsewhere, browser: {} }]],
] as [string, Partial<Step>[]][])("rule moved_session: it does not fire if %s", async (_what, changes) => {
  const stage = await Stage.open(withCountries());
  const last = await stage.playLast([...before, ...changes.map((each, index) => transfer(20 + 30 * index, each))]);
  expect(last.rules).toEqual([]);
  expect(await stage.cases()).toEqual([]);
});

test("rule moved_session: another browser is not enough at an address from which the account has logged in before", async () => {
  const stage = await Stage.open(withCountries());
  const office = act(3.5 * day, "login_succeeded", { ip: elsewhere, session_id: "office" });
  const last = await stage.playLast([...before, office, transfer(20, { user_agent: firefox, ip: elsewhere })]);
  expect(last.rules).toEqual([]);
});

test("rule moved_session: a new version of the browser is not enough in a session that is continued days later", async () => {
  const stage = await Stage.open(withCountries());
  const later = { session_id: "session-5", user_agent: updated, ip: elsewhere };
  const last = await stage.playLast([...before, transfer(2 * day, later)]);
  expect(last.rules).toEqual([]);
});

test("attack: a page that lies about somebody else's session does not make that session look moved", async () => {
  const stage = await Stage.open(withCountries());
  const lie = act(today + 10, "page_view", { origin: "browser", user_agent: firefox, ip: elsewhere, device_id: "thief" });
  const last = await stage.playLast([...before, lie, transfer(20)]);
  expect(last.rules).not.toContain("moved_session");
});

test("attack: a page that claims an old time in the session does not hide that the session moved", async () => {
  const stage = await Stage.open(withCountries());
  const stolen = { user_agent: firefox, ip: elsewhere };
  const old = act(today - 3 * day, "page_view", { ...stolen, origin: "browser", session_id: "session-5" });
  await stage.play(before);
  await stage.play([old]);
  const last = await stage.playLast([transfer(20, stolen)]);
  expect(last.rules).toEqual(["moved_session"]);
});
