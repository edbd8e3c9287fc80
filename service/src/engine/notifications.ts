import type { Logger } from "pino";
import { claimMail, countMails, deleteMail, insertMail, saveMailEnd, type ClaimedMail } from "../db/notification-mails.ts";
import { listPeopleDue, lockPersonDue, saveEarlierLook, savePosition, type PersonKey } from "../db/notifications.ts";
import type { Database } from "../db/postgres/database.ts";
import { findPublicUrl } from "../db/settings.ts";
import { digestSubject, digestText, isEmpty } from "../domain/digest.ts";
import { noDueTimes } from "../domain/due.ts";
import { idleMs, nextMailPauseMs, personDayMax, tenantHourMax } from "../domain/notification.ts";
import { nextMailAt } from "../domain/mail-times.ts";
import type { Mailed, Mailer } from "../mail/mailer.ts";
import type { Clock } from "./cases.ts";
import { readDigest } from "./digests.ts";
import { Worker } from "./worker.ts";

const restMs = 1_000;
const faultMs = 5_000;
const afterServerFaultMs = 15_000;
// Longer than any attempt may take.
const leaseMs = 180_000;
const limitedMs = 5 * 60_000;
const mailsAtOnceMax = 4;
// How many of them one sender sends in a row before new e-mails are planned.
const mailsPerTurnMax = 10;
// How long an e-mail under way may still take when the service stops. If it were aborted, it would often be sent twice.
const graceMs = 5_000;

type Options = {
  database: Database;
  clock: Clock;
  log: Logger;
  mailer: Mailer;
  publicUrl: string | null;
  // Whose e-mail was claimed last. The next one belongs to another tenant, if another has one.
  turns?: { lastTenantId: string | null };
  // Aborts an e-mail that is under way.
  leaving?: AbortSignal;
};

// Sends people their notifications. Several processes may run it: each e-mail is planned by one of them and sent by one of them.
export class NotificationSender extends Worker {
  readonly #options: Options;
  readonly #leaving = new AbortController();

  constructor(options: Options) {
    super();
    this.#options = { ...options, turns: { lastTenantId: null }, leaving: this.#leaving.signal };
  }

