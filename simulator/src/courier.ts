import type { OutgoingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { eventsIn, isSent, type Delivery, type Sent } from "./delivery.ts";

// Not imported, for the reason in the service's api/http/node-http.ts: the service loads this file at every start.
const { Agent, request } = process.getBuiltinModule("node:http");

export type CourierTarget = {
  // The service's address, without a trailing slash.
  baseUrl: string;
  tenant: string;
  // Returns an access token with the scope create:activities, and a new one if the last was rejected.
  token: (wasRefused: boolean) => Promise<string>;
};

export type CourierOptions = {
  inFlightMax?: number;
  attemptsMax?: number;
  signal?: AbortSignal;
  // With a clock, every delivery waits for its time. A delivery later than this is dropped, because a machine that was asleep
  // need not catch up.
  pace?: { now: () => number; lateMaxMs: number };
  // Called for every delivery with a final response, in the order of the responses.
  onSent?: (delivery: Delivery, status: number) => void;
};

export type Tally = {
  requests: number;
  events: number;
  retries: number;
  // Answered with a status that no retry changes, or not at all. `problem` describes the first one.
  refused: number;
  problem?: string;
  dropped: number;
};

const backoffMs = 100;
const backoffMaxMs = 5000;
const retried = new Set([429, 500, 502, 503]);

type Errand = { target: CourierTarget; options: CourierOptions; tally: Tally };

// Sends deliveries to a running service over HTTP, as browsers behind a proxy and the shop's servers would. The ground truth is
// not sent.
export async function deliver(
  deliveries: Iterable<Delivery>,
  target: CourierTarget,
  options: CourierOptions = {},
): Promise<Tally> {
  const tally: Tally = { requests: 0, events: 0, retries: 0, refused: 0, dropped: 0 };
  const { inFlightMax = 8, pace, signal } = options;
  const underWay = new Set<Promise<void>>();
  for (const delivery of deliveries) {
    if (!isSent(delivery)) continue;
    if (pace !== undefined && pace.now() - delivery.at_ms > pace.lateMaxMs) {
      tally.dropped++;
      continue;
    }
    if (pace !== undefined) await wait(delivery.at_ms - pace.now(), signal);
    if (signal?.aborted === true) break;
    const sending = send(delivery, { target, options, tally }).finally(() => underWay.delete(sending));
    underWay.add(sending);
    if (underWay.size >= inFlightMax) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  return tally;
}

// A longer wait would overflow the timer.
const waitMaxMs = 2 ** 31 - 1;

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return;
  try {
    await sleep(Math.min(ms, waitMaxMs), undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  }
}

async function send(delivery: Sent, { target, options, tally }: Errand): Promise<void> {
  const { attemptsMax = 8, signal, onSent } = options;
  const isStopped = (): boolean => signal?.aborted === true;
  let isRefused = false;
  let problem = "";
  for (let attempt = 1; attempt <= attemptsMax && !isStopped(); attempt++) {
    if (attempt > 1) tally.retries++;
    const answer = await post(delivery, target, isRefused, signal);
    if (answer.status === 200 || answer.status === 202) {
      tally.requests++;
      tally.events += eventsIn(delivery);
      onSent?.(delivery, answer.status);
      return;
    }
    problem = `${answer.status}: ${answer.text}`;
    const mayRenew = answer.status === 401 && !isRefused;
    isRefused = answer.status === 401;
    if (!mayRenew && !retried.has(answer.status) && answer.status !== 0) break;
    await wait(Math.min(backoffMaxMs, answer.retryAfterMs ?? backoffMs * 2 ** (attempt - 1)), signal);
  }
  if (isStopped()) return;
  tally.refused++;
  tally.problem ??= problem;
}

type Answer = { status: number; text: string; retryAfterMs?: number };

// Status 0 means no response.
async function post(
  delivery: Sent,
  { baseUrl, tenant, token }: CourierTarget,
  wasRefused: boolean,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  try {
    const isBrowser = delivery.kind === "browser";
    const path = isBrowser ? delivery.path : `/v2/${tenant}/activities`;
    const headers = isBrowser
      ? delivery.headers
      : { "content-type": "application/json", authorization: `Bearer ${await token(wasRefused)}` };
    const body = isBrowser ? delivery.body : JSON.stringify({ activities: delivery.activities });
    const { status, text, retryAfter } = await exchange(`${baseUrl}${path}`, { headers, body, signal });
    const seconds = Number(retryAfter ?? "none");
    return { status, text, ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}) };
  } catch (error) {
    // The service is starting, stopping or gone. The tally reports it.
    return { status: 0, text: error instanceof Error ? error.message : String(error) };
  }
}

const agent = new Agent({ keepAlive: true });

type Exchange = { headers: OutgoingHttpHeaders; body: string; signal: AbortSignal | undefined };

// Not fetch, which used more CPU under load than the service being measured.
function exchange(
  url: string,
  { headers, body, signal }: Exchange,
): Promise<{ status: number; text: string; retryAfter?: string }> {
  return new Promise((resolve, reject) => {
    const length = { "content-length": Buffer.byteLength(body) };
    const options = { method: "POST", agent, headers: { ...headers, ...length }, ...(signal && { signal }) };
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const retryAfter = response.headers["retry-after"];
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, text, ...(retryAfter !== undefined && { retryAfter }) });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

// Gets tokens with client credentials, and keeps each until it is rejected.
export function clientTokens({ baseUrl, clientId, clientSecret }: { baseUrl: string; clientId: string; clientSecret: string }) {
  let current: Promise<string> | null = null;
  return (wasRefused: boolean): Promise<string> => {
    if (current === null || wasRefused) {
      current = requestToken(baseUrl, clientId, clientSecret);
      // A failure reaches every waiting caller. The next caller requests a new token.
      current.catch(() => (current = null));
    }
    return current;
  };
}

async function requestToken(baseUrl: string, clientId: string, clientSecret: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret });
  const response = await fetch(`${baseUrl}/v2/oauth/token`, { method: "POST", body });
  const answer: unknown = await response.json();
  if (typeof answer === "object" && answer !== null && "access_token" in answer && typeof answer.access_token === "string") {
    return answer.access_token;
  }
  throw new Error(`No token for the simulated shop: ${response.status}`);
}
