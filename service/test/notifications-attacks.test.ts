import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Case } from "@casehound/client";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { personDayMax, tenantHourMax, testsPerHourMax } from "../src/domain/notification.ts";
import { NotificationSender, planMails } from "../src/engine/notifications.ts";
import { openLog } from "../src/log.ts";
import { Mailer } from "../src/mail/mailer.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, newDatabase, testConfig } from "./harness.ts";
import { MailServer } from "./mail-server.ts";
import { consoleUrl, mailSettings, makeView, sendMails, setNotifications } from "./notified.ts";
import { Browser, newEmail } from "./people.ts";

// The service has the role `api` and a mail server, so only the tests send what people asked for.
const service: { current: Service } = { current: undefined as never };
const scoring: { current: Service } = { current: undefined as never };
let server: MailServer;
beforeAll(async () => {
  server = await MailServer.start();
  const databaseUrl = await newDatabase();
  scoring.current = await startService(testConfig({ databaseUrl, mail: null }));
  const roles = new Set(["api"] as const);
  service.current = await startService(testConfig({ databaseUrl, roles, mail: mailSettings(server.port) }));
});
afterAll(async () => {
  await service.current.stop();
  await scoring.current.stop();
  await server.stop();
});

type Watcher = { tenant: TestTenant; person: Browser; email: string };

async function newWatcher(settings: Parameters<typeof setNotifications>[1] = { pace: "at_once" }): Promise<Watcher> {
  const tenant = await TestTenant.create(service.current);
  const email = newEmail();
  const person = await Browser.join(tenant, "lead", { email });
  await setNotifications(person, { views: [(await makeView(person)).view_id], ...settings });
  return { tenant, person, email };
}

const send = (tenant: TestTenant, at = Date.now()) => sendMails(tenant, { port: server.port, at });

const change = (text: string, values: unknown[]) => service.current.database.query(statement(text, values));

async function mailsOf(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  return ((await tenant.call("GET", "/notifications/mails")).json.data as { mails: Record<string, unknown>[] }).mails;
}

// A text that no program can read as a case.
const spoil = ({ case_id }: Case) => change("update cases set document = '{' where case_id = $1", [case_id]);

const hourMs = 3_600_000;

test.each(["daily", "hourly"] as const)(
  "%s mails: what happens after an hour without news is reported in the next one, not at a time that an attacker chooses",
  async (pace) => {
    const { tenant, email } = await newWatcher({ pace });
    const quiet = new Date(Date.now() - hourMs).toISOString();
    await change("update notification_settings set next_at = $2 where tenant_id = $1", [tenant.tenantId, quiet]);
    await tenant.openCase();
    await send(tenant);
    expect(server.mailsTo(email)).toEqual([]);
    await send(tenant, Date.now() + 5 * 24 * hourMs);
    expect(server.mailsTo(email)).toHaveLength(1);
  },
);

test("mail: a tenant gets at most 1,000 in an hour, the rest is reported later, and another tenant is not affected", async () => {
  const { tenant, person, email } = await newWatcher();
  const other = await newWatcher();
  const users = Array.from({ length: tenantHourMax / personDayMax }, () => clock.newId());
  const text = `insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at)
    select $1, gen_random_uuid(), user_id, 'digest', 0, 0, 'SENT', 1, now(), now()
    from unnest($2::uuid[]) as user_id, generate_series(1, $3::int)`;
  await change(text, [tenant.tenantId, users, personDayMax]);
  for (const each of [tenant, other.tenant]) await each.openCase();
  await send(tenant);
  expect(server.mailsTo(email)).toEqual([]);
  expect(server.mailsTo(other.email)).toHaveLength(1);
  await send(tenant, Date.now() + hourMs / 2);
  expect(server.mailsTo(email)).toEqual([]);
  await send(tenant, Date.now() + 1.2 * hourMs);
  expect(server.mailsTo(email)).toHaveLength(1);
  expect((await person.call("GET", "/notifications")).json.data).toMatchObject({ last_mail: { state: "SENT" } });
});

test("POST notifications test 429: a person can send five in an hour, however many requests run side by side", async () => {
  const { tenant, person, email } = await newWatcher();
  const colleague = await Browser.join(tenant, "lead");
  const asked = Array.from({ length: testsPerHourMax + 3 }, () => person.call("POST", "/notifications/test"));
  const answers = await Promise.all(asked);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(testsPerHourMax);
  for (const refused of answers.filter(({ status }) => status !== 200)) {
    expectProblem(refused, 429, "rate-limited");
    expect(refused.headers.get("retry-after")).toBe("3600");
  }
  expect(server.mailsTo(email)).toHaveLength(testsPerHourMax);
  expect((await colleague.call("POST", "/notifications/test")).json.data).toEqual({ sent: true });
  await change("update notification_mails set created_at = now() - interval '61 minutes' where tenant_id = $1", [
    tenant.tenantId,
  ]);
  expect((await person.call("POST", "/notifications/test")).json.data).toEqual({ sent: true });
});

test("POST notifications test 429: tests count among a person's e-mails of a day and a tenant's of an hour", async () => {
  const { tenant, person, email } = await newWatcher();
  const ownId = person.signedIn.user.user_id;
  const text = `insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at)
    select $1, gen_random_uuid(), $2, 'digest', 0, 0, 'SENT', 1, now(), now() - make_interval(hours => $3::int)
    from generate_series(1, $4::int)`;
  await change(text, [tenant.tenantId, ownId, 2, personDayMax]);
  expectProblem(await person.call("POST", "/notifications/test"), 429, "rate-limited");
  await change("delete from notification_mails where tenant_id = $1", [tenant.tenantId]);
  await change(text, [tenant.tenantId, clock.newId(), 0, tenantHourMax]);
  expectProblem(await person.call("POST", "/notifications/test"), 429, "rate-limited");
  expect(server.mailsTo(email)).toEqual([]);
});

