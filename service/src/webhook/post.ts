// Posts one message once.
import { startRequest } from "./request.ts";
import { signatureHeaders } from "./signature.ts";

export type Message = { url: string; id: string; body: string; secrets: string[]; now: string };
// `signal` aborts the request, for example when the service stops.
export type PostSettings = { isPrivateAllowed: boolean; timeoutMs?: number; signal?: AbortSignal };

// `status` is set if there was a response. Only a 2xx status counts as delivered, and redirects are not followed.
export type Posted = { delivered: boolean; status?: number; error?: string };

const timeoutDefaultMs = 15_000;
const errorCharactersMax = 300;

export async function post(message: Message, settings: PostSettings): Promise<Posted> {
  try {
    const status = await send(message, settings);
    const delivered = status >= 200 && status < 300;
    return { delivered, status, ...(!delivered && { error: `the receiver returned ${status}` }) };
  } catch (error) {
    return { delivered: false, error: wordsOf(error).slice(0, errorCharactersMax) };
  }
}

// Node tries all addresses of a name and reports one error for each.
function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(wordsOf).join(", ");
  return error instanceof Error ? error.message || error.name : String(error);
}

function send(
  { url: address, id, body, secrets, now }: Message,
  { isPrivateAllowed, timeoutMs = timeoutDefaultMs, signal: leaving }: PostSettings,
): Promise<number> {
  const url = new URL(address);
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "Casehound-Webhook",
    ...signatureHeaders({ id, timestamp: Math.floor(Date.parse(now) / 1000), body }, secrets),
  };
  return new Promise((resolve, reject) => {
    // The limit covers connecting, sending and waiting for the response.
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = leaving ? AbortSignal.any([limit, leaving]) : limit;
    const sent = startRequest(url, { isPrivateAllowed }, { method: "POST", headers, signal }, (answer) => {
      resolve(answer.statusCode ?? 0);
      // Discard the rest of the response, however long it is.
      answer.destroy();
    });
    // If the receiver answers with a protocol upgrade and nobody listens for it, Node closes the connection without an error.
    sent.on("upgrade", (answer, socket) => {
      resolve(answer.statusCode ?? 0);
      socket.destroy();
    });
    // Whatever else the receiver does, settle the promise so that the message's slot is released.
    sent.on("close", () => reject(new Error("the receiver closed the connection without responding")));
    sent.on("error", (error) =>
      reject(limit.aborted ? new Error(`no response within ${timeoutMs / 1000} s`, { cause: error }) : error),
    );
    sent.end(body);
  });
}