  override async stop(): Promise<void> {
    const timer = setTimeout(() => this.#leaving.abort(), graceMs);
    await super.stop();
    clearTimeout(timer);
  }

  protected async turn(): Promise<number> {
    const { log } = this.#options;
    try {
      await planMails(this.#options).catch((error: unknown) => log.error({ err: error }, "notifications could not be planned"));
      const lanes = await Promise.allSettled(Array.from({ length: mailsAtOnceMax }, () => this.#sendSome()));
      // Only after all have ended, so that none goes on while the next turn starts others.
      for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
      const ends = new Set(lanes.map((lane) => (lane.status === "fulfilled" ? lane.value : "none")));
      if (ends.has("server fault")) return afterServerFaultMs;
      return ends.has("done") ? 0 : restMs;
    } catch (error) {
      log.error({ err: error }, "notifications could not be processed and will be retried");
      return faultMs;
    }
  }

  // Returns "done" if more e-mails may wait.
  async #sendSome(): Promise<Sent> {
    for (let count = 0; count < mailsPerTurnMax; count++) {
      if (this.signal.aborted) return "none";
      const sent = await sendNextMail(this.#options);
      if (sent !== "done") return sent;
    }
    return "done";
  }
}

type Planning = Pick<Options, "database" | "clock">;

// Decides who gets an e-mail now, and which events it covers. An error for one person does not hold up the others.
export async function planMails({ database, clock }: Planning): Promise<void> {
  const faults: unknown[] = [];
  for (const key of await listPeopleDue(database, clock.now()))
    await planMail({ database, clock }, key).catch((error: unknown) => faults.push(error));
  if (faults.length > 0) throw faults[0];
}

function planMail({ database, clock }: Planning, key: PersonKey): Promise<void> {
  return database.transaction(async (tx) => {
    const now = clock.now();
    const due = await lockPersonDue(tx, key, now);
    if (!due) return;
    const { ofPersonToday, ofTenantThisHour } = await countMails(tx, key, now);
    // The events stay uncovered, so a later e-mail includes them.
    if (ofPersonToday >= personDayMax || ofTenantThisHour >= tenantHourMax)
      return savePosition(tx, key, { position: due.position, nextAt: later(now, limitedMs) });
    const { days, days_off: daysOff } = due.due_times ?? noDueTimes;
    const nextAt = nextMailAt(due.settings, now, { days, daysOff, zone: due.time_zone });
    // There was no news at the hour of the e-mail, so what happened since waits for the next one.
    if (due.settings.pace !== "at_once" && due.is_later) return savePosition(tx, key, { position: due.position, nextAt });
    await insertMail(tx, key, { mail_id: clock.newId(now), kind: "digest", after: due.position, last: due.last_event_id, now });
    await savePosition(tx, key, { position: due.last_event_id, nextAt });
  });
}

// "server fault": the mail server accepts nothing now.
type Sent = "none" | "done" | "server fault";

// Sends one e-mail. If the process dies after the server accepted it and before that is stored, it is sent
// once more, with the same Message-ID.
export async function sendNextMail(options: Options): Promise<Sent> {
  const { database, clock, log, leaving, turns = { lastTenantId: null } } = options;
  const now = clock.now();
  const claimed = await claimMail(database, { now, leaseUntil: later(now, leaseMs), lastTenantId: turns.lastTenantId });
  if (!claimed) return "none";
  turns.lastTenantId = claimed.tenant_id;
  const mailed = await sendClaimed(options, claimed, now);
  if (mailed === "no news") {
    await database.transaction(async (tx) => {
      await deleteMail(tx, claimed);
      await saveEarlierLook(tx, claimed, later(now, idleMs));
    });
    return "done";
  }
  // It is unknown whether the mail arrived. It is sent again when its lease expires.
  if (!mailed.isSent && leaving?.aborted === true) return "none";
  await saveMailEnd(database, claimed, endOf(mailed, claimed, clock.now()));
  if (mailed.isSent) return "done";
  const { tenant_id, mail_id, attempts } = claimed;
  log.warn({ tenant_id, mail_id, attempts, error: mailed.error }, "a notification could not be sent");
  return mailed.isServerFault ? "server fault" : "done";
}

async function sendClaimed(options: Options, mail: ClaimedMail, now: string): Promise<Mailed | "no news"> {
  const { database, log, mailer, leaving } = options;
  const publicUrl = options.publicUrl ?? (await findPublicUrl(database)) ?? "";
  const digest = await readDigest(database, { mail, publicUrl, now }).catch((error: unknown) => {
    log.error({ err: error, tenant_id: mail.tenant_id, mail_id: mail.mail_id }, "a notification could not be written");
    return null;
  });
  if (digest === null) return unwritable;
  if (!digest || isEmpty(digest)) return "no news";
  const [subject, text] = [digestSubject(digest), digestText(digest)];
  return mailer.send({ id: mail.mail_id, to: digest.to, subject, text, settingsUrl: `${publicUrl}/notifications` }, leaving);
}

// Otherwise an e-mail that can never be written would be retried forever.
const unwritable: Mailed = { isSent: false, error: "the mail could not be written", isFinal: false, isServerFault: false };

function endOf(mailed: Mailed, { attempts, first_at }: ClaimedMail, now: string) {
  if (mailed.isSent) return { state: "SENT" as const, next_at: now, error: null };
  const pause = mailed.isFinal ? null : nextMailPauseMs(attempts, Date.parse(now) - Date.parse(first_at));
  return pause === null
    ? { state: "DEAD" as const, next_at: now, error: mailed.error }
    : { state: "WAITING" as const, next_at: later(now, pause), error: mailed.error };
}

const later = (now: string, ms: number) => new Date(Date.parse(now) + ms).toISOString();
