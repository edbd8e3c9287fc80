import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { noNotifications, notifiedViewsMax } from "../src/domain/notification.ts";
import { expectProblem, TestTenant, useService } from "./harness.ts";
import { makeView, setNotifications } from "./notified.ts";
import { Browser } from "./people.ts";

const service = useService();

const valid = { ...noNotifications, mentions: true };

async function stored(tenant: TestTenant): Promise<unknown[]> {
  return service.current.database.query(sql`
    select user_id, settings, notifications_version, is_on
    from notification_settings
    where tenant_id = ${tenant.tenantId}`);
}

test("GET notifications 200: everything is off until the person asks for it, and says whether there is a mail server", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const { email } = ada.signedIn.user;
  expect((await ada.call("GET", "/notifications")).json.data).toEqual({ ...noNotifications, email, is_mail_set_up: false });
  expect(await stored(tenant)).toEqual([]);
});

test("PUT notifications 200: changes only the caller's own settings, and 409 with an older version changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const [ada, ben] = [await Browser.join(tenant, "investigator"), await Browser.join(tenant, "investigator")];
  expect(await setNotifications(ada, { mentions: true })).toMatchObject({ mentions: true, notifications_version: 2 });
  expect((await ben.call("GET", "/notifications")).json.data).toMatchObject(noNotifications);
  const before = await stored(tenant);
  expectProblem(await ada.call("PUT", "/notifications", { body: valid }), 409, "item-version-conflict");
  expect(await stored(tenant)).toEqual(before);
});

test("PUT notifications: of two requests with the same version, one applies", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const answers = await Promise.all([1, 2, 3].map((hour) => ada.call("PUT", "/notifications", { body: { ...valid, hour } })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
});

test.each([
  ["a view that does not exist", { views: [randomUUID()] }, "views"],
  ["a text instead of a view's id", { views: ["x' or 1=1"] }, "views"],
  ["too many views", { views: Array.from({ length: notifiedViewsMax + 1 }, () => randomUUID()) }, "views"],
  ["an hour that no clock shows", { hour: 24 }, "hour"],
  ["another pace", { pace: "always" }, "pace"],
  ["another person", { user_id: randomUUID() }, "user_id"],
  ["another address", { email: "eve@evil.example" }, "email"],
])("PUT notifications 422: %s is rejected, and nothing changes", async (_what, change, field) => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const refused = expectProblem(
    await ada.call("PUT", "/notifications", { body: { ...valid, ...change } }),
    422,
    "validation-error",
  );
  expect(refused.errors?.map((each) => each.field)).toContain(field);
  expect(await stored(tenant)).toEqual([]);
});

test("PUT notifications 422: a private view of a colleague is rejected like one that does not exist", async () => {
  const tenant = await TestTenant.create(service.current);
  const [ada, ben] = [await Browser.join(tenant, "investigator"), await Browser.join(tenant, "admin")];
  const { view_id } = await makeView(ada);
  const texts = await Promise.all(
    [view_id, randomUUID()].map(
      async (id) => (await ben.call("PUT", "/notifications", { body: { ...valid, views: [id] } })).text,
    ),
  );
  expect(texts[0]).toBe(texts[1]);
  expect(await stored(tenant)).toEqual([]);
});

test("PUT notifications 200: for a client everything stays off, and its test reaches nobody", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await tenant.call("PUT", "/notifications", { body: valid })).json.data).toMatchObject(noNotifications);
  expect((await tenant.call("POST", "/notifications/test")).json.data).toEqual({
    sent: false,
    error: "Only people get e-mails.",
  });
  expect(await stored(tenant)).toEqual([]);
});

test("POST notifications test 200: without a mail server, says that the operator has not set it up", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const error = "The operator of this service has not set up e-mail.";
  expect((await ada.call("POST", "/notifications/test")).json.data).toEqual({ sent: false, error });
});

test("GET notification mails: only those who manage people see who got e-mails", async () => {
  const tenant = await TestTenant.create(service.current);
  const lead = await Browser.join(tenant, "lead");
  expectProblem(await lead.call("GET", "/notifications/mails"), 403, "access-denied");
  const admin = await Browser.join(tenant, "admin");
  expect((await admin.call("GET", "/notifications/mails")).json.data).toEqual({ mails: [], next_cursor: null });
});

test("DELETE account: what a mail server said about the account is erased too, and nothing else of notifications names it", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "lead");
  const account = `account-${randomUUID()}`;
  await tenant.openCase(account);
  await setNotifications(ada, {
    views: [(await makeView(ada, { name: account, filter: { website_account_id: account } })).view_id],
  });
  const text = `insert into notification_mails (tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at, last_error)
    values ($1, gen_random_uuid(), $2, 'digest', 0, 0, 'DEAD', 1, now(), now(), $3)`;
  const error = `554 refused: "${account}"`;
  await service.current.database.query(statement(text, [tenant.tenantId, ada.signedIn.user.user_id, error]));
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBeLessThan(300);
  const rows = await service.current.database.query(sql`
    select to_jsonb(m) as mail, to_jsonb(s) as settings
    from notification_mails as m
    join notification_settings as s using (tenant_id, user_id)
    where tenant_id = ${tenant.tenantId}`);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(account);
});
