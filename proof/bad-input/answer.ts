import type { Problem } from "@casehound/client";
// What a service returned, parsed from its bytes: complete responses, and the rest of an incomplete one.
export type Answer = { status: number; headers: Map<string, string>; text: string };

const headEnd = "\r\n\r\n";

// Interim responses (100) are left out. `isHead` means that no body may follow, whatever the length says. `isOver` means that
// nothing more will arrive.
export function readAnswers(bytes: Buffer, { isHead = false, isOver = false } = {}): { answers: Answer[]; rest: Buffer } {
  const answers: Answer[] = [];
  let rest = bytes;
  for (;;) {
    const read = readAnswer(rest, { isHead, isOver });
    if (!read) return { answers, rest };
    if (read.answer.status !== 100) answers.push(read.answer);
    rest = rest.subarray(read.end);
  }
}

function readAnswer(
  bytes: Buffer,
  { isHead, isOver }: { isHead: boolean; isOver: boolean },
): { answer: Answer; end: number } | null {
  const split = bytes.indexOf(headEnd);
  if (split === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, split).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1] ?? Number.NaN);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const start = split + headEnd.length;
  const body = bodyOf(bytes.subarray(start), { status, headers, isHead, isOver });
  return body && { answer: { status, headers, text: body.text }, end: start + body.length };
}

type Framing = { status: number; headers: Map<string, string>; isHead: boolean; isOver: boolean };

function bodyOf(bytes: Buffer, { status, headers, isHead, isOver }: Framing): { text: string; length: number } | null {
  if (status === 100 || status === 204 || status === 304) return { text: "", length: 0 };
  // A stream may never end, so its beginning counts as the whole.
  if (headers.get("content-type") === "text/event-stream") return { text: "", length: bytes.length };
  const length = Number(headers.get("content-length") ?? Number.NaN);
  if (isHead && (bytes.subarray(0, 5).toString() === "HTTP/" || (isOver && bytes.length === 0))) return { text: "", length: 0 };
  if (!(bytes.length >= length)) return null;
  return { text: bytes.subarray(0, length).toString(), length };
}

const pages = new Set(["text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/event-stream"]);

// Checks what must hold for every response: complete HTTP, JSON, a problem for a rejection, and never a 5xx. Returns null if it
// holds.
export function faultOfAnswer({ status, headers, text }: Answer, { isHead = false, mayBePage = false } = {}): string | null {
  if (!(status >= 200 && status < 600)) return `a response without a status: ${status}`;
  if (status >= 500) return `a ${status}`;
  if (status === 204 || status === 304 || isHead) return null;
  const type = headers.get("content-type") ?? "none";
  if (status < 400 && mayBePage && pages.has(type)) return null;
  const wanted = status >= 400 ? "application/problem+json" : "application/json";
  const isScim = type === "application/scim+json";
  if (type !== wanted && !isScim) return `a ${status} with the type ${type}`;
  return status >= 400 ? problemFault(status, text) : jsonOf(text) === undefined ? `a ${status} that is not JSON` : null;
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function problemOf(text: string): Problem | null {
  const value = jsonOf(text);
  // The callers check its members one by one.
  return typeof value === "object" && value !== null ? (value as Problem) : null;
}

function problemFault(status: number, text: string): string | null {
  const problem = problemOf(text);
  if (!problem) return `a ${status} that is not JSON`;
  // An error of SCIM writes its status as a text.
  const isWhole =
    `${problem.status}` === `${status}` &&
    [problem.type, problem.title, problem.detail].every((each) => typeof each === "string");
  const hasErrors = Array.isArray(problem.errors) && problem.errors.length > 0;
  if (!isWhole || hasErrors !== (status === 422) || (!hasErrors && problem.errors !== null))
    return `a ${status} that is not a problem`;
  return null;
}
