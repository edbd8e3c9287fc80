import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { openLog } from "../src/log.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { planMails, sendNextMail } from "../src/engine/notifications.ts";
import { Mailer } from "../src/mail/mailer.ts";
import { announce, makeLate, setDue } from "./due.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { MailServer } from "./mail-server.ts";
import {
  consoleUrl,
  copyCase,
  hurryPeople,
  mailSettings,
  makeAttack,
  makeView,
  sendMails,
  setNotifications,
  writeNote,
} from "./notified.ts";
import { Browser, newEmail } from "./people.ts";

// Mails are claimed over all tenants, so the file has a database of its own. Without SMTP_URL, the service itself sends nothing.
const service = useService({ databaseUrl: useOwnDatabase("notifications_mail"), mail: null });
let server: MailServer;
beforeAll(async () => {
  server = await MailServer.start();
});
afterAll(() => server.stop());

async function newPerson(tenant: TestTenant, email = newEmail()): Promise<{ person: Browser; email: string }> {
  return { person: await Browser.join(tenant, "lead", { email }), email };
}

async function newTenant(): Promise<TestTenant> {
  return TestTenant.create(service.current);
}

const send = (tenant: TestTenant, more: Partial<Parameters<typeof sendMails>[1]> = {}) =>
  sendMails(tenant, { port: server.port, ...more });

async function mailsOf(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  return ((await tenant.call("GET", "/notifications/mails")).json.data as { mails: Record<string, unknown>[] }).mails;
}

test("mail: a new case in a view is reported once, with score, label and a link; the text names neither the account nor the reason", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  const { view_id } = await makeView(person, { name: "Mine to look at", filter: { status: "OPEN" } });
  await setNotifications(person, { views: [view_id], pace: "at_once" });
  const account = `account-${randomUUID()}`;
  const found = await tenant.openCase(account);
  await send(tenant);
  await hurryPeople(tenant);
  await send(tenant);
  const [mail, ...more] = server.mailsTo(email);
  expect(more).toEqual([]);
  expect(mail?.headers.get("subject")).toBe(`[${tenant.slug}] 1 case`);
  expect(mail?.text).toContain('New in the view "Mine to look at":');
  expect(mail?.text).toContain(`1 with score ${found.details.overall_risk_score} (${found.details.primary_fraud_label} 1)`);
  expect(mail?.text).toContain(`${consoleUrl}/views/${view_id}`);
  expect(mail?.text).not.toContain(account);
  expect(mail?.text).not.toContain(found.current_state.reason);
  expect(mail?.headers.get("list-unsubscribe")).toBe(`<${consoleUrl}/notifications>`);
  expect(mail?.headers.get("auto-submitted")).toBe("auto-generated");
  expect(await mailsOf(tenant)).toMatchObject([{ state: "SENT", attempts: 1, email, kind: "digest" }]);
});

test("mail: accounts are named only if the tenant asks for it", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  const { view_id } = await makeView(person);
  await setNotifications(person, { views: [view_id], pace: "at_once" });
  await tenant.call("PUT", "/tenants", { body: { notification_details: "ids" } });
  const account = `evil\u202e ${randomUUID()}`;
  const found = await tenant.openCase(account);
  await send(tenant);
  const [mail] = server.mailsTo(email);
  expect(mail?.text).toContain(account.replace("\u202e", "\\u{202e}"));
  expect(mail?.text).toContain(`${consoleUrl}/cases/${found.case_id}`);
});

test("mail: 2,000 cases of one attack are one line in one e-mail", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  const attack = await tenant.openCase();
  await makeAttack(tenant, attack, 2_056);
  const { view_id } = await makeView(person, { filter: { status: "OPEN" } });
  await setNotifications(person, { views: [view_id], pace: "at_once" });
  await copyCase(tenant, await tenant.openCase(), { count: 2_000, attack });
  await send(tenant);
  await send(tenant);
  const [mail, ...more] = server.mailsTo(email);
  expect(more).toEqual([]);
  expect(mail?.headers.get("subject")).toBe(`[${tenant.slug}] 1 attack, 1 case`);
  expect(mail?.text).toContain("Ongoing attack, 2,056 accounts so far");
  expect(mail?.text.split("\n").length).toBeLessThan(12);
});

