import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, newDatabase, testConfig, type Answer } from "./harness.ts";
import { Browser, goodPassword, newEmail, signIn, somewhere } from "./people.ts";

// A clock that stands still until a test moves it, and a database of its own, because an attempt deletes old rows by this clock.
const startMs = Date.now();
let aheadMs = 0;
const wait = (seconds: number) => (aheadMs += seconds * 1000);
let service: Service;
beforeAll(async () => {
  const config = testConfig({ roles: new Set(["api"]), databaseUrl: await newDatabase() });
  const still = { ...clock, now: () => new Date(startMs + aheadMs).toISOString() };
  service = await startService(config, undefined, { clock: still });
});
afterAll(() => service.stop());

type Guess = { email: string; password?: string; headers?: Record<string, string> };

function guess({ email, password = "a wrong password", headers = somewhere() }: Guess): Promise<Answer> {
  return signIn(service, { email, password }, headers);
}

async function guesses(count: number, each: () => Guess): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n++) statuses.push((await guess(each())).status);
  return statuses;
}

async function joined(): Promise<{ email: string }> {
  const email = newEmail();
  await Browser.join(await TestTenant.create(service), "lead", { email });
  return { email };
}

// Uses up the attempts that strangers have on an account.
async function tire(email: string): Promise<void> {
  await guesses(30, () => ({ email }));
}

test("sign-in 200: the owner's usual address gets in with a new browser while others guess from everywhere, until the password changes", async () => {
  const { email } = await joined();
  const [home, office] = [somewhere(), somewhere()];
  expect((await guess({ email, password: goodPassword, headers: home })).status).toBe(200);
  const browser = new Browser(service, await guess({ email, password: goodPassword, headers: office }));
  await tire(email);
  for (const headers of [home, office]) expect((await guess({ email, password: goodPassword, headers })).status).toBe(200);
  // Somebody at the same address is slowed down there, and the owner at the other one is not.
  expect(await guesses(5, () => ({ email, headers: home }))).toEqual([401, 401, 401, 401, 401]);
  expectProblem(await guess({ email, password: goodPassword, headers: home }), 429, "rate-limited");
  expect((await guess({ email, password: goodPassword, headers: office })).status).toBe(200);
  // Whoever signed in with the old password has no usual address any more.
  const change = { current: goodPassword, new: "another good password" };
  expect((await browser.ask("POST", "/auth/password", { body: change, headers: office })).status).toBe(204);
  expect((await guess({ email, password: change.new, headers: office })).status).toBe(200);
  expectProblem(await guess({ email, password: change.new, headers: home }), 429, "rate-limited");
});

test("sign-in 429: somebody at an address that several people use cannot try all of their passwords", async () => {
  const office = somewhere();
  const emails: string[] = [];
  for (let n = 0; n < 8; n++) {
    const { email } = await joined();
    expect((await guess({ email, password: goodPassword, headers: office })).status).toBe(200);
    emails.push(email);
  }
  const statuses: number[] = [];
  for (const email of emails) statuses.push(...(await guesses(5, () => ({ email, headers: office }))));
  expect(statuses.filter((status) => status === 401)).toHaveLength(30);
  expect(statuses.slice(30).every((status) => status === 429)).toBe(true);
});

test("sign-in 429: an address that is usual for one account is a stranger's to another, and only the last five are kept", async () => {
  const [ada, eve] = [await joined(), await joined()];
  const shared = somewhere();
  expect((await guess({ email: eve.email, password: goodPassword, headers: shared })).status).toBe(200);
  await tire(ada.email);
  expectProblem(await guess({ email: ada.email, password: goodPassword, headers: shared }), 429, "rate-limited");
  for (let n = 0; n < 5; n++) expect((await guess({ email: eve.email, password: goodPassword })).status).toBe(200);
  await tire(eve.email);
  expectProblem(await guess({ email: eve.email, password: goodPassword, headers: shared }), 429, "rate-limited");
});

async function countAttempts(): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(statement("select count(*) as count from sign_in_attempts", []));
  return row?.count ?? 0;
}

test("sign-in attempts: a flood of addresses and e-mails leaves no more rows than one window of attempts, and successes leave none", async () => {
  wait(3600);
  await guesses(40, () => ({ email: newEmail() }));
  const flooded = await countAttempts();
  wait(3600);
  await guesses(40, () => ({ email: newEmail() }));
  expect(await countAttempts()).toBeLessThanOrEqual(Math.max(flooded, 40 * 3));
  const { email } = await joined();
  const before = await countAttempts();
  await guesses(10, () => ({ email, password: goodPassword }));
  expect(await countAttempts()).toBeLessThanOrEqual(before);
});
