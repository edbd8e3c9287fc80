import { expect, test, vi } from "vitest";
import type { UserLink } from "../src/domain/user.ts";
import { TestTenant, expectProblem, send, useService, waitingText, type Answer } from "./harness.ts";
import { Browser, cookiesOf, goodPassword, invite, newEmail, signIn, tokenOf } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });
const fresh = "another good password";

async function joined(): Promise<{ tenant: TestTenant; browser: Browser; email: string; id: string }> {
  const tenant = await TestTenant.create(service.current);
  const browser = await Browser.join(tenant, "lead");
  const { email, user_id: id } = browser.signedIn.user;
  return { tenant, browser, email, id };
}

async function resetLink(tenant: TestTenant, userId: string): Promise<UserLink> {
  return (await tenant.call("POST", `/users/${userId}/links`)).json.data;
}

function useLink({ url }: UserLink, body: Record<string, unknown>): Promise<Answer> {
  return send(service.current.port, "POST", "/auth/link/use", { body: { token: tokenOf(url), ...body } });
}

// Passwords are checked two at a time. A request behind these has read the stored state long before its turn.
function fillQueue(): Promise<Answer[]> {
  return Promise.all(Array.from({ length: 8 }, () => signIn(service.current, { email: newEmail(), password: goodPassword })));
}

function signInOften(email: string): Promise<Answer[]> {
  return Promise.all(Array.from({ length: 8 }, () => signIn(service.current, { email, password: goodPassword })));
}

// Waits long enough for earlier requests to arrive.
async function roundTrip(): Promise<void> {
  for (let count = 0; count < 5; count++) await send(service.current.port, "GET", "/auth/options");
}

async function livingSessions(answers: Answer[]): Promise<number> {
  let living = 0;
  for (const answer of answers) {
    const cookie = cookiesOf(answer).get("casehound_session")?.split(";")[0];
    if (cookie === undefined) continue;
    if ((await send(service.current.port, "GET", "/auth/session", { headers: { cookie } })).status === 200) living++;
  }
  return living;
}

test("password reset: sign-ins in progress with the old password open no session that survives it", async () => {
  const { tenant, email, id } = await joined();
  const link = await resetLink(tenant, id);
  const queue = fillQueue();
  await roundTrip();
  const reset = useLink(link, { password: fresh });
  await roundTrip();
  const answers = await signInOften(email);
  const browser = new Browser(service.current, await reset);
  await queue;
  expect(await livingSessions(answers)).toBe(0);
  for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 401, "unauthorized");
  expect((await browser.call("GET", "/cases")).status).toBe(200);
});

test("password reset: a password change in progress from an older session writes nothing", async () => {
  const { tenant, browser, email, id } = await joined();
  const link = await resetLink(tenant, id);
  const queue = fillQueue();
  await roundTrip();
  const reset = useLink(link, { password: fresh });
  await roundTrip();
  const body = { current: goodPassword, new: "the thief's own password" };
  const stolen = await browser.ask("POST", "/auth/password", { body });
  expect((await reset).status).toBe(200);
  await queue;
  // It may be rejected for its session, or because the current password is another one by now.
  expect([401, 422]).toContain(stolen.status);
  expectProblem(await signIn(service.current, { email, password: body.new }), 401, "unauthorized");
  await Browser.signIn(service.current, email, fresh);
});

test("POST password: of two concurrent changes from one session, one succeeds and the other is rejected, because the current password has changed", async () => {
  const { browser, email } = await joined();
  const wanted = [fresh, "yet another good password"];
  const change = (password: string) => browser.ask("POST", "/auth/password", { body: { current: goodPassword, new: password } });
  const queue = fillQueue();
  await roundTrip();
  const answers = await Promise.all(wanted.map(change));
  await queue;
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 422]);
  await Browser.signIn(service.current, email, wanted[answers.findIndex(({ status }) => status === 204)]);
});

test("PUT user: sign-ins in progress while the user is disabled open no session that is valid later", async () => {
  const { tenant, email, id } = await joined();
  const queue = fillQueue();
  await roundTrip();
  const signIns = signInOften(email);
  await roundTrip();
  const setDisabled = (is_disabled: boolean) => tenant.call("PUT", `/users/${id}`, { body: { is_disabled } });
  expect((await setDisabled(true)).status).toBe(200);
  const answers = await signIns;
  await queue;
  expect((await setDisabled(false)).status).toBe(200);
  expect(await livingSessions(answers)).toBe(0);
  await Browser.signIn(service.current, email);
});

test("invitation: a demotion during its use is not overwritten when it sets the name", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "admin");
  const admin = await service.current.database.connect();
  try {
    await admin.query("begin");
    await admin.query("update users set role = 'investigator' where tenant_id = $1 and user_id = $2", [
      tenant.tenantId,
      user.user_id,
    ]);
    const used = useLink(link, { password: goodPassword, name: "Ada King" });
    await vi.waitFor(
      async () => {
        expect((await admin.query(waitingText())).rows.length).toBe(1);
      },
      { timeout: 10_000, interval: 5 },
    );
    await admin.query("commit");
    expect(new Browser(service.current, await used).signedIn.user).toMatchObject({ name: "Ada King", role: "investigator" });
  } finally {
    await admin.end();
  }
  const listed = await tenant.call("GET", `/users/${user.user_id}`);
  expect(listed.json.data).toMatchObject({ name: "Ada King", role: "investigator" });
});