test("mail: people who ask for it are notified of mentions, handovers and overdue cases, unless they have read them meanwhile", async () => {
  const tenant = await newTenant();
  const ada = await newPerson(tenant);
  const ben = await newPerson(tenant);
  await setDue(tenant, { targets: [{ min_score: 1, hours: 1 }] });
  await setNotifications(ada.person, { mentions: true, handovers: true, overdue: "mine", pace: "at_once" });
  await setNotifications(ben.person, { mentions: true, overdue: "all", pace: "at_once" });
  const found = await tenant.openCase();
  await writeNote(ben.person, found, `A secret for @${ada.email}`);
  await writeNote(ada.person, found, `And back to @${ben.email}`);
  const { notices } = (await ben.person.call("GET", "/inbox")).json.data as { notices: { notice_id: string }[] };
  await ben.person.call("POST", "/inbox/read", { body: { notice_ids: notices.map(({ notice_id }) => notice_id) } });
  const late = await tenant.read(found.case_id);
  const body = { case_version: late.case_version, handed_to: ada.person.signedIn.user.user_id, text: "Yours" };
  expect((await ben.person.call("POST", `/cases/${found.case_id}/handover`, { body, key: randomUUID() })).status).toBe(201);
  await makeLate(tenant, late);
  await announce(tenant);
  await send(tenant);
  const [toAda] = server.mailsTo(ada.email);
  expect(toAda?.headers.get("subject")).toBe(`[${tenant.slug}] 1 handover, 1 mention, 1 case overdue`);
  expect(toAda?.text).toContain("1 note mentions you:");
  expect(toAda?.text).not.toContain("secret");
  const [toBen] = server.mailsTo(ben.email);
  expect(toBen?.headers.get("subject")).toBe(`[${tenant.slug}] 1 case overdue`);
});

test("mail: a disabled person gets nothing, not even an e-mail that was already planned", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  await planMails({ database: service.current.database, clock });
  const { user_id } = person.signedIn.user;
  expect((await tenant.call("PUT", `/users/${user_id}`, { body: { is_disabled: true } })).status).toBe(200);
  await send(tenant);
  expect(server.mailsTo(email)).toEqual([]);
  expect(await mailsOf(tenant)).toEqual([]);
});

test("mail: no news of a view that is no longer shared, or for a person whose role lost the scope", async () => {
  const tenant = await newTenant();
  const owner = await Browser.join(tenant, "admin");
  await tenant.call("POST", "/roles", { body: { role: "reader", scopes: ["read:case", "read:cases"] } });
  const { person: one, email: first } = await newPerson(tenant);
  const { person: two, email: second } = await newPerson(tenant);
  const shared = await makeView(owner, { is_shared: true });
  const kept = await makeView(owner, { is_shared: true });
  for (const [person, view] of [[one, shared] as const, [two, kept] as const])
    await setNotifications(person, { views: [view.view_id], pace: "at_once" });
  expect((await tenant.call("PUT", `/users/${two.signedIn.user.user_id}`, { body: { role: "reader" } })).status).toBe(200);
  await tenant.openCase();
  await planMails({ database: service.current.database, clock });
  await owner.call("PUT", `/views/${shared.view_id}`, { body: { view_version: shared.view_version, is_shared: false } });
  expect((await tenant.call("PUT", "/roles/reader", { body: { scopes: ["read:case"] } })).status).toBe(200);
  await send(tenant);
  expect([...server.mailsTo(first), ...server.mailsTo(second)]).toEqual([]);
});

test("mail: names with line breaks, angle brackets and invisible characters add no header, recipient or line", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  const name = "Bcc: eve@evil.example\r\nX-Evil: 1\u2028\u202eabc";
  const { view_id } = await makeView(person, { name });
  await setNotifications(person, { views: [view_id], pace: "at_once" });
  await tenant.openCase();
  await send(tenant);
  const [mail] = server.mailsTo(email);
  expect(mail?.text).toContain('New in the view "Bcc: eve@evil[.]example\\u{d}\\u{a}X-Evil: 1\\u{2028}\\u{202e}abc":');
  expect(mail?.headerText).not.toMatch(/evil/i);
  expect(mail?.text).not.toMatch(/^X-Evil/m);
  const mailer = new Mailer(mailSettings(server.port));
  const [odd, evil] = [newEmail(), newEmail()];
  const forged = { id: randomUUID(), text: "x", settingsUrl: consoleUrl };
  await mailer.send({ ...forged, to: odd, subject: `A\r\nBcc: ${evil}\r\n\r\nbody` });
  expect(server.mailsTo(odd)).toHaveLength(1);
  expect(server.mailsTo(odd)[0]?.headers.has("bcc")).toBe(false);
  await mailer.send({ ...forged, to: `${odd}\r\nRCPT TO:<${evil}>`, subject: "A" });
  await mailer.send({ ...forged, to: `${odd}, ${evil}`, subject: "A" });
  expect(server.mails().filter(({ to }) => to.includes(evil))).toEqual([]);
});

