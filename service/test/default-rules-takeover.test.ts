import { expect, test } from "vitest";
import { addressIn, shownValues, Stage, withCountries, withPlaces, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;
const owner = { website_account_id: "owner" };

function login(minute: number, more: Partial<Step> = {}): Step {
  return { minute, type: "login_succeeded", ...owner, device_id: "own-phone", ...more };
}

function failed(count: number, from: number, every: number): Step[] {
  return Array.from({ length: count }, (_, index) => ({ minute: from + index * every, type: "login_failed", ...owner }));
}

test("rule success_after_failures: a log-in after 10 failures in 10 minutes opens an Account Takeover case", async () => {
  const stage = await Stage.open();
  const { device_id: _device, ...noDevice } = login(day + 9.5);
  const last = await stage.playLast([login(0), ...failed(10, day, 1), noDevice]);
  expect(last.rules).toEqual(["success_after_failures"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Account Takeover",
      recommended_action: "CHALLENGE",
      summary: "A log-in succeeded after 10 failed log-ins within an hour. New device: no.",
    },
  });
  expect(shownValues(found, "success_after_failures")).toEqual({
    "account.failed_logins_10m": 10,
    "account.device_is_new": false,
    "device.is_known": false,
    "account.logins": 1,
    "login.history": 1,
    "account.failed_logins_1h": 10,
  });
});

test("rule success_after_failures: the owner's log-in on the known device opens no case, however long the history is", async () => {
  for (const history of [1, 3, 4, 12]) {
    const stage = await Stage.open();
    const before = Array.from({ length: history }, (_, index) => login(index * hour));
    const last = await stage.playLast([...before, ...failed(10, day, 0.5), login(day + 6)]);
    expect(last).toMatchObject({
      rules: history < 4 ? [] : ["success_after_failures"],
      score: expect.toSatisfy((score) => score < 3),
    });
    expect(await stage.cases()).toEqual([]);
  }
});

test("rule success_after_failures: on a new device 5 failures in an hour are enough", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([login(0), ...failed(5, day, 11), login(day + 59, { device_id: "another" })]);
  expect(last.rules).toEqual(["success_after_failures"]);
  expect((await stage.onlyCase()).details.summary).toBe(
    "A log-in succeeded after 5 failed log-ins within an hour. New device: yes.",
  );
});

test("rule success_after_failures: 9 failures on the known device, 4 before a new one, or 5 in an hour on the known one are not enough", async () => {
  for (const [failures, device_id] of [
    [failed(9, day, 1), "own-phone"],
    [failed(4, day, 2), "another"],
    [failed(5, day, 2), "own-phone"],
  ] as const) {
    const stage = await Stage.open();
    const last = await stage.playLast([login(0), ...failures, login(day + 9, { device_id })]);
    expect(last.features["account.failed_logins_1h"]).toBe(failures.length);
    expect(last.rules).toEqual([]);
  }
});

test("rule success_after_failures: a tenth failure exactly 10 minutes earlier is not enough", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([login(0), ...failed(10, day, 1), login(day + 10)]);
  expect(last.features["account.failed_logins_10m"]).toBe(9);
  expect(last.rules).toEqual([]);
});

const change = { type: "password_changed", ...owner };
const atHome = () => ({ ip: addressIn("Berlin") });
const abroad = () => ({ ip: addressIn("Lagos"), device_id: "strange-phone", session_id: "s1" });

test("rule stranger_changes_account: a change from a new device in a new country opens an Account Takeover case of score 4", async () => {
  const stage = await Stage.open(withCountries());
  const last = await stage.playLast([
    login(0, atHome()),
    login(2 * day, abroad()),
    { minute: 2 * day + 3, ...change, ...abroad() },
  ]);
  expect(last.rules).toEqual(["stranger_changes_account"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    session_id: "s1",
    details: {
      overall_risk_score: 4,
      primary_fraud_label: "Account Takeover",
      recommended_action: "CHALLENGE",
      summary:
        "A sensitive change was made from a device and a country (NG) that this account never logged in from: change of password.",
    },
  });
  expect(shownValues(found, "stranger_changes_account")).toEqual({
    "session.began_on_new_device": true,
    "account.device_is_new": false,
    "session.began_in_new_country": true,
    "account.country_is_new": false,
  });
});

