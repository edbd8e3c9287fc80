// One message, posted once.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { PrivateAddress, isPrivate, publicLookup } from "./address.ts";
import { signatureHeaders } from "./signature.ts";

export type Message = { url: string; id: string; body: string; secrets: string[]; now: string };
// `signal`: of who cannot wait for the answer any longer.
export type PostSettings = { isPrivateAllowed: boolean; timeoutMs?: number; signal?: AbortSignal };

// A status where there was an answer. It counts where it is in the two hundreds: redirects are not followed.
export type Posted = { delivered: boolean; status?: number; error?: string };

const timeoutDefaultMs = 15_000;
const errorCharactersMax = 300;

export async function post(message: Message, settings: PostSettings): Promise<Posted> {
  try {
    const status = await send(message, settings);
    const delivered = status >= 200 && status < 300;
    return { delivered, status, ...(!delivered && { error: `the receiver answered ${status}` }) };
  } catch (error) {
    return { delivered: false, error: wordsOf(error).slice(0, errorCharactersMax) };
  }
}

// Node tries several addresses of a name, and then has a reason for each.
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(wordsOf).join(", ");
  return error instanceof Error ? error.message || error.name : String(error);
}

function send(
  { url: address, id, body, secrets, now }: Message,
  { isPrivateAllowed, timeoutMs = timeoutDefaultMs, signal: leaving }: PostSettings,
): Promise<number> {
  const url = new URL(address);
  // Brackets are the URL's, not the address's.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "Casehound-Webhook",
    ...signatureHeaders({ id, timestamp: Math.floor(Date.parse(now) / 1000), body }, secrets),
  };
  return new Promise((resolve, reject) => {
    // A name is checked when it is looked up; an address never is.
    if (!isPrivateAllowed && isIP(host) !== 0 && isPrivate(host)) throw new PrivateAddress(host);
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    // Of all of it: connecting, sending, and waiting for the answer. A connection of its own each time: receivers are many, and
    // one that was closed in between would look like a failure.
    const limit = AbortSignal.timeout(timeoutMs);
    const options = {
      method: "POST",
      headers,
      signal: leaving ? AbortSignal.any([limit, leaving]) : limit,
      agent: false as const,
      ...(!isPrivateAllowed && { lookup: publicLookup }),
    };
    const sent = start(url, options, (answer) => {
      resolve(answer.statusCode ?? 0);
      // Nobody reads what else it says, however long it goes on.
      answer.destroy();
    });
    // Node keeps an answer that would change the protocol from whoever does not ask for it, and breaks off without an error.
    sent.on("upgrade", (answer, socket) => {
      resolve(answer.statusCode ?? 0);
      socket.destroy();
    });
    // Whatever else a receiver does, the place that a message takes is given back.
    sent.on("close", () => reject(new Error("the receiver broke off without an answer")));
    sent.on("error", (error) =>
      reject(limit.aborted ? new Error(`no answer within ${timeoutMs / 1000} s`, { cause: error }) : error),
    );
    sent.end(body);
  });
}
