// What the tests of notifications share.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Case } from "@casehound/client";
import { clock } from "../src/clock.ts";
import { appendEvents } from "../src/db/events.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { NotificationSettings } from "../src/domain/notification.ts";
import { planMails, sendNextMail } from "../src/engine/notifications.ts";
import { openLog } from "../src/log.ts";
import { Mailer } from "../src/mail/mailer.ts";
import type { MailSettings } from "../src/mail/settings.ts";
import type { TestTenant } from "./harness.ts";
import type { Browser } from "./people.ts";

export const consoleUrl = "https://casehound.example";

export function mailSettings(port: number, more: Partial<MailSettings> = {}): MailSettings {
  const from = { name: "Casehound", address: "alerts@casehound.example" };
  return { host: "127.0.0.1", port, tls: "off", user: null, password: null, from, ...more };
}

export async function setNotifications(person: Browser, change: Partial<NotificationSettings>): Promise<NotificationSettings> {
  const found: Record<string, unknown> = (await person.call("GET", "/notifications")).json.data;
  const { email: _email, is_mail_set_up: _isSetUp, last_mail: _last, ...settings } = found;
  const answer = await person.call("PUT", "/notifications", { body: { ...settings, ...change } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

// Plans and sends everything that is due at this time.
export async function sendMails(tenant: TestTenant, { port, at = Date.now(), settings = {} }: Sending): Promise<string[]> {
  const { database } = tenant.service;
  const mailer = new Mailer(mailSettings(port, settings));
  const then = { ...clock, now: () => new Date(at).toISOString() };
  const options = { database, clock: then, log: openLog("silent"), mailer, publicUrl: consoleUrl };
  await planMails(options);
  const sent: string[] = [];
  for (let next = await sendNextMail(options); next !== "none" && sent.length < 100; next = await sendNextMail(options)) {
    sent.push(next);
    if (next === "server fault") break;
  }
  return sent;
}

type Sending = { port: number; at?: number; settings?: Partial<MailSettings> };

// Makes people due, as if the time until their next mail had passed.
export async function hurryPeople(tenant: TestTenant): Promise<void> {
  const text = `update notification_settings set next_at = now() - interval '1 minute' where tenant_id = $1`;
  await tenant.service.database.query(statement(text, [tenant.tenantId]));
}

// Opens cases like the given one, without the engine: all of them belong to the attack whose case is given, if one is.
export async function copyCase(
  tenant: TestTenant,
  found: Case,
  { count, attack }: { count: number; attack?: Case },
): Promise<string[]> {
  const { database } = tenant.service;
  const ids = Array.from({ length: count }, () => clock.newId());
  const columns = await database.query<{ name: string }>(
    statement(
      `select column_name as name from information_schema.columns
      where table_name = 'cases' and table_schema = current_schema() and is_generated = 'NEVER'`,
      [],
    ),
  );
  const details = { ...found.details, ...(attack && { campaign_case_id: attack.case_id }) };
  const { end_user_is_blocked: _blocked, ...document } = { ...found, details };
  const values: Record<string, string> = {
    case_id: "n.id::uuid",
    subject: "'copy:' || n.id",
    document: "replace($3::text, $4::text, n.id)",
  };
  const names = columns.map(({ name }) => name);
  const text = `insert into cases (${names.join(", ")})
    select ${names.map((name) => values[name] ?? `c.${name}`).join(", ")}
    from unnest($2::text[]) as n (id), cases as c
    where c.tenant_id = $1 and c.case_id = $4::text::uuid`;
  await database.query(statement(text, [tenant.tenantId, ids, JSON.stringify(document), found.case_id]));
  await announceCases(tenant, ids);
  return ids;
}

async function announceCases(tenant: TestTenant, ids: string[]): Promise<void> {
  const now = new Date().toISOString();
  const events = ids.map((id) => ({
    type: "case.opened" as const,
    occurred_at: now,
    actor: "system",
    resource: { type: "case" as const, id, version: 1 },
  }));
  await tenant.service.database.transaction((tx) => appendEvents(tx, tenant.tenantId, events));
}

// Gives a case the members of an attack.
export async function makeAttack(tenant: TestTenant, found: Case, accounts: number): Promise<void> {
  const members = { count: accounts, created: 0, entered: 0, first: [] };
  const text = `update cases set document = (document::jsonb || jsonb_build_object('details', (document::jsonb -> 'details') || jsonb_build_object('members', $3::jsonb)))::text
    where tenant_id = $1 and case_id = $2`;
  await tenant.service.database.query(statement(text, [tenant.tenantId, found.case_id, JSON.stringify(members)]));
}

export async function makeView(
  by: Browser,
  body: Record<string, unknown> = {},
): Promise<{ view_id: string; view_version: number }> {
  const answer = await by.call("POST", "/views", { body: { name: `view ${randomUUID()}`, ...body } });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

export async function writeNote(by: Browser | TestTenant, found: Case, text: string): Promise<void> {
  const answer = await by.call("POST", `/cases/${found.case_id}/notes`, { body: { text }, key: randomUUID() });
  expect(answer.status, answer.text).toBe(201);
}
