import { expect, test } from "vitest";
import { shownValues, Stage, type Step } from "./stage.ts";

const owner = { website_account_id: "owner" };
const session = { session_id: "s1", device_id: "laptop" };
const headless = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36";
const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

// Browser events of the site at the given milliseconds.
function actions(times: number[], more: Partial<Step> = {}): Step[] {
  return times.map((ms) => ({ minute: ms / 60_000, type: "custom:check_stock", origin: "browser", ...session, ...more }));
}

const every = (ms: number, count: number) => Array.from({ length: count }, (_, index) => index * ms);

test("rule scripted_rhythm: 8 gaps of the same length open a Bot case for the account", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast(actions(every(2000, 9), { ...owner, identity: "signed" }));
  expect(last.rules).toEqual(["scripted_rhythm"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    session_id: "s1",
    details: {
      overall_risk_score: 4,
      primary_fraud_label: "Bot",
      recommended_action: "CHALLENGE",
      summary: "Actions came every 2,000 ms with almost no variation, which suggests a script.",
    },
  });
  expect(shownValues(found, "scripted_rhythm")).toEqual({
    "event.origin": "browser",
    "session.gaps": 8,
    "session.gap_spread": 0,
    "session.gap_mean_ms": 2000,
    "session.has_inputs": false,
    "session.inputs": 0,
  });
});

// Two alternating gaps with a mean of 1 s: their deviation is half of their difference.
const uneven = (count: number, spreadMs: number) =>
  Array.from({ length: count }, (_, index) => index * 1000 + (index % 2) * spreadMs);

test("rule scripted_rhythm: values just within each bound are enough", async () => {
  for (const [times, features] of [
    [uneven(9, 140), { "session.gaps": 8, "session.gap_spread": 0.14 }],
    [every(19_999, 9), { "session.gaps": 8, "session.gap_mean_ms": 19_999 }],
    [uneven(17, 390), { "session.gaps": 16, "session.gap_spread": 0.39 }],
    [uneven(17, 390).map((ms) => ms * 4.999), { "session.gaps": 16, "session.gap_mean_ms": 4999 }],
  ] as const) {
    const stage = await Stage.open();
    expect(await stage.playLast(actions([...times]))).toMatchObject({ rules: ["scripted_rhythm"], features });
  }
});

test("rule scripted_rhythm: if nobody is logged in, the case is about the device", async () => {
  const stage = await Stage.open();
  await stage.play(actions(every(2000, 9)));
  expect(await stage.onlyCase()).toMatchObject({ subject: "device:laptop", website_account_id: "UNKNOWN" });
});

test("rule scripted_rhythm: one gap less, slightly more spread, or slower actions are not enough", async () => {
  for (const [times, features] of [
    [every(2000, 8), { "session.gaps": 7 }],
    [uneven(9, 150), { "session.gaps": 8, "session.gap_spread": 0.15 }],
    [every(20_000, 9), { "session.gaps": 8, "session.gap_mean_ms": 20_000 }],
    // With fifteen gaps there is one more long gap than short ones.
    [uneven(16, 390), { "session.gaps": 15, "session.gap_spread": 0.38 }],
    [uneven(17, 400), { "session.gaps": 16, "session.gap_spread": 0.4 }],
    [uneven(17, 390).map((ms) => ms * 5), { "session.gaps": 16, "session.gap_mean_ms": 5000 }],
  ] as const) {
    const stage = await Stage.open();
    expect(await stage.playLast(actions([...times]))).toMatchObject({ rules: [], features });
  }
});

test("rule scripted_rhythm: preset page events, and events that a page records at once, have no rhythm", async () => {
  const stage = await Stage.open();
  const loads = actions(every(2000, 12), { type: "page_view" });
  const scrolls = actions(every(2000, 12), { type: "custom:_scroll" });
  const impressions = actions(every(1, 24), { type: "custom:impression" });
  const played = await stage.play([...loads, ...scrolls, ...impressions]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
});

test("rule bot_past_login: a headless browser that uses an account opens a Bot case for the account", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([{ minute: 0, type: "payment", ...owner, user_agent: headless }]);
  expect(last.rules).toEqual(["bot_past_login"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Bot",
      recommended_action: "MONITOR",
      summary: "A program uses the account. Bot user agent: yes. Automation reported by the browser: no.",
    },
  });
  expect(shownValues(found, "bot_past_login")).toMatchObject({ "event.is_bot_agent": true, "session.is_webdriver": false });
});

