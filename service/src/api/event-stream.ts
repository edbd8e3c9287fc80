import type { ServerResponse } from "node:http";
import { Failure } from "../domain/failure.ts";
import type { EventFeed, Start, Told } from "./event-feed.ts";
import type { Visit } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

export const streamMediaType = "text/event-stream";
const heartbeatMsDefault = 15_000;
const reconnectMs = 2_000;
// A reader that is further behind than this does not read.
const bufferedBytesMax = 256 * 1024;
const lingerMs = 1_000;
// How long a reader that was allowed is taken for one that still is.
const trustMsDefault = 1_000;
const timerMsMax = 2 ** 31 - 1;

export type StreamOptions = {
  tenantId: string;
  // Who reads: each may have so many places.
  reader: string;
  after: number | null;
  isWanted: (type: string) => boolean;
  waitMs: number | null;
  visit: Visit;
  heartbeatMs?: number;
  trustMs?: number;
};

// Asks where the log ends before it answers, so that what can be refused is refused as a problem.
export async function openStream(feed: EventFeed, options: StreamOptions): Promise<Reply> {
  const ending = new AbortController();
  const { leave } = feed.enter(options, () => ending.abort());
  ending.signal.addEventListener("abort", leave);
  try {
    const start = await feed.begin(options.tenantId, options.after);
    // The connection ends with the stream: kept open after it, it would hold up the service's stop.
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
  // However short the wait, what was there at the beginning is told.
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
  // Elsewhere a client may end its half and is answered all the same; one that follows a stream has gone.
  to.socket?.once("end", end);
  // A reader that went before we began.
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
  const pass = async (told: Told[]) => {
    if (Date.now() - checkedMs > trustMs && !(await mayStay())) return;
    position = told.at(-1)?.event.event_id ?? position;
    const wanted = told.filter(({ event }) => isWanted(event.type));
    if (wanted.length > 0) write(wanted.map(message).join(""));
    endIfDone();
  };
  // One after the other, for the order is the log's.
  let passed = Promise.resolve();
  const tell = (told: Told[]) => void (passed = passed.then(() => pass(told)));
  // The id moves the reader's place on, past what it did not ask for.
  const beat = async () => {
    if (await mayStay()) write(`: still here\nid: ${position}\n\n`);
  };
  write(`retry: ${reconnectMs}\nid: ${position}\n\n`);
  if (start.isReset) write(`event: reset\nid: ${position}\ndata: {"last_event_id":${position}}\n\n`);
  feed.follow(tenantId, { position, tell }, ending.signal);
}

// One that does not read would hold its end for ever, and the service's stop with it.
function endSoon(to: ServerResponse): void {
  const timer = setTimeout(() => to.destroy(), lingerMs).unref();
  to.once("close", () => clearTimeout(timer)).end();
}

function message({ event, text }: Told): string {
  return `event: ${event.type}\nid: ${event.event_id}\ndata: ${text}\n\n`;
}

// The reader's own place counts more than the address, which stays the same when a browser comes back.
export function readPosition({ lastEventId }: Visit, after: number | undefined): number | null {
  if (lastEventId === undefined || lastEventId === "") return after ?? null;
  if (!/^\d{1,15}$/.test(lastEventId)) throw new Failure("bad-request", "The header Last-Event-ID must be the id of an event.");
  return Number(lastEventId);
}
