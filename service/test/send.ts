import { connect } from "node:net";
import type { Problem } from "@casehound/client";

export type Answer = { status: number; headers: Headers; text: string; json: Problem & { data: never } };
export type Options = {
  body?: unknown;
  rawBody?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  token?: string | null;
  key?: string;
};

export async function send(port: number, method: string, path: string, options: Options = {}): Promise<Answer> {
  const headers: Record<string, string> = {};
  if (typeof options.token === "string") headers["authorization"] = `Bearer ${options.token}`;
  if (options.body !== undefined || options.rawBody !== undefined) headers["content-type"] = "application/json";
  if (options.key !== undefined) headers["idempotency-key"] = options.key;
  const body = options.rawBody ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...headers, ...options.headers },
    body,
    redirect: "manual",
  });
  const type = response.headers.get("content-type");
  const isStream = type === "text/event-stream";
  const text = isStream ? await firstText(response) : await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: response.status === 204 || isStream || type?.startsWith("text/csv") === true ? (undefined as never) : JSON.parse(text),
  };
}

// A stream does not end, so a call returns only its first chunk.
async function firstText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

export type RawAnswer = { status: number; headers: Record<string, string>; text: string };

// Sends exactly these bytes, which no HTTP client would send. We close the connection only when the response is complete.
export function sendRaw(port: number, request: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.setTimeout(10_000, () => socket.destroy(new Error("no answer in 10 s")));
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const answer = parseRaw(Buffer.concat(chunks));
      if (answer) socket.end(() => resolve(answer));
    });
    socket.on("close", () => reject(new Error(`closed after: ${Buffer.concat(chunks).toString()}`)));
    socket.write(request);
  });
}

function parseRaw(bytes: Buffer): RawAnswer | null {
  const split = bytes.indexOf("\r\n\r\n");
  if (split === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, split).toString("latin1").split("\r\n");
  const status = Number(first.split(" ")[1]);
  if (status === 100) return parseRaw(bytes.subarray(split + 4));
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = bytes.subarray(split + 4);
  return body.length < Number(headers["content-length"] ?? 0) ? null : { status, headers, text: body.toString() };
}
