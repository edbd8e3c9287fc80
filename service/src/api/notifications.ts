import { Type } from "typebox";
import { countMails, findLastMail, insertMail, listMails, saveTestEnd } from "../db/notification-mails.ts";
import { findNotifications, lockPerson, saveNotifications } from "../db/notifications.ts";
import { findDueTimes } from "../db/due-times.ts";
import { findTenant } from "../db/tenants.ts";
import { findUser } from "../db/users.ts";
import { listViews } from "../db/views.ts";
import { noDueTimes } from "../domain/due.ts";
import { Failure } from "../domain/failure.ts";
import { nextMailAt } from "../domain/mail-times.ts";
import {
  NotificationMail,
  NotificationSettings,
  NotificationTest,
  Notifications,
  atOnceMs,
  changeNotifications,
  isOn,
  mailDays,
  mailStates,
  noNotifications,
  personDayMax,
  tenantHourMax,
  testsPerHourMax,
  type MailState,
} from "../domain/notification.ts";
import { ownerOf } from "../domain/view.ts";
import { invalid } from "./http/validate.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";

// Clients get no e-mails. No person has this id.
const nobody = "00000000-0000-0000-0000-000000000000";
const keyOf = ({ tenant_id, person }: Caller) => ({ tenant_id, user_id: person?.user_id ?? nobody });

// A view that the caller no longer sees is left out.
async function show({ database, mailer }: Services, caller: Caller): Promise<Reply> {
  const key = keyOf(caller);
  const found = (await findNotifications(database, key)) ?? noNotifications;
  const seen = await listSeen(database, caller);
  const last_mail = await findLastMail(database, key);
  const email = (await findUser(database, key.tenant_id, key.user_id))?.email;
  return dataReply({
    ...found,
    views: found.views.filter((id) => seen.has(id)),
    is_mail_set_up: mailer !== null,
    ...(email !== undefined && { email }),
    ...(last_mail && { last_mail }),
  });
}

async function listSeen(database: Services["database"], caller: Caller): Promise<Set<string>> {
  if (!caller.scopes.has("read:cases")) return new Set();
  return new Set((await listViews(database, caller.tenant_id, ownerOf(caller))).map(({ view_id }) => view_id));
}

async function update(services: Services, { caller, body }: Call<NotificationSettings>): Promise<Reply> {
  const { database } = services;
  const key = keyOf(caller);
  const seen = await listSeen(database, caller);
  if (body.views.some((id) => !seen.has(id)))
    throw invalid([{ field: "views", message: "must contain only your own and shared views" }]);
  const now = services.now();
  await database.transaction(async (tx) => {
    const isPerson = await lockPerson(tx, key);
    const settings = changeNotifications((await findNotifications(tx, key)) ?? noNotifications, body);
    if (!isPerson) return;
    const { time_zone: zone = "UTC" } = (await findTenant(tx, caller.slug)) ?? {};
    const { days, days_off: daysOff } = (await findDueTimes(tx, caller.tenant_id))?.due_times ?? noDueTimes;
    // Changing the pace back and forth, or switching off and on, must not bring the next mail earlier.
    const last = await findLastMail(tx, key);
    const earliest = last ? new Date(Date.parse(last.created_at) + atOnceMs).toISOString() : now;
    const wanted = settings.pace === "at_once" ? now : nextMailAt(settings, now, { days, daysOff, zone });
    const nextAt = wanted > earliest ? wanted : earliest;
    await saveNotifications(tx, key, { settings, isOn: isOn(settings), nextAt });
  });
  return show(services, caller);
}

function tooMany(detail: string): Failure {
  return new Failure("rate-limited", detail, { headers: { "retry-after": "3600" } });
}

