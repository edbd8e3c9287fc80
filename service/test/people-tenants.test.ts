import { expect, test } from "vitest";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { Browser, goodPassword, invite, newEmail, signIn, somewhere } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });
const own = "a password of their own";

// The same e-mail in the tenant of somebody who wants to know its password in another.
async function namesakes(): Promise<{ email: string; demo: TestTenant; evil: TestTenant; thief: Browser }> {
  const [demo, evil] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const email = newEmail();
  await Browser.join(demo, "lead", { email });
  const thief = await Browser.take(service.current, (await invite(evil, "lead", { email })).link.url, { password: own });
  return { email, demo, evil, thief };
}

const times = (count: number, status: number) => Array.from({ length: count }, () => status);

async function statuses(bodies: Record<string, unknown>[]): Promise<number[]> {
  const answers: number[] = [];
  for (const body of bodies) answers.push((await signIn(service.current, body)).status);
  return answers;
}

test("POST sign-in 429: a success in one tenant takes back nothing that was tried on another", async () => {
  const { email, demo, evil } = await namesakes();
  const wrong = { email, password: "a wrong password", tenant: demo.slug };
  expect(await statuses(Array.from({ length: 9 }, () => wrong))).toEqual(times(9, 401));
  expect(await statuses([{ email, password: own, tenant: evil.slug }, wrong])).toEqual([200, 401]);
  expectProblem(await signIn(service.current, { email, password: goodPassword, tenant: demo.slug }), 429, "rate-limited");
  expect(await statuses([{ email, password: own, tenant: evil.slug }])).toEqual([200]);
});

test("POST sign-in 429: a password that fits in one tenant counts as a failure of the other", async () => {
  const { email, demo, evil } = await namesakes();
  const guess = { email, password: own };
  expect(await statuses(Array.from({ length: 12 }, () => guess))).toEqual(times(12, 200));
  expectProblem(await signIn(service.current, { email, password: goodPassword, tenant: demo.slug }), 429, "rate-limited");
  // From here on the other tenant is not asked: even its own password tells nothing.
  expect(await statuses([{ email, password: goodPassword }])).toEqual([401]);
  const answer = await signIn(service.current, guess);
  expect(answer.json).toMatchObject({ tenant: { slug: evil.slug } });
});

test("POST password: a change in one tenant takes back nothing that was tried on another", async () => {
  const { email, demo, thief } = await namesakes();
  const wrong = { email, password: "a wrong password", tenant: demo.slug };
  expect(await statuses(Array.from({ length: 9 }, () => wrong))).toEqual(times(9, 401));
  const body = { current: own, new: "a further password of their own" };
  expect((await thief.ask("POST", "/auth/password", { body })).status).toBe(204);
  expect(await statuses([wrong, wrong])).toEqual([401, 429]);
});

test("POST sign-in 429: what was tried on other tenants by guesses that fit one of them counts for the address", async () => {
  const here = somewhere();
  for (let count = 0; count < 5; count++) {
    const { email } = await namesakes();
    for (let tried = 0; tried < 10; tried++) {
      expect((await signIn(service.current, { email, password: own }, here)).status).toBe(200);
    }
  }
  expectProblem(await signIn(service.current, { email: newEmail(), password: own }, here), 429, "rate-limited");
});

test("POST sign-in: an e-mail that some tenant knows and one that none knows have the same answers, whichever tenants are named", async () => {
  const { email, demo, evil } = await namesakes();
  const named = [undefined, demo.slug, evil.slug, "no-such-tenant", undefined, demo.slug, demo.slug, evil.slug, "x", undefined];
  const tries = (tried: string) => [...named, ...named].map((tenant) => ({ email: tried, password: "a wrong one", tenant }));
  const known = await statuses(tries(email));
  expect(known).toEqual([...times(10, 401), ...times(10, 429)]);
  expect(await statuses(tries(newEmail()))).toEqual(known);
});

test("POST sign-in 200: an invitation that was not used yet in another tenant uses up nothing", async () => {
  const [one, two] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const email = newEmail();
  await Browser.join(one, "lead", { email });
  const { link } = await invite(two, "lead", { email });
  expect(await statuses(Array.from({ length: 11 }, () => ({ email, password: goodPassword })))).toEqual(times(11, 200));
  await Browser.take(service.current, link.url, { password: own });
  expect(await statuses([{ email, password: own, tenant: two.slug }])).toEqual([200]);
});
