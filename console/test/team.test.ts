import { randomUUID } from "node:crypto";
import { clientTokens, deliver } from "@casehound/simulator/courier";
import { simulate } from "@casehound/simulator/simulate";
import type { Browser } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { clock } from "../../service/src/clock.ts";
import { demoOrigin } from "../../service/src/demo.ts";
import { createTenant } from "../../service/src/tenancy.ts";
import { launchBrowser } from "../../service/test/browser.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig({ ...consolePace, testTimeout: 600_000 });
const service = useService();
const casesOfShop = 40;
const collisions = 5;
// Attacks that detection finds in a shop without history. Each one becomes a case or two.
const attacks = { scripted_bot: 12, headless_bot: 8, friendly_fraud: 8, signup_farm: 3, stuffing_burst: 1 };
const shopMs = 3 * 3_600_000;
const shopDays = 1 / 24;

type Person = { name: string; at: Visitor };
// What a person typed about a case, and whether the person closed it.
type Work = { caseId: string; by: string; isClose: boolean; words: string[] };

const dialogOf = ({ at: { page } }: Person) => page.getByRole("dialog");
const message = ({ at: { page } }: Person, words: string | RegExp) => page.getByRole("status").getByText(words);
const caseOf = ({ at: { page } }: Person) => /\/cases\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? "";

// An hour of a simulated shop with its attackers, and fraud reports until there are at least 40 cases.
async function openShop(): Promise<TestTenant> {
  const { url: baseUrl, database } = service.current;
  const made = await createTenant(database, { slug: `t-${randomUUID()}`, allowedOrigins: [demoOrigin] }, clock);
  const tenant = await TestTenant.of(service.current, made);
  const token = clientTokens({ baseUrl, clientId: made.client_id, clientSecret: made.client_secret });
  const startMs = Date.now() - shopMs;
  const shop = { seed: "team", startMs, days: shopDays, users: 40, attacks, attacksFrom: 0, origin: demoOrigin };
  await deliver(simulate({ ...shop, appKey: made.app_key }), { baseUrl, tenant: made.tenant, token });
  await tenant.openCase("customer-0");
  const found = await tenant.list("status=OPEN&limit=100");
  for (let count = found.length; count < casesOfShop; count++) await tenant.openCase(`customer-${count}`);
  return tenant;
}

async function sitDown(tenant: TestTenant, name: string): Promise<Person> {
  const browser: Browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return { name, at: await Visitor.open(browser, tenant, { name, width: 1280 }) };
}

// Opens the dialog with an outcome, and types the reason.
async function writeReason(person: Person, { key, reason }: { key: string; reason: string }): Promise<void> {
  const { page } = person.at;
  await page.getByRole("button", { name: /^Close the case/ }).waitFor();
  await person.at.press(key);
  await dialogOf(person).waitFor();
  while ((await page.evaluate("document.activeElement.tagName")) !== "TEXTAREA") await person.at.press("Tab");
  await page.keyboard.type(reason);
}

async function leaveCase(person: Person, caseId: string): Promise<void> {
  const closed = person.at.page.getByText("Closed", { exact: true });
  await expect.poll(async () => caseOf(person) !== caseId || (await closed.count()) > 0, patience).toBe(true);
}

// Both press the key at the same moment. One has the claim, and the other one sees whose it is.
async function claimBoth(ada: Person, ben: Person): Promise<void> {
  for (const { at } of [ada, ben]) await at.page.getByRole("button", { name: /^Claim/ }).waitFor();
  await Promise.all([ada, ben].map(({ at }) => at.press("a")));
  const taken = [message(ada, "Ben Okri is working on this case."), message(ben, "Ada Lovelace is working on this case.")];
  await expect.poll(async () => Promise.all(taken.map((each) => each.count())), patience).toContain(1);
  const [isBens] = await Promise.all(taken.map(async (each) => (await each.count()) === 1));
  const [winner, loser] = isBens ? [ben, ada] : [ada, ben];
  const seen = loser.at.page.getByRole("row").getByTitle(`${winner.name} is working on this`);
  await seen.waitFor();
  expect(await loser.at.page.getByTitle("You are working on this").count()).toBe(0);
  await winner.at.press("a");
  await seen.waitFor({ state: "detached" });
}

// Both decide the same case at the same moment. The one who is too late adds the reason as a note.
async function closeBoth(people: Person[], turn: number): Promise<Work[]> {
  const [caseId = "", other] = people.map(caseOf);
  expect(other).toBe(caseId);
  const done = people.map(({ name }) => ({ caseId, by: name, isClose: true, words: [`${name}, at once, ${turn}.`] }));
  await Promise.all(people.map((each, at) => writeReason(each, { key: String(at + 1), reason: done[at]?.words[0] ?? "" })));
  await Promise.all(people.map(({ at }) => at.press("Control+Enter")));
  const late = people.map(({ at }) => at.page.getByRole("dialog", { name: /^Already closed/ }));
  await expect.poll(async () => Promise.all(late.map((each) => each.count())), patience).toContain(1);
  const slower = (await late[0]?.count()) === 1 ? 0 : 1;
  const loser = people[slower];
  if (loser) {
    await loser.at.press("Enter");
    await message(loser, "Your text was added as a note.").last().waitFor();
  }
  // Both go on, to the same case.
  await expect.poll(() => people.map(caseOf).filter((id) => id !== caseId), patience).toHaveLength(people.length);
  return done.map((each, at) => ({ ...each, isClose: at !== slower }));
}