// Sends at once, so the caller sees the result. The e-mail counts before it is sent.
async function test(services: Services, { caller }: Call): Promise<Reply> {
  const { database, mailer, publicUrl } = services;
  const key = keyOf(caller);
  const email = (await findUser(database, key.tenant_id, key.user_id))?.email;
  if (email === undefined) return dataReply({ sent: false, error: "Only people get e-mails." });
  if (!mailer) return dataReply({ sent: false, error: "The operator of this service has not set up e-mail." });
  const now = services.now();
  const mail_id = services.newId(now);
  await database.transaction(async (tx) => {
    await lockPerson(tx, key);
    const { testsOfPerson, ofPersonToday, ofTenantThisHour } = await countMails(tx, key, now);
    if (testsOfPerson >= testsPerHourMax) throw tooMany(`You can send at most ${testsPerHourMax} test e-mails an hour.`);
    // Tests count like all other e-mails.
    if (ofPersonToday >= personDayMax) throw tooMany(`A person gets at most ${personDayMax} e-mails a day.`);
    if (ofTenantThisHour >= tenantHourMax) throw tooMany(`A tenant can send at most ${tenantHourMax} e-mails an hour.`);
    await insertMail(tx, key, { mail_id, kind: "test", after: 0, last: 0, now });
  });
  const settingsUrl = `${publicUrl}/notifications`;
  const text = `This is a test. Casehound sends your notifications to this address.\n\n-- \nChange your settings: ${settingsUrl}`;
  const mailed = await mailer.send({
    id: mail_id,
    to: email,
    subject: `[${caller.slug}] Test notification`,
    text,
    settingsUrl,
  });
  const error = mailed.isSent ? null : mailed.error;
  await saveTestEnd(database, { tenant_id: caller.tenant_id, mail_id, error, now: services.now() });
  if (error === null) return dataReply({ sent: true });
  // The server's error may describe the operator's network. Only those who manage people see it.
  const isDetailed = caller.scopes.has("manage:users");
  return dataReply({ sent: false, error: isDetailed ? error : "The mail server did not accept the e-mail. Ask an admin." });
}

function listSent(services: Services, call: Call): Promise<Reply> {
  const { state } = call.query as { state?: MailState };
  return listPage<NotificationMail, string>(services, call, {
    id: "listNotificationMails",
    path: "/notifications/mails",
    name: "mails",
    key: { state: state ?? "" },
    read: (before, limit) => listMails(services.database, call.caller.tenant_id, { state: state ?? null, before, limit }),
    positionOf: ({ mail_id }) => mail_id,
    show: (found) => found,
  });
}

const common = { tag: "Notifications", scope: "read:case" } as const;

export const notificationOperations: Operation[] = [
  operation({
    ...common,
    id: "getNotifications",
    method: "GET",
    path: "/notifications",
    summary: "Read the caller's notification settings",
    description: "Only people get e-mails: for a client, everything is off.",
    success: { status: 200, description: "The caller's settings", schema: Notifications },
    problems: [],
    handle: (services, { caller }) => show(services, caller),
  }),
  operation({
    ...common,
    id: "updateNotifications",
    method: "PUT",
    path: "/notifications",
    summary: "Change the caller's notification settings",
    description:
      "Applies only if `notifications_version` is the current one. An e-mail has counts, scores, labels and links. It names accounts only if the tenant's `notification_details` is `ids`. It covers only events that happen after notifications were switched on. Only people get e-mails: for a client, everything stays off.",
    body: NotificationSettings,
    success: { status: 200, description: "The settings after the change", schema: Notifications },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: { ...noNotifications, mentions: true, handovers: true, overdue: "mine" },
    handle: update,
  }),
  operation({
    ...common,
    id: "testNotifications",
    method: "POST",
    path: "/notifications/test",
    summary: "Send a test e-mail to the caller",
    description: `Sends one e-mail at once. The response says whether the mail server accepted it. A person can send ${testsPerHourMax} an hour.`,
    success: { status: 200, description: "The result of the test", schema: NotificationTest },
    problems: ["transaction-contended"],
    handle: test,
  }),
  operation({
    tag: "Notifications",
    scope: "manage:users",
    id: "listNotificationMails",
    method: "GET",
    path: "/notifications/mails",
    summary: "List the e-mails to the tenant's people",
    description: `Newest first, with the last error of each. E-mails are listed for ${mailDays} days. Their texts are not stored.`,
    query: Type.Object({ state: Type.Optional(Type.Enum([...mailStates])), limit: Limit, cursor: Cursor }),
    success: pageOf("mails", NotificationMail, "A page of e-mails"),
    problems: ["bad-request"],
    handle: listSent,
  }),
];
