import { safely } from "./guard.ts";
import { adopt, bodyOf, confirm, save, take, waitingCount, type Queued } from "./queue.ts";
import { appKey, collector } from "./settings.ts";
import { read, write } from "./storage.ts";
import { encode, hex } from "./text.ts";

const batchMs = 5_000;
const batchEvents = 50;
const answerMs = 20_000;
const retryMsMax = 5 * 60_000;
// Browsers let 64 KiB of requests outlive their page. That covers a small request in flight and the last one.
const chunkBytesMax = 60_000;
const lastChunkBytesMax = 40_000;
const outlivingBytesMax = 20_000;

let isSending = false;
let isHurried = false;
let failures = 0;
let timer: number | undefined;

function nextAddress(hash: string): string {
  const sequence = (read("casehound.sequence") ?? 0) + 1;
  write("casehound.sequence", sequence);
  const query = `platform=Web&appId=${encodeURIComponent(appKey)}&event_bundle_sequence_id=${sequence}`;
  return `${collector}?${query}&upload_timestamp=${Date.now()}${hash === "" ? "" : `&hashCode=${hash}`}`;
}

async function digest(body: string): Promise<string> {
  // Browsers have no digest on pages without TLS.
  const sum = await crypto.subtle?.digest("SHA-256", encode(body));
  return sum ? hex(new Uint8Array(sum, 0, 4)) : "";
}

// Only a 200 response removes events from the queue. Plain text needs no preflight, and the collector parses it as JSON.
async function post(batch: Queued[], keepalive: boolean, hash = ""): Promise<boolean> {
  const abort = new AbortController();
  const limit = setTimeout(() => abort.abort(), answerMs);
  for (const each of batch) each.isInFlight = true;
  try {
    const options = { credentials: "omit", referrerPolicy: "strict-origin", priority: "low", signal: abort.signal } as const;
    const answer = await fetch(nextAddress(hash), { method: "POST", body: bodyOf(batch), keepalive, ...options });
    if (answer.status === 200) confirm(batch);
    return answer.status === 200;
  } finally {
    clearTimeout(limit);
    for (const each of batch) each.isInFlight = false;
  }
}

export async function send(): Promise<void> {
  // Events that arrive during a request are sent right after it.
  isHurried = isSending;
  if (isSending) return;
  clearTimeout(timer);
  timer = undefined;
  adopt();
  const batch = take(chunkBytesMax);
  if (batch.length === 0) return;
  isSending = true;
  try {
    const body = bodyOf(batch);
    const hash = await digest(body);
    // The page may have been hidden meanwhile, and its events sent without a hash.
    const isTaken = batch.some((each) => each.isInFlight);
    if (!isTaken) failures = (await post(batch, body.length < outlivingBytesMax, hash)) ? 0 : failures + 1;
  } catch {
    failures++;
  }
  if (failures > 0) save();
  isSending = false;
  schedule();
}

export function schedule(): void {
  const isDue = (isHurried || waitingCount() >= batchEvents) && failures === 0;
  if (isSending || waitingCount() === 0 || (timer !== undefined && !isDue)) return;
  clearTimeout(timer);
  const retryMs = Math.min(batchMs * 2 ** failures, retryMsMax) * (0.5 + Math.random());
  timer = setTimeout(() => void send(), isDue ? 0 : failures === 0 ? batchMs : retryMs);
}

// Sent without a hash, because a closing page cannot wait for the digest. Unconfirmed events are sent again, by this page if it
// survives and otherwise by the next one. A beacon does not report its response, so it never confirms events.
export async function sendLast(): Promise<void> {
  const batch = take(lastChunkBytesMax);
  if (batch.length === 0) return;
  const sendBeacon = safely(() => navigator.sendBeacon(nextAddress(""), bodyOf(batch)));
  if ("keepalive" in Request.prototype) await post(batch, true).catch(sendBeacon);
  else sendBeacon();
  schedule();
}

export function retryNow(): void {
  failures = 0;
  void send();
}
