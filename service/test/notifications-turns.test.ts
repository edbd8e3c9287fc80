import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { NotificationSender } from "../src/engine/notifications.ts";
import { openLog } from "../src/log.ts";
import { Mailer } from "../src/mail/mailer.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { MailServer } from "./mail-server.ts";
import { consoleUrl, mailSettings, makeView, setNotifications } from "./notified.ts";
import { Browser, newEmail } from "./people.ts";

// E-mails are claimed over all tenants, so the file has a database of its own. Without SMTP_URL, the service itself sends nothing.
const service = useService({ databaseUrl: useOwnDatabase("notifications_turns"), mail: null });
let server: MailServer;
beforeAll(async () => {
  server = await MailServer.start();
});
afterAll(() => server.stop());

// People of the same role with the settings of somebody who is due. So they are due too.
async function copyPerson(tenant: TestTenant, email: string, count: number): Promise<void> {
  const text = `
    with copies as (
      insert into users (tenant_id, user_id, email, name, role, is_disabled, created_at)
      select tenant_id, gen_random_uuid(), 'copy-' || n || '@shop.example', name, role, false, created_at
      from users, generate_series(1, $3::int) as n
      where tenant_id = $1 and email = $2
      returning tenant_id, user_id
    )
    insert into notification_settings (tenant_id, user_id, settings, notifications_version, is_on, position, next_at)
    select c.tenant_id, c.user_id, s.settings, s.notifications_version, s.is_on, s.position, s.next_at
    from copies as c, users as u
    join notification_settings as s on s.tenant_id = u.tenant_id and s.user_id = u.user_id
    where u.tenant_id = $1 and u.email = $2`;
  await tenant.service.database.query(statement(text, [tenant.tenantId, email, count]));
}

class SteppedSender extends NotificationSender {
  step = () => this.turn();
}

test("mail: one turn sends at most 40 e-mails, so a person who becomes due meanwhile does not wait for all others", async () => {
  const { database } = service.current;
  const newDue = async () => {
    const tenant = await TestTenant.create(service.current);
    const email = newEmail();
    const person = await Browser.join(tenant, "lead", { email });
    const { view_id } = await makeView(person, { is_shared: true });
    await setNotifications(person, { views: [view_id], pace: "at_once" });
    await tenant.openCase();
    return { tenant, email };
  };
  const ada = await newDue();
  await copyPerson(ada.tenant, ada.email, 99);
  const sent = () => server.mails().length;
  const mailer = new Mailer(mailSettings(server.port));
  const sender = new SteppedSender({ database, clock, log: openLog("silent"), mailer, publicUrl: consoleUrl });
  expect(await sender.step()).toBe(0);
  expect(sent()).toBe(40);
  const ben = await newDue();
  expect(await sender.step()).toBe(0);
  expect([sent(), server.mailsTo(ben.email).length]).toEqual([80, 1]);
  expect(await sender.step()).toBeGreaterThan(0);
  expect(sent()).toBe(101);
});