test("mail: one that cannot be written is tried for a day and given up, and the person gets the next one", async () => {
  const { tenant, email } = await newWatcher();
  await spoil(await tenant.openCase());
  expect(await send(tenant)).toContain("done");
  expect(await mailsOf(tenant)).toMatchObject([{ state: "WAITING", last_error: "the mail could not be written" }]);
  await send(tenant, Date.now() + 25 * hourMs);
  expect(await mailsOf(tenant)).toMatchObject([{ state: "DEAD", attempts: 2 }]);
  await tenant.openCase();
  await send(tenant, Date.now() + 26 * hourMs);
  expect(server.mailsTo(email)).toHaveLength(1);
});

test("mail: an account whose id looks like an address of a page does not become a link", async () => {
  const { tenant, email } = await newWatcher();
  await tenant.call("PUT", "/tenants", { body: { notification_details: "ids" } });
  await tenant.openCase("https://evil.example/login");
  await send(tenant);
  const [mail] = server.mailsTo(email);
  expect(mail?.text).toContain("https[:]//evil[.]example/login: score");
  expect(mail?.text).not.toContain("evil.example");
});

test("mail: a view that takes too long to search is named, so an attack that slows the database down is not hidden", async () => {
  const { tenant, person, email } = await newWatcher();
  const { view_id } = await makeView(person, { name: "Mine", filter: { handed_to: "me" } });
  await setNotifications(person, { views: [view_id] });
  const { case_id, case_version } = await tenant.openCase();
  const body = { case_version, handed_to: person.signedIn.user.user_id, text: "Yours" };
  expect((await person.call("POST", `/cases/${case_id}/handover`, { body, key: clock.newId() })).status).toBe(201);
  await service.current.database.transaction(async (tx) => {
    await tx.query(statement("lock table case_handovers in access exclusive mode", []));
    await send(tenant);
  });
  const [mail] = server.mailsTo(email);
  expect(mail?.headers.get("subject")).toBe(`[${tenant.slug}] 1 view not searched`);
  expect(mail?.text).toContain('There may be new cases in the view "Mine". Searching it took too long:');
  expect(mail?.text).toContain(`${consoleUrl}/views/${view_id}`);
});

test("mail: a tenant whose mails cannot be planned does not hold up the mails of others", async () => {
  const { tenant } = await newWatcher();
  const other = await newWatcher();
  await tenant.openCase();
  await other.tenant.openCase();
  await change("update tenants set time_zone = 'Nowhere' where tenant_id = $1", [tenant.tenantId]);
  const text = `update notification_settings set settings = settings || '{"pace": "hourly"}', next_at = now() - interval '1 hour'
    where tenant_id = $1`;
  await change(text, [tenant.tenantId]);
  await expect(send(tenant)).rejects.toThrow("time zone");
  expect(await mailsOf(other.tenant)).toMatchObject([{ state: "WAITING", email: other.email }]);
  await change("update notification_settings set is_on = false where tenant_id = $1", [tenant.tenantId]);
  await send(tenant);
  expect(server.mailsTo(other.email)).toHaveLength(1);
});

test("mail: changing the pace back and forth, or switching off and on, brings no mail earlier", async () => {
  const { tenant, person, email } = await newWatcher();
  const { views } = (await person.call("GET", "/notifications")).json.data;
  await tenant.openCase();
  await send(tenant);
  await setNotifications(person, { pace: "hourly" });
  await setNotifications(person, { pace: "at_once" });
  await setNotifications(person, { views: [] });
  await setNotifications(person, { views });
  await tenant.openCase();
  await send(tenant, Date.now() + 4 * 60_000);
  expect(server.mailsTo(email)).toHaveLength(1);
  await send(tenant, Date.now() + 6 * 60_000);
  expect(server.mailsTo(email)).toHaveLength(2);
});

const drips: { stop: () => void }[] = [];
afterEach(() => {
  for (const drip of drips.splice(0)) drip.stop();
});

// A server that greets and then never stops responding: never silent, and never done.
async function startDrip(): Promise<{ port: number; connected: Promise<void> }> {
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const drip = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.write("220 drip\r\n");
    const timer = setInterval(() => socket.write("250-drip\r\n"), 20);
    socket.on("close", () => clearInterval(timer));
    resolve();
  });
  await new Promise<void>((up) => drip.listen(0, "127.0.0.1", up));
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    drip.close();
  };
  drips.push({ stop });
  return { port: (drip.address() as AddressInfo).port, connected };
}

test("mailer: the connection to a server that never stops responding is closed after the time limit", async () => {
  const { port } = await startDrip();
  const mail = { id: clock.newId(), to: newEmail(), subject: "A", text: "B", settingsUrl: consoleUrl };
  expect(await new Mailer(mailSettings(port), 300).send(mail)).toEqual({
    isSent: false,
    isServerFault: true,
    isFinal: false,
    error: "the mail server did not finish within 0.3 s",
  });
});

test("mail: a server that never stops responding does not delay the stop, and the mail is sent later", async () => {
  const { tenant, email } = await newWatcher();
  await tenant.openCase();
  const { database } = service.current;
  await planMails({ database, clock });
  const { port, connected } = await startDrip();
  const mailer = new Mailer(mailSettings(port));
  const sender = new NotificationSender({ database, clock, log: openLog("silent"), mailer, publicUrl: consoleUrl });
  sender.start();
  await connected;
  await sender.stop();
  expect(await mailsOf(tenant)).toMatchObject([{ state: "WAITING", attempts: 1 }]);
  await send(tenant, Date.now() + 200_000);
  expect(server.mailsTo(email)).toHaveLength(1);
});