test("rule stranger_changes_account: no log-in is needed if the change itself comes from there", async () => {
  const stage = await Stage.open(withCountries());
  for (const [index, type] of ["password_changed", "email_changed", "mfa_changed", "payee_added"].entries()) {
    const website_account_id = `owner-${index}`;
    const last = await stage.playLast([
      login(0, { ...atHome(), website_account_id }),
      { minute: day, type, website_account_id, ip: addressIn("Lagos"), device_id: `strange-${index}` },
    ]);
    expect(last.rules).toEqual(["stranger_changes_account"]);
  }
});

test("rule stranger_changes_account: the known device abroad, a new device at home, or no change is not enough", async () => {
  for (const [source, type] of [
    [{ ...abroad(), device_id: "own-phone" }, "password_changed"],
    [{ ...abroad(), ...atHome() }, "password_changed"],
    [abroad(), "payment"],
  ] as const) {
    const stage = await Stage.open(withCountries());
    const steps = [login(0, atHome()), login(2 * day, source), { minute: 2 * day + 3, ...change, ...source, type }];
    expect((await stage.playLast(steps)).rules).toEqual([]);
  }
});

// The given number of log-ins on the known device, then one in a session on another device.
function unusual(before: number, then: Partial<Step> & { type: string }): Step[] {
  const session = { device_id: "another", session_id: "s1" };
  const logins = Array.from({ length: before }, (_, index) => login(index * hour));
  return [...logins, login(10 * day, session), { minute: 10 * day + 5, ...owner, ...session, ...then }];
}

test("rule change_after_unusual_login: a change after a log-in unlike 19 earlier ones opens an Account Takeover case", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast(unusual(19, { type: "email_changed" }));
  expect(last.rules).toEqual(["change_after_unusual_login"]);
  // The natural logarithm of 20.
  expect(last.features["login.ratio"]).toBe(3);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: { overall_risk_score: 3, primary_fraud_label: "Account Takeover", recommended_action: "CHALLENGE" },
  });
  expect(found.details.highlights).toEqual([
    "Device is unusual for this account, compared with its 19 earlier log-ins.",
    "A sensitive change was made after a log-in unlike the account's 19 earlier ones: change of e-mail address.",
  ]);
  expect(shownValues(found, "change_after_unusual_login")).toEqual({ "login.ratio": 3 });
});

test("rule change_after_unusual_login: 3 earlier log-ins, the known device, or no change are not enough", async () => {
  for (const steps of [
    unusual(3, { type: "email_changed" }),
    unusual(9, { type: "email_changed" }).map((step) => ({ ...step, device_id: "own-phone" })),
    unusual(9, { type: "page_view" }),
  ]) {
    const stage = await Stage.open();
    expect((await stage.playLast(steps)).rules).toEqual([]);
  }
});

test("rule change_after_unusual_login: a second log-in, another account, a new session or no session does not hide the change", async () => {
  const then = { minute: 10 * day + 5, type: "email_changed", ...owner };
  const another = { device_id: "another" };
  const mallory = { ...another, website_account_id: "mallory" };
  const plain = await (await Stage.open()).playLast(unusual(19, { type: "email_changed" }));
  const hiding: Step[][] = [
    [login(10 * day + 2, { ...another, session_id: "s2" }), { ...then, ...another, session_id: "s2" }],
    [login(10 * day + 2, { ...mallory, session_id: "s1" }), { ...then, ...another, session_id: "s1" }],
    [{ ...then, ...another, session_id: "s3" }],
    [{ ...then, ...another }],
    [then],
  ];
  for (const steps of hiding) {
    const stage = await Stage.open();
    const last = await stage.playLast([...unusual(19, { type: "page_view" }).slice(0, -1), ...steps]);
    expect(last).toMatchObject({ rules: plain.rules, score: plain.score, features: { "login.ratio": 3 } });
  }
});

test("rule change_after_unusual_login: a change on the known device is not judged by a log-in on another device", async () => {
  const stage = await Stage.open();
  const steps = unusual(19, { type: "email_changed", device_id: "own-phone", session_id: "s2" });
  expect(await stage.playLast(steps)).toMatchObject({ rules: [], score: 1 });
});

