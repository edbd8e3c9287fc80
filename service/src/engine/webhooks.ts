import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "../db/postgres/database.ts";
import {
  claimDeliveries,
  fanOut,
  listWebhooksBehind,
  listWebhooksDue,
  saveAttempt,
  type Claimed,
  type Ended,
  type WebhookKey,
} from "../db/deliveries.ts";
import { readFullEvents } from "../db/full-events.ts";
import { findWebhook, saveWebhook, type StoredWebhook } from "../db/webhooks.ts";
import { chatTypes, nextPauseMs, webhookReach, webhookTypes } from "../domain/webhook.ts";
import { messageOf } from "../webhook/message.ts";
import { post, type PostSettings, type Posted } from "../webhook/post.ts";
import { Worker } from "./worker.ts";

const restMs = 250;
const faultMs = 2_000;
// Longer than any attempt may take.
const leaseMs = 60_000;
const eventsMax = 500;
const waitingMax = 10_000;
// The maximum of messages in flight per receiver, per tenant and in total.
const atOnceMax = 4;
const tenantAtOnceMax = 32;
const allAtOnceMax = 128;
const gone = 410;

type WebhookOptions = { database: Database; clock: { now: () => string }; log: Logger; post: PostSettings };

// Creates deliveries for new events and sends those that are due. Messages in flight are limited per receiver and per tenant, so
// that slow receivers do not delay others. No transaction is open while a message is in flight.
export class WebhookSender extends Worker {
  readonly #options: WebhookOptions;
  readonly #underWay = new Map<string, Set<Promise<void>>>();
  readonly #ofTenants = new Map<string, number>();
  // Webhooks whose last message failed. They get one message at a time until one is delivered.
  readonly #failing = new Set<string>();

  constructor(options: WebhookOptions) {
    super();
    this.#options = options;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all([...this.#underWay.values()].flatMap((sending) => [...sending]));
  }

  protected async turn(): Promise<number> {
    const { database, clock, log } = this.#options;
    try {
      for (const key of await listWebhooksBehind(database))
        await database.transaction((tx) =>
          fanOut(tx, key, { types: webhookTypes, chatTypes, eventsMax, waitingMax, now: clock.now() }),
        );
      let taken = 0;
      // The tenant with the fewest messages in flight comes first.
      const due = (await listWebhooksDue(database, clock.now())).toSorted((a, b) => this.#placesOf(a) - this.#placesOf(b));
      for (const key of due) taken += await this.#take(key);
      // A delivered message may unblock the next one about the same resource, so look again soon.
      return taken > 0 ? 20 : restMs;
    } catch (error) {
      log.error({ err: error }, "webhook deliveries could not be processed and will be retried");
      return faultMs;
    }
  }

  #placesOf({ tenant_id }: WebhookKey): number {
    return this.#ofTenants.get(tenant_id) ?? 0;
  }

  #addPlaces(key: WebhookKey, places: number): void {
    const all = this.#placesOf(key) + places;
    if (all > 0) this.#ofTenants.set(key.tenant_id, all);
    else this.#ofTenants.delete(key.tenant_id);
  }

  async #take(key: WebhookKey): Promise<number> {
    const { database, clock } = this.#options;
    const id = key.webhook_id;
    const sending = this.#underWay.get(id) ?? new Set<Promise<void>>();
    const all = [...this.#ofTenants.values()].reduce((sum, each) => sum + each, 0);
    const own = (this.#failing.has(id) ? 1 : atOnceMax) - sending.size;
    const limit = Math.min(own, tenantAtOnceMax - this.#placesOf(key), allAtOnceMax - all);
    if (limit <= 0) return 0;
    const now = clock.now();
    const claimed = await claimDeliveries(database, key, { limit, now, leaseUntil: later(now, leaseMs) });
    this.#underWay.set(id, sending);
    for (const each of claimed) {
      this.#addPlaces(key, 1);
      const sent: Promise<void> = this.#send(key, each).finally(() => {
        this.#addPlaces(key, -1);
        sending.delete(sent);
        if (sending.size === 0) this.#underWay.delete(id);
      });
      sending.add(sent);
    }
    return claimed.length;
  }

  async #send(key: WebhookKey, claimed: Claimed): Promise<void> {
    const { database, clock, log } = this.#options;
    try {
      const webhook = await findWebhook(database, key.tenant_id, key.webhook_id);
      if (!webhook) return;
      const posted = await this.#post(key, webhook, claimed.event_id);
      // It is unknown whether the message arrived. It is sent again when its lease expires.
      if (!posted.delivered && this.signal.aborted) return;
      if (posted.delivered) this.#failing.delete(key.webhook_id);
      else this.#failing.add(key.webhook_id);
      await saveAttempt(database, key, claimed, endOf(posted, claimed, clock.now()));
      if (posted.delivered) return;
      log.warn(
        { ...key, event_id: claimed.event_id, attempts: claimed.attempts, error: posted.error },
        "a webhook message failed",
      );
      if (posted.status === gone) await this.#disable(key);
    } catch (error) {
      // The delivery is retried when its lease expires.
      log.error({ err: error, ...key, event_id: claimed.event_id }, "a webhook message could not be sent or recorded");
      await sleep(faultMs, undefined, { signal: this.signal }).catch(() => {});
    }
  }

  async #post(key: WebhookKey, webhook: StoredWebhook, eventId: number): Promise<Posted> {
    const { database, clock } = this.#options;
    const page = { after: eventId - 1, limit: 1 };
    const { events } = await readFullEvents(database, key.tenant_id, { ...page, scopes: new Set(webhookReach) });
    const text = events.find((event) => event.startsWith(`{"event_id":${eventId},`));
    // The event has been removed in the meantime, so there is nothing to send.
    if (text === undefined) return { delivered: true };
    return post(messageOf(webhook, { id: String(eventId), body: text, now: clock.now() }), {
      ...this.#options.post,
      signal: this.signal,
    });
  }

  // 410 means that the receiver is gone permanently.
  async #disable({ tenant_id, webhook_id }: WebhookKey): Promise<void> {
    const { database, clock, log } = this.#options;
    const reason = `The receiver responded with ${gone} (gone).`;
    const changed = { url: null, types: null, is_enabled: false, disabled_reason: reason, now: clock.now() };
    await database.transaction((tx) => saveWebhook(tx, tenant_id, webhook_id, changed));
    log.warn({ tenant_id, webhook_id }, "a webhook was disabled because its receiver returned 410");
  }
}

const later = (now: string, ms: number) => new Date(Date.parse(now) + ms).toISOString();

function endOf({ delivered, status, error }: Posted, { attempts, first_at }: Claimed, now: string): Ended {
  const common = { status: status ?? null, error: error ?? null, next_at: now };
  if (delivered) return { ...common, state: "DELIVERED" };
  const pause = nextPauseMs(attempts, Date.parse(now) - Date.parse(first_at), Math.random());
  return pause === null ? { ...common, state: "DEAD" } : { ...common, state: "WAITING", next_at: later(now, pause) };
}