test("mail: a temporary refusal is retried for a day; a permanent one is not retried", async () => {
  const tenant = await newTenant();
  const later = await newPerson(tenant, `later-${newEmail()}`);
  const never = await newPerson(tenant, `never-${newEmail()}`);
  for (const { person } of [later, never])
    await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  await send(tenant);
  const states = async () => new Map((await mailsOf(tenant)).map((mail) => [mail["email"], mail]));
  expect((await states()).get(later.email)).toMatchObject({
    state: "WAITING",
    attempts: 1,
    last_error: expect.stringContaining("451"),
  });
  expect((await states()).get(never.email)).toMatchObject({
    state: "DEAD",
    attempts: 1,
    last_error: expect.stringContaining("550"),
  });
  expect((await never.person.call("GET", "/notifications")).json.data).toMatchObject({ last_mail: { state: "DEAD" } });
  await send(tenant, { at: Date.now() + 30_000 });
  expect((await states()).get(later.email)).toMatchObject({ attempts: 1 });
  await send(tenant, { at: Date.now() + 61_000 });
  expect((await states()).get(later.email)).toMatchObject({ state: "WAITING", attempts: 2 });
  await send(tenant, { at: Date.now() + 25 * 3_600_000 });
  expect((await states()).get(later.email)).toMatchObject({ state: "DEAD", attempts: 3 });
  await tenant.openCase();
  await hurryPeople(tenant);
  const ids = async () => (await mailsOf(tenant)).map((mail) => mail["mail_id"]);
  const before = await ids();
  await planMails({ database: service.current.database, clock });
  expect((await ids()).length).toBe(before.length + 2);
});

test("mail: a process that dies before it stores the result sends once more after the lease, with the same Message-ID", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  const { database } = service.current;
  const dying = new Proxy(database, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (name !== "query") return typeof member === "function" ? member.bind(target) : member;
      return (asked: { text: string }) =>
        asked.text.includes("last_error =") ? Promise.reject(new Error("killed")) : database.query(asked as never);
    },
  });
  const mailer = new Mailer(mailSettings(server.port));
  const options = { clock, log: openLog("silent"), mailer, publicUrl: consoleUrl };
  await planMails({ database, clock });
  await expect(sendNextMail({ ...options, database: dying })).rejects.toThrow("killed");
  await send(tenant);
  expect(server.mailsTo(email)).toHaveLength(1);
  await send(tenant, { at: Date.now() + 200_000 });
  const ids = server.mailsTo(email).map(({ headers }) => headers.get("message-id"));
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  await send(tenant, { at: Date.now() + 400_000 });
  expect(server.mailsTo(email)).toHaveLength(2);
});

test("mail: if several engines plan and send, each e-mail is planned and claimed by only one", async () => {
  const tenant = await newTenant();
  const people = await Promise.all(Array.from({ length: 4 }, () => newPerson(tenant)));
  for (const { person } of people) await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  await Promise.all(Array.from({ length: 4 }, () => send(tenant)));
  for (const { email } of people) expect(server.mailsTo(email)).toHaveLength(1);
  expect(await mailsOf(tenant)).toHaveLength(4);
});

test("mail: with `at_once`, a person gets at most one e-mail every five minutes, and none without news", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  await send(tenant);
  await tenant.openCase();
  await send(tenant, { at: Date.now() + 4 * 60_000 });
  expect(server.mailsTo(email)).toHaveLength(1);
  await setNotifications(person, { mentions: true });
  await send(tenant, { at: Date.now() + 4 * 60_000 });
  expect(server.mailsTo(email)).toHaveLength(1);
  await send(tenant, { at: Date.now() + 6 * 60_000 });
  expect(server.mailsTo(email)).toHaveLength(2);
  await hurryPeople(tenant);
  await send(tenant, { at: Date.now() + 12 * 60_000 });
  expect(await mailsOf(tenant)).toHaveLength(2);
});

test("mail: a person gets at most 100 e-mails a day, and the rest of the news comes later", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  const text = `insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at)
    select $1, gen_random_uuid(), $2, 'digest', 0, 0, 'SENT', 1, now(), now() from generate_series(1, 100)`;
  await service.current.database.query(statement(text, [tenant.tenantId, person.signedIn.user.user_id]));
  await tenant.openCase();
  await send(tenant);
  expect(server.mailsTo(email)).toEqual([]);
  await send(tenant, { at: Date.now() + 25 * 3_600_000 });
  expect(server.mailsTo(email)).toHaveLength(1);
});

test("mail: if the server cannot be reached, the e-mail waits, later ones are not tried, and no error contains the password", async () => {
  const tenant = await newTenant();
  const { person, email } = await newPerson(tenant);
  await setNotifications(person, { views: [(await makeView(person)).view_id], pace: "at_once" });
  await tenant.openCase();
  // Nothing listens there, and the system gives this port to nobody.
  expect((await send(tenant, { port: 1 })).at(-1)).toBe("server fault");
  expect(await mailsOf(tenant)).toMatchObject([{ state: "WAITING", last_error: expect.stringContaining("ECONNREFUSED") }]);
  await send(tenant, { at: Date.now() + 61_000 });
  expect(server.mailsTo(email)).toHaveLength(1);
});
