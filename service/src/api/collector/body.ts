import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import {
  depthMax,
  membersInBodyMax,
  eventsMax,
  excerptOfText,
  quarantineMeanings,
  unpackedMiBMax,
  type QuarantineReason,
} from "../../domain/quarantine.ts";

const unpackedBytesMax = unpackedMiBMax * 1024 * 1024;
const unpack = promisify(gunzip);

// What is wrong with the request itself, and how many events that affects.
type BodyFault = { reason: QuarantineReason; detail: string; excerpt: string; count: number };

// The events of a request, and the faults of everything that is not an event.
export type Unpacked = {
  events: unknown[];
  faults: BodyFault[];
  isHashWrong: boolean;
  bytes: number;
  // How much was unpacked. Zero if the body was not packed.
  unpackedBytes: number;
};

// Reads JSON whatever its media type is. Faults are returned and never thrown, because a page would send a failed request again
// and again.
export async function readEvents(body: Buffer, query: URLSearchParams): Promise<Unpacked> {
  const isPacked = query.get("compression") === "gzip";
  const bytes = isPacked ? await unpackBody(body) : body;
  if (typeof bytes === "string") {
    // An excerpt of a compressed body could be decompressed and would show the users and tokens in it.
    const shown = bytes === "unpacked-too-large" ? Buffer.alloc(0) : body;
    const unpackedBytes = bytes === "unpacked-too-large" ? unpackedBytesMax : body.length;
    return { ...fault(bytes, shown), isHashWrong: false, bytes: body.length, unpackedBytes };
  }
  const given = query.get("hashCode");
  // Most SDKs hash the body as sent. Some hash it before they pack it.
  const isHashWrong = given !== null && given !== "" && ![body, bytes].some((each) => isHashOf(given, each));
  const read = parseEvents(bytes);
  const wrongHash = isHashWrong ? fault("wrong-hash", bytes).faults : [];
  const unpackedBytes = isPacked ? bytes.length : 0;
  return { events: read.events, faults: [...wrongHash, ...read.faults], isHashWrong, bytes: bytes.length, unpackedBytes };
}

// For a body that is over the quotas. It is counted as one event, because nobody looked into it.
export function notUnpacked(): Unpacked {
  return { ...fault("over-quota", Buffer.alloc(0)), isHashWrong: false, bytes: 0, unpackedBytes: 0 };
}

async function unpackBody(body: Buffer): Promise<Buffer | "bad-gzip" | "unpacked-too-large"> {
  try {
    return await unpack(Buffer.from(body.toString("latin1"), "base64"), { maxOutputLength: unpackedBytesMax });
  } catch (error) {
    const isLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return isLarge ? "unpacked-too-large" : "bad-gzip";
  }
}

// The hash has no key, so a correct one proves nothing.
function isHashOf(given: string, bytes: Buffer): boolean {
  return hash("sha256", bytes, "hex").slice(0, 8) === given.toLowerCase();
}

function parseEvents(bytes: Buffer): { events: unknown[]; faults: BodyFault[] } {
  const shape = shapeFault(bytes);
  if (shape !== null) return fault(shape, bytes);
  let parsed: unknown;
  try {
    // Bytes that are not UTF-8 become U+FFFD, and a byte order mark is ignored.
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return fault("not-json", bytes);
  }
  if (!Array.isArray(parsed)) return fault("not-an-array", bytes);
  const events: unknown[] = parsed;
  const over = events.length - eventsMax;
  if (over <= 0) return { events, faults: [] };
  const { detail } = described("too-many-events");
  const excess = { ...described("too-many-events"), detail: `${detail} ${over} more were dropped.`, excerpt: "", count: over };
  return { events: events.slice(0, eventsMax), faults: [excess] };
}

function fault(reason: QuarantineReason, bytes: Buffer): { events: unknown[]; faults: BodyFault[] } {
  // Far more than an excerpt holds, so a character that is cut at the end does not show.
  const excerpt = excerptOfText(new TextDecoder().decode(bytes.subarray(0, 16_384)));
  return { events: [], faults: [{ ...described(reason), excerpt, count: 1 }] };
}

function described(reason: QuarantineReason): { reason: QuarantineReason; detail: string } {
  return { reason, detail: quarantineMeanings[reason] };
}

const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket, comma] = Buffer.from('"\\{[}],');

// JSON.parse accepts a million levels or members and needs seconds for them. Scanning the bytes takes milliseconds.
function shapeFault(bytes: Buffer): "too-deep" | "too-many-members" | null {
  const { length } = bytes;
  let depth = 0;
  let members = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      // Skip to the end of the string.
      for (at++; at < length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
    } else if (byte === comma) members++;
    else if (byte === openBrace || byte === openBracket) {
      members++;
      if (++depth > depthMax) return "too-deep";
    } else if (byte === closeBrace || byte === closeBracket) depth--;
    if (members > membersInBodyMax) return "too-many-members";
  }
  return null;
}
