import type { ServerResponse } from "node:http";
import { Failure } from "../domain/failure.ts";
import type { EventFeed, Start, FeedEvent } from "./event-feed.ts";
import type { StreamRequest } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

export const streamMediaType = "text/event-stream";
const heartbeatMsDefault = 15_000;
const reconnectMs = 2_000;
// A reader that is further behind than this is not reading.
const bufferedBytesMax = 256 * 1024;
const lingerMs = 1_000;
// How long the result of checking a reader's permission is trusted.
const trustMsDefault = 1_000;
const timerMsMax = 2 ** 31 - 1;

export type StreamOptions = {
  tenantId: string;
  // Who reads. The number of places per reader is limited.
  reader: string;
  after: number | null;
  isWanted: (type: string) => boolean;
  waitMs: number | null;
  visit: StreamRequest;
  heartbeatMs?: number;
  trustMs?: number;
};

// Looks up the end of the log before it responds, so a rejection can still be sent as a problem.
export async function openStream(feed: EventFeed, options: StreamOptions): Promise<Reply> {
  const ending = new AbortController();
  const { leave } = feed.enter(options, () => ending.abort());
  ending.signal.addEventListener("abort", leave);
  try {
    const start = await feed.begin(options.tenantId, options.after);
    // The connection is closed with the stream. Kept open, it would delay the service's shutdown.
    const headers = { "content-type": streamMediaType, "x-accel-buffering": "no", connection: "close" };
    return { status: 200, body: "", headers, stream: (to) => run(feed, { ...options, start, ending, to }) };
  } catch (error) {
    ending.abort();
    throw error;
  }
}

type Run = StreamOptions & { start: Start; ending: AbortController; to: ServerResponse };

function run(feed: EventFeed, { start, ending, to, ...options }: Run): void {
  const { tenantId, isWanted, visit, waitMs, heartbeatMs = heartbeatMsDefault, trustMs = trustMsDefault } = options;
  let { position } = start;
  let isOver = false;
  const end = () => ending.abort();
  // However short the wait is, events that existed at the start are sent.
  const endIfDone = () => isOver && position >= start.head && end();
  const timers = [
    setInterval(() => void beat(), heartbeatMs),
    setTimeout(end, Math.min(Math.max(visit.expiresAtMs - Date.now(), 0), timerMsMax)),
    ...(waitMs === null ? [] : [setTimeout(() => ((isOver = true), endIfDone()), waitMs)]),
  ];
  ending.signal.addEventListener("abort", () => {
    for (const timer of timers) clearTimeout(timer);
    endSoon(to);
  });
  to.on("close", end);
  // For other requests, a client that closes its sending half still gets its response. A client that follows a stream has then
  // left.
  to.socket?.once("end", end);
  // The reader left before the stream began.
  if (to.destroyed || ending.signal.aborted) return ending.signal.aborted ? endSoon(to) : end();
  const write = (text: string) => {
    if (ending.signal.aborted) return;
    if (to.writableLength > bufferedBytesMax) to.destroy();
    else to.write(text);
  };
  let checkedMs = Date.now();
  const mayStay = async () => {
    const isAllowed = await visit.isStillAllowed();
    checkedMs = Date.now();
    if (!isAllowed) end();
    return isAllowed;
  };
  const pass = async (told: FeedEvent[]) => {
    if (Date.now() - checkedMs > trustMs && !(await mayStay())) return;
    position = told.at(-1)?.event.event_id ?? position;
    const wanted = told.filter(({ event }) => isWanted(event.type));
    if (wanted.length > 0) write(wanted.map(message).join(""));
    endIfDone();
  };
  // One at a time, to keep the order of the log.
  let passed = Promise.resolve();
  const tell = (told: FeedEvent[]) => void (passed = passed.then(() => pass(told)));
  // The id moves the reader's position past events that it did not ask for.
  const beat = async () => {
    if (await mayStay()) write(`: still here\nid: ${position}\n\n`);
  };
  write(`retry: ${reconnectMs}\nid: ${position}\n\n`);
  if (start.isReset) write(`event: reset\nid: ${position}\ndata: {"last_event_id":${position}}\n\n`);
  feed.follow(tenantId, { position, tell }, ending.signal);
}

// A client that does not read would keep the response open forever and block the service's shutdown.
function endSoon(to: ServerResponse): void {
  const timer = setTimeout(() => to.destroy(), lingerMs).unref();
  to.once("close", () => clearTimeout(timer)).end();
}

function message({ event, text }: FeedEvent): string {
  return `event: ${event.type}\nid: ${event.event_id}\ndata: ${text}\n\n`;
}

// The reader's own position takes precedence over the URL, which stays the same when a browser reconnects.
export function readPosition({ lastEventId }: StreamRequest, after: number | undefined): number | null {
  if (lastEventId === undefined || lastEventId === "") return after ?? null;
  if (!/^\d{1,15}$/.test(lastEventId)) throw new Failure("bad-request", "The header Last-Event-ID must be the id of an event.");
  return Number(lastEventId);
}
