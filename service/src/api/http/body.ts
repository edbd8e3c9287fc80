import type { IncomingMessage, ServerResponse } from "node:http";
import { partOf } from "../../concurrency/share.ts";
import { Failure } from "../../domain/failure.ts";
import { headerLines } from "./headers.ts";

const overflowBytesMax = 16 * 1024 * 1024;
const overflowMs = 2_000;

export function requireMediaType(request: IncomingMessage, ...wanted: string[]): void {
  const lines = headerLines(request, "content-type");
  const [type = "", ...parameters] = (lines[0] ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  const isWanted = lines.length === 1 && wanted.includes(type) && (charset === undefined || charset === "utf-8");
  if (!isWanted) throw new Failure("unsupported-media-type", `The body must be sent as ${wanted.join(" or ")}, in UTF-8.`);
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw new Failure("unsupported-media-type", "The body must be sent without Content-Encoding.");
  }
}

export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
}

// Limits for large bodies that are being read or processed. Beyond them, the sender gets a 429 and retries.
const largeBytes = 64 * 1024;
const mib = 1024 * 1024;
const largeBytesUnderWayMax = partOf(32 * mib, 16 * mib);

// Counts the bytes of the large bodies in progress, in total and per key.
export class LargeBodies {
  readonly #ofOneMax: number;
  readonly #ofEach = new Map<string, number>();
  #bytes = 0;

  constructor(ofOneMax = largeBytesUnderWayMax) {
    this.#ofOneMax = ofOneMax;
  }

  hasRoom(key: string, bytes: number): boolean {
    return this.#bytes + bytes <= largeBytesUnderWayMax && (this.#ofEach.get(key) ?? 0) + bytes <= this.#ofOneMax;
  }

  count(key: string, bytes: number): void {
    this.#bytes += bytes;
    const ofOne = (this.#ofEach.get(key) ?? 0) + bytes;
    if (ofOne === 0) this.#ofEach.delete(key);
    else this.#ofEach.set(key, ofOne);
  }
}

const largeOfApi = new LargeBodies();

// Counts a large body against what this process can hold, until the call is over. Senders without a token are counted separately,
// so they cannot crowd out those with one.
export async function admitBody<T>(
  request: IncomingMessage,
  bytesMax: number,
  work: () => Promise<T>,
  { underWay, key }: { underWay: LargeBodies; key: string } = { underWay: largeOfApi, key: "" },
): Promise<T> {
  const bytes = Math.min(Number(request.headers["content-length"] ?? bytesMax), bytesMax);
  if (bytes <= largeBytes) return work();
  if (!underWay.hasRoom(key, bytes)) {
    throw new Failure("rate-limited", "Too much is being sent at once. Retry after a short delay.", {
      headers: { "retry-after": "1" },
    });
  }
  underWay.count(key, bytes);
  try {
    return await work();
  } finally {
    underWay.count(key, -bytes);
  }
}

// Returns a function that sends 100 Continue. Unless it is called, the response is the last of the connection: the client may or
// may not send the body, so nobody knows where the next request begins.
export function continueLater(response: ServerResponse): () => void {
  const { shouldKeepAlive } = response;
  response.shouldKeepAlive = false;
  return () => {
    response.shouldKeepAlive = shouldKeepAlive;
    response.writeContinue();
  };
}

export async function readBody(request: IncomingMessage, bytesMax: number, onReady: () => void): Promise<Buffer> {
  const isTooLarge = Number(request.headers["content-length"] ?? 0) > bytesMax;
  if (!isTooLarge) onReady();
  const isWaiting = request.headers.expect !== undefined;
  const body = isTooLarge ? null : await collect(request, bytesMax);
  if (body) return body;
  // A client that waits for 100 Continue and never got it sends no body, so there is nothing to discard.
  if (!(isWaiting && isTooLarge)) await passOver(request);
  throw new Failure("payload-too-large", `The body may have at most ${bytesMax} bytes.`, { headers: { connection: "close" } });
}

// Resolves to null if the body is longer than allowed. Uses events because an iterator over the stream costs a small body more
// than everything else.
function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const broken = (cause?: unknown) => reject(new Failure("bad-request", "The body ended before it was complete.", { cause }));
    // A destroyed request has already emitted "close" and will not emit it again.
    if (request.destroyed) broken();
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bytesMax) chunks.push(chunk);
      else {
        request.off("data", take).pause();
        resolve(null);
      }
    };
    request.on("data", take);
    request.once("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length)));
    request.once("error", broken);
    request.once("close", () => request.readableEnded || broken());
  });
}

// A client that is still sending would see a reset instead of the response, so its body is read for a while and discarded.
async function passOver(request: IncomingMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    let left = overflowBytesMax;
    const timer = setTimeout(resolve, overflowMs);
    request.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve();
    });
    for (const end of ["end", "close", "error"]) request.once(end, () => resolve());
    request.resume();
    request.once("close", () => clearTimeout(timer));
  });
}