test("rule bot_past_login: server activity in a session whose browser is automated counts too", async () => {
  const stage = await Stage.open();
  const driven: Step = {
    minute: 0,
    type: "page_view",
    origin: "browser",
    ...session,
    user_agent: chrome,
    browser: { is_webdriver: true },
  };
  const played = await stage.play([driven, { minute: 1, type: "payment", ...owner, ...session }]);
  expect(played.map(({ rules }) => rules)).toEqual([[], ["bot_past_login"]]);
});

test("rule bot_past_login: a person's browser, a bot without a log-in, or a bot whose log-in fails is not enough", async () => {
  const stage = await Stage.open();
  const played = await stage.play([
    { minute: 0, type: "login_succeeded", ...owner, user_agent: chrome },
    { minute: 1, type: "page_view", origin: "browser", ...session, user_agent: headless, browser: { is_webdriver: true } },
    { minute: 2, type: "login_failed", ...owner, ...session, user_agent: headless },
  ]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  expect(await stage.cases()).toEqual([]);
});

// Visits of other people. In each of them a browser sent events and the server reported a log-in.
const othersVisits = Array.from({ length: 16 }, (_, index): Step[] => {
  const visit = { session_id: `other-${index}` };
  return [
    { minute: 0, type: "page_view", origin: "browser", ...visit },
    { minute: 0, type: "login_succeeded", website_account_id: `other-${index}`, ...visit },
  ];
}).flat();

test("rule no_browser: payments and changes in a session without browser events weigh 1, which opens no case alone", async () => {
  const stage = await Stage.open({}, 2);
  await stage.play(othersVisits);
  for (const type of ["payment", "transfer", "password_changed", "email_changed", "mfa_changed", "payee_added"]) {
    const last = await stage.playLast([{ minute: 1, type, ...owner, session_id: `${type}-session` }]);
    expect(last).toMatchObject({ rules: ["no_browser"], score: 2 });
  }
  expect(await stage.cases()).toEqual([]);
});

test("rule no_browser: together with another rule it raises the score", async () => {
  const stage = await Stage.open({}, 2);
  const habit = [0, 1, 2].map((minute): Step => ({ minute, type: "payment", ...owner, attributes: { amount: 50 } }));
  const changed: Step = { minute: 60, type: "payee_added", ...owner };
  await stage.play(othersVisits);
  await stage.play([
    ...habit,
    changed,
    { minute: 70, type: "transfer", ...owner, session_id: "s9", attributes: { amount: 200 } },
  ]);
  const found = await stage.onlyCase();
  expect(found.details).toMatchObject({
    overall_risk_score: 4,
    primary_fraud_label: "Account Takeover",
    recommended_action: "CHALLENGE",
    summary:
      "A transfer of 200 followed 10 minutes after a payee was added. Earlier payments of this account: 3. And more reasons.",
  });
  expect(found.details.highlights).toContain("No browser sent events in this session, although the site's pages normally do.");
  expect(shownValues(found, "no_browser")).toMatchObject({ "tenant.has_browser": true, "session.has_browser": false });
});

test("rule no_browser: after a usual log-in of somebody whose browser never sends events, it is not enough", async () => {
  const stage = await Stage.open({}, 2);
  const visits = [1, 2, 3, 4, 5].flatMap((minute): Step[] => {
    const visit = { ...owner, session_id: `visit-${minute}`, user_agent: chrome };
    return [
      { minute, type: "login_succeeded", ...visit },
      { minute: minute + 0.5, type: "payment", ...visit },
    ];
  });
  await stage.play(othersVisits);
  const last = await stage.playLast(visits);
  expect(last.features["login.ratio"]).toBeLessThan(0);
  expect(last.rules).toEqual([]);
});

test("rule no_browser: a session with a browser, other activity, no account, a late report, or a tenant without a collector is not enough", async () => {
  const silent = await Stage.open({}, 2);
  expect((await silent.playLast([{ minute: 1, type: "payment", ...owner, session_id: "s1" }])).rules).toEqual([]);
  const stage = await Stage.open({}, 2);
  await stage.play(othersVisits);
  const played = await stage.play([
    { minute: 0, type: "page_view", origin: "browser", session_id: "s1" },
    { minute: 1, type: "payment", ...owner, session_id: "s1" },
    { minute: 1, type: "login_succeeded", ...owner, session_id: "s2" },
    { minute: 1, type: "logout", ...owner, session_id: "s3" },
    { minute: 1, type: "payment", session_id: "s4" },
  ]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  const late = await Stage.open({}, 4);
  await late.play(othersVisits);
  expect((await late.playLast([{ minute: 1, type: "payment", ...owner, session_id: "s1" }])).rules).toEqual([]);
});