// Claims the next case and shows it. Returns false if there is none left.
async function takeNext(person: Person): Promise<boolean> {
  const { page, tenant } = person.at;
  const before = caseOf(person);
  await person.at.press("u");
  const nothing = message(person, "No other case in this list is unclaimed.");
  const mine = page.getByText("You are working on this ·");
  const isTaken = async () => caseOf(person) !== before && (await mine.count()) > 0;
  await expect.poll(async () => (await isTaken()) || (await nothing.count()) > 0, patience).toBe(true);
  if (await isTaken()) return true;
  // The case on the screen may be the last one.
  if ((await tenant.read(before)).status === "CLOSED") return false;
  await person.at.press("a");
  const held = message(person, /is working on this case/);
  await expect.poll(async () => (await mine.count()) + (await held.count()), patience).toBeGreaterThan(0);
  return (await mine.count()) > 0;
}

// Every third case gets a note first, and the outcomes take turns.
async function decide(person: Person, turn: number): Promise<Work> {
  const { name, at } = person;
  const caseId = caseOf(person);
  const note = `${name} called the customer, ${turn}.`;
  const reason = `${name} decided, ${turn}.`;
  if (turn % 3 === 0) {
    await at.press("m");
    await at.page.keyboard.type(note);
    await at.press("Control+Enter");
    await at.page.getByRole("list", { name: "Notes" }).getByText(note).waitFor();
    await at.press("Escape");
  }
  await writeReason(person, { key: String((turn % 3) + 1), reason });
  await at.press("Control+Enter");
  await dialogOf(person).waitFor({ state: "detached" });
  await leaveCase(person, caseId);
  return { caseId, by: name, isClose: true, words: turn % 3 === 0 ? [note, reason] : [reason] };
}

async function workAll(person: Person): Promise<Work[]> {
  const done: Work[] = [];
  while (await takeNext(person)) done.push(await decide(person, done.length));
  return done;
}

// What the history of a case says: who closed it, how often it was closed, and all that people wrote.
async function storedOf(tenant: TestTenant, caseId: string) {
  const { current_state: state } = await tenant.read(caseId);
  const read = async (what: string) => (await tenant.call("GET", `/cases/${caseId}/${what}`)).json.data;
  const { notes } = (await read("notes")) as { notes: { text: string }[] };
  const { events } = (await read("events")) as { events: { type: string }[] };
  return {
    by: state.changed_by,
    closes: events.filter(({ type }) => type === "case.closed").length,
    words: [state.reason, ...notes.map(({ text }) => text)].toSorted(),
  };
}

test("team: two people decide 40 cases of a shop by keyboard; no case is decided twice, and no word is lost", async () => {
  const tenant = await openShop();
  const people = await Promise.all(["Ada Lovelace", "Ben Okri"].map((name) => sitDown(tenant, name)));
  const [ada, ben] = people as [Person, Person];
  await Promise.all(people.map(({ at }) => at.goto()));
  await Promise.all(people.map(({ at }) => at.expectLive()));
  await claimBoth(ada, ben);
  await Promise.all(people.map(({ at }) => at.press("Enter")));
  await expect.poll(() => people.map(caseOf), patience).not.toContain("");
  const done: Work[] = [];
  for (let turn = 0; turn < collisions; turn++) done.push(...(await closeBoth(people, turn)));
  done.push(...(await Promise.all(people.map(workAll))).flat());

  // Detection may have opened another case meanwhile.
  const shop = (await tenant.list("status=CLOSED&limit=100")).map(({ case_id }) => case_id);
  expect(shop.length).toBeGreaterThanOrEqual(casesOfShop);
  const closes = done.filter(({ isClose }) => isClose);
  expect(closes.map(({ caseId }) => caseId).toSorted()).toEqual(shop.toSorted());
  for (const caseId of shop) {
    const { by, closes: times, words } = await storedOf(tenant, caseId);
    const own = done.filter((each) => each.caseId === caseId);
    expect(words).toEqual(own.flatMap((each) => each.words).toSorted());
    expect(times).toBe(1);
    expect(by).toContain(own.find(({ isClose }) => isClose)?.by);
  }
  for (const { name } of people) expect(closes.filter(({ by }) => by === name).length).toBeGreaterThan(5);
  expect(people.flatMap(({ at }) => at.complaints)).toEqual([]);
});