test("unusual log-ins: further log-ins on the same new device neither raise the score nor change the case", async () => {
  const stage = await Stage.open(withCountries());
  const before = Array.from({ length: 12 }, (_, index) => login(index * hour, atHome()));
  const first = await stage.playLast([...before, login(10 * day, abroad())]);
  const opened = await stage.onlyCase();
  for (const minute of [5, 60, 600, day, 9 * day]) {
    const again = await stage.playLast([login(10 * day + minute, { ...abroad(), session_id: `s-${minute}` })]);
    expect(again).toMatchObject({ rules: first.rules, score: first.score });
  }
  expect((await stage.onlyCase()).case_version).toBe(opened.case_version);
});

test("rule impossible_travel: a log-in that would need travel faster than any airplane opens an Account Takeover case", async () => {
  const stage = await Stage.open(withPlaces());
  const last = await stage.playLast([login(0, atHome()), login(5 * hour, { ip: addressIn("Lagos"), device_id: "another" })]);
  expect(last.rules).toEqual(["impossible_travel"]);
  // Berlin to Lagos is 5,196 km.
  expect(last.features["account.travel_kmh"]).toBe(1039);
  const found = await stage.onlyCase();
  expect(found.details).toMatchObject({
    overall_risk_score: 3,
    primary_fraud_label: "Account Takeover",
    recommended_action: "CHALLENGE",
    summary:
      "The log-in came too soon after one from another place. Speed of travel: 1,039 km/h. Minutes since another country: 300. The device is new or unknown.",
  });
  expect(shownValues(found, "impossible_travel")).toEqual({
    "account.country_is_new": true,
    "device.is_known": true,
    "account.device_is_new": true,
    "account.travel_kmh": 1039,
    "account.minutes_since_other_country": 300,
  });
});

test("rule impossible_travel: without coordinates, another country within 59 minutes is enough and within an hour is not", async () => {
  for (const [minute, rules] of [
    [59, ["impossible_travel"]],
    [60, []],
  ] as const) {
    const stage = await Stage.open(withCountries());
    const last = await stage.playLast([login(0, atHome()), login(minute, { ip: addressIn("Lagos"), device_id: "another" })]);
    expect(last.features["account.minutes_since_other_country"]).toBe(minute);
    expect(last.rules).toEqual(rules);
  }
});

test("rule impossible_travel: an airplane is fast enough for the same distance in 5 hours and 15 minutes", async () => {
  const stage = await Stage.open(withPlaces());
  const last = await stage.playLast([login(0, atHome()), login(5.25 * hour, { ip: addressIn("Lagos"), device_id: "another" })]);
  expect(last.features["account.travel_kmh"]).toBe(990);
  expect(last.rules).toEqual([]);
});

test("rule impossible_travel: a country that the account logged in from before is not enough", async () => {
  const stage = await Stage.open(withPlaces());
  const second = { ip: addressIn("Lagos") };
  const last = await stage.playLast([
    login(0, second),
    login(5 * day, atHome()),
    login(5 * day + 50, { ...second, device_id: "another" }),
  ]);
  expect(last.features).toMatchObject({ "account.device_is_new": true, "account.minutes_since_other_country": 50 });
  expect(last.rules).toEqual([]);
});

test("rule impossible_travel: the known device with another exit to the internet has not traveled", async () => {
  const stage = await Stage.open(withPlaces());
  const last = await stage.playLast([login(0, atHome()), login(hour, { ip: addressIn("Lagos") })]);
  expect(last.features["account.travel_kmh"]).toBeGreaterThan(5000);
  expect(last.rules).toEqual([]);
});

test("rule impossible_travel: an account back in a country that it logged in from before has not traveled", async () => {
  const stage = await Stage.open(withPlaces());
  const exit = login(2 * hour, { ip: addressIn("Lagos") });
  const last = await stage.playLast([login(0, atHome()), exit, login(2.5 * hour, { ...atHome(), device_id: "another" })]);
  expect(last.features["account.travel_kmh"]).toBeGreaterThan(5000);
  expect(last.rules).toEqual([]);
});
