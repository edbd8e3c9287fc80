import type { Logger } from "pino";
import { claimChat, listChatsDue, readChatEvents, saveChatEnd, type ChatClaim } from "../db/chat-deliveries.ts";
import type { WebhookKey } from "../db/deliveries.ts";
import type { Database, Queryable } from "../db/postgres/database.ts";
import { findPublicUrl } from "../db/settings.ts";
import { readToldCases } from "../db/told-cases.ts";
import { findSharedView } from "../db/views.ts";
import { findWebhook, saveWebhook, type StoredWebhook } from "../db/webhooks.ts";
import { chatMessage, type ChatMessage } from "../domain/chat.ts";
import { nextPauseMs } from "../domain/webhook.ts";
import { chatBody } from "../webhook/chat-body.ts";
import { messageOf } from "../webhook/message.ts";
import { post, type PostSettings, type Posted } from "../webhook/post.ts";
import { listNewIn } from "./view-news.ts";
import { Worker } from "./worker.ts";

const restMs = 500;
const faultMs = 2_000;
// The pause between two messages to one receiver. The second covers everything in between. Longer than any attempt may take.
const chatPauseMs = 60_000;
const eventsMax = 2_500;
const tenantAtOnceMax = 8;
const allAtOnceMax = 64;
const gone = 410;

export type ChatOptions = {
  database: Database;
  clock: { now: () => string };
  log: Logger;
  post: PostSettings;
  publicUrl: string | null;
};

// Writes to Slack and Teams: one message for everything that happened since the last.
export class ChatSender extends Worker {
  readonly #options: ChatOptions;
  readonly #underWay = new Map<string, { tenantId: string; sending: Promise<void> }>();

  constructor(options: ChatOptions) {
    super();
    this.#options = options;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await Promise.all([...this.#underWay.values()].map(({ sending }) => sending));
  }

  protected async turn(): Promise<number> {
    const { database, clock, log } = this.#options;
    try {
      for (const key of await listChatsDue(database, clock.now())) if (this.#hasPlace(key)) this.#start(key);
      return restMs;
    } catch (error) {
      log.error({ err: error }, "messages to chats could not be processed and will be retried");
      return faultMs;
    }
  }

  #hasPlace({ tenant_id, webhook_id }: WebhookKey): boolean {
    const ofTenant = [...this.#underWay.values()].filter(({ tenantId }) => tenantId === tenant_id);
    return !this.#underWay.has(webhook_id) && ofTenant.length < tenantAtOnceMax && this.#underWay.size < allAtOnceMax;
  }

  #start(key: WebhookKey): void {
    const sending = sendChat({ ...this.#options, post: { ...this.#options.post, signal: this.signal } }, key)
      .catch((error: unknown) => {
        // The deliveries are retried when their lease expires.
        this.#options.log.error({ err: error, ...key }, "a message to a chat could not be sent or recorded");
      })
      .finally(() => this.#underWay.delete(key.webhook_id));
    this.#underWay.set(key.webhook_id, { tenantId: key.tenant_id, sending });
  }
}

// Sends one message with everything that waits for the webhook.
export async function sendChat(options: ChatOptions, key: WebhookKey): Promise<void> {
  const { database, clock, log } = options;
  const now = clock.now();
  const next = later(now, chatPauseMs);
  const claiming = { now, chatNextAt: next, leaseUntil: next, limit: eventsMax };
  const claimed = await database.transaction((tx) => claimChat(tx, key, claiming));
  if (!claimed) return;
  const webhook = await findWebhook(database, key.tenant_id, key.webhook_id);
  if (!webhook) return;
  const posted = await postChat(options, { key, webhook, claimed });
  // It is unknown whether the message arrived. It is sent again when its lease expires.
  if (!posted.delivered && options.post.signal?.aborted === true) return;
  await saveChatEnd(database, key, claimed, endOf(posted, claimed, clock.now()));
  if (posted.delivered) return;
  log.warn({ ...key, attempts: claimed.attempts, error: posted.error }, "a message to a chat failed");
  if (posted.status !== gone) return;
  const reason = `The receiver responded with ${gone} (gone).`;
  const changed = { url: null, types: null, is_enabled: false, disabled_reason: reason, now: clock.now() };
  await database.transaction((tx) => saveWebhook(tx, key.tenant_id, key.webhook_id, changed));
}

type Sending = { key: WebhookKey; webhook: StoredWebhook; claimed: ChatClaim };

async function postChat({ database, clock, log, post: settings, publicUrl }: ChatOptions, sending: Sending): Promise<Posted> {
  const { webhook, claimed, key } = sending;
  const base = publicUrl ?? (await findPublicUrl(database)) ?? "";
  const reading = { webhook, claimed, publicUrl: base };
  const message = await database
    .transaction((tx) => readChat(tx, key.tenant_id, reading))
    .catch((error: unknown) => {
      log.error({ err: error, ...key }, "a message to a chat could not be written");
      return "unwritable" as const;
    });
  // Otherwise a message that can never be written would be retried forever.
  if (message === "unwritable") return { delivered: false, error: "the message could not be written" };
  // Nothing in it is for this receiver, for example because no case is in the view.
  if (!message) return { delivered: true };
  const id = `${claimed.event_ids[0]}_${claimed.event_ids.at(-1)}`;
  return post(messageOf(webhook, { id, body: chatBody(webhook, message), now: clock.now() }), settings);
}

type Reading = { webhook: StoredWebhook; claimed: ChatClaim; publicUrl: string };

async function readChat(tx: Queryable, tenantId: string, { webhook, claimed, publicUrl }: Reading): Promise<ChatMessage | null> {
  const events = await readChatEvents(tx, tenantId, claimed.event_ids);
  const ids = [...new Set(events.map(({ case_id }) => case_id))];
  const wanted = webhook.view_id === null ? ids : await listInView(tx, tenantId, { viewId: webhook.view_id, ids });
  const told = new Map((await readToldCases(tx, tenantId, wanted)).map((each) => [each.case_id, each]));
  const said = events.map(({ type, actor, case_id, mentions }) => ({ type, actor, mentions, told: told.get(case_id) }));
  return chatMessage(said, { publicUrl, hasIds: webhook.details === "ids" });
}

// A view that is no longer shared sends nothing. In a chat, `me` is nobody.
async function listInView(
  tx: Queryable,
  tenantId: string,
  { viewId, ids }: { viewId: string; ids: string[] },
): Promise<string[]> {
  const view = await findSharedView(tx, tenantId, viewId);
  if (!view) return [];
  const happened = ids.map((case_id) => ({ case_id, types: ["case.opened"] }));
  const found = await listNewIn(tx, tenantId, { view, me: { actor: "" }, happened });
  // Retried later. Otherwise nobody would hear of an attack that slows the database down.
  if (found === null) throw new Error("searching the view took too long");
  return found;
}

function endOf({ delivered, status, error }: Posted, { attempts, first_at }: ChatClaim, now: string) {
  const common = { status: status ?? null, error: error ?? null, next_at: now };
  if (delivered) return { ...common, state: "DELIVERED" as const };
  const pause = nextPauseMs(attempts, Date.parse(now) - Date.parse(first_at), Math.random());
  return pause === null
    ? { ...common, state: "DEAD" as const }
    : { ...common, state: "WAITING" as const, next_at: later(now, pause) };
}

const later = (now: string, ms: number) => new Date(Date.parse(now) + ms).toISOString();
