import { expect, test } from "vitest";
import { Stage, type Step } from "./stage.ts";

const days = 60;
const minutesPerDay = 24 * 60;
const day = (count: number): number => count * minutesPerDay;
// The day of the fraud. The case is opened at the end of the stage, when everything is scored.
const end = day(days);

const home = "192.0.2.10";
const away = "198.51.100.20";

function login(minute: number, website_account_id: string, device_id: string | undefined, ip?: string): Step {
  return {
    minute,
    type: "login_succeeded",
    website_account_id,
    ...(device_id !== undefined && { device_id }),
    ...(ip !== undefined && { ip }),
  };
}

// A program in the account, which is evidence on the device.
function theft(device_id: string, ip = away, website_account_id = "victim"): Step {
  return { ...login(end - 60, website_account_id, device_id, ip), user_agent: "curl/8.5.0" };
}

// Plays the steps, which lead to one case, and confirms it.
async function confirm(steps: Step[]): Promise<Stage> {
  const stage = await Stage.open({}, days * 24);
  await stage.play(steps);
  const { case_id } = await stage.onlyCase();
  await stage.decide(case_id, { status: "CLOSED", disposition: "CONFIRMED_FRAUD" });
  return stage;
}

async function rulesFor(stage: Stage, ...steps: Step[]): Promise<string[][]> {
  return (await stage.play(steps)).map(({ rules }) => rules);
}

const accused = ["linked_fraud"];
const victims = [login(0, "victim", "tablet", home), login(1, "spouse", "tablet", home)];

test("linked fraud: only the device on which the theft was found accuses, and not what the household used on the same day", async () => {
  const stage = await confirm([
    ...victims,
    login(end - 120, "victim", "forgetful", home),
    login(end - 110, "victim", "new phone", "203.0.113.7"),
    login(end - 100, "victim", "office", "203.0.113.8"),
    theft("thief's"),
  ]);
  const rules = await rulesFor(
    stage,
    login(end + 1, "spouse", "tablet", home),
    login(end + 2, "spouse", "forgetful", home),
    login(end + 3, "spouse", "new phone", home),
    login(end + 4, "colleague", "office", "203.0.113.8"),
    login(end + 5, "next", "thief's", away),
  );
  expect(rules).toEqual([[], [], [], [], accused]);
});

test("linked fraud: a thief whose program sends no device leaves none behind, and the household's new one does not count", async () => {
  const { device_id: _none, ...noDevice } = theft("none");
  const stage = await confirm([...victims, login(end - 120, "victim", "new phone", "203.0.113.7"), noDevice]);
  expect(await rulesFor(stage, login(end + 1, "spouse", "new phone", home))).toEqual([[]]);
});

test("linked fraud: a new phone that was first used at the account's own address is the owner's, although evidence was found on it", async () => {
  const stage = await confirm([...victims, theft("new phone", home)]);
  expect(await rulesFor(stage, login(end + 1, "spouse", "new phone", home))).toEqual([[]]);
});

test("linked fraud: the devices of an account that was used for months do not accuse, even if its fraud is called Synthetic", async () => {
  const report: Step = {
    minute: end - 30,
    type: "fraud_report",
    website_account_id: "victim",
    attributes: { label: "Synthetic" },
  };
  const stage = await confirm([...victims, login(end - day(3), "victim", "new phone", home), report]);
  const rules = await rulesFor(
    stage,
    login(end + 1, "spouse", "tablet", home),
    login(end + 2, "spouse", "new phone", home),
    login(end + 3, "guest", "tablet", home),
  );
  expect(rules).toEqual([[], [], []]);
});

test("linked fraud: a device that the owner first used after an Organic fraud was confirmed accuses nobody", async () => {
  const report: Step = { minute: end - 30, type: "fraud_report", website_account_id: "victim", attributes: { label: "Organic" } };
  const stage = await confirm([...victims, report]);
  const later = Math.ceil((Date.now() - Date.parse(stage.at(end))) / 60_000) + 1;
  const rules = await rulesFor(
    stage,
    login(end + later, "victim", "replaced", home),
    login(end + later + 1, "spouse", "replaced", home),
    login(end + later + 2, "newcomer", "tablet", home),
  );
  expect(rules).toEqual([[], [], accused]);
});

test("linked fraud: a thief who names another person's device does not get that person accused, but newcomers on it are", async () => {
  const stage = await confirm([...victims, login(2, "innocent", "known to the thief"), theft("known to the thief")]);
  const rules = await rulesFor(
    stage,
    login(end + 1, "innocent", "known to the thief"),
    login(end + 2, "newcomer", "known to the thief"),
  );
  expect(rules).toEqual([[], accused]);
});

test("linked fraud: using the device once before, in the victim's account or in another, does not clear it", async () => {
  const stage = await confirm([
    ...victims,
    login(end - day(10), "thief's own", "thief's", away),
    login(end - day(2), "victim", "thief's", away),
    theft("thief's"),
  ]);
  const rules = await rulesFor(stage, login(end + 1, "thief's own", "thief's", away), login(end + 2, "next", "thief's", away));
  expect(rules).toEqual([accused, accused]);
});

test("linked fraud: logging in from the address before does not make it the victim's own", async () => {
  const stage = await confirm([...victims, login(end - day(2), "victim", undefined, away), theft("thief's")]);
  expect(await rulesFor(stage, login(end + 1, "next", "thief's", away))).toEqual([accused]);
});
