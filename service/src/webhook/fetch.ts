// Fetches small documents from an address that a tenant has chosen.
import type { IncomingMessage } from "node:http";
import type { CustomFetch } from "openid-client";
import { startRequest, type Reach } from "./request.ts";

const bytesMax = 256 * 1024;

// Implements the part of fetch that openid-client uses. Redirects are not followed. Like fetch, it throws a TypeError if there is no response.
export function fetchWithin(reach: Reach): CustomFetch {
  return async (address, { method, headers, body, signal }) => {
    const sent = body instanceof URLSearchParams ? body.toString() : body;
    if (sent !== undefined && sent !== null && typeof sent !== "string") throw new TypeError("only string bodies are supported");
    try {
      const answer = await ask(new URL(address), reach, { method, headers, body: sent ?? "", signal: signal ?? null });
      return toResponse(answer, await readAll(answer));
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw new TypeError("the request failed", { cause: error });
    }
  };
}

type Asked = { method: string; headers: Record<string, string>; body: string; signal: AbortSignal | null };

function ask(url: URL, reach: Reach, { method, headers, body, signal }: Asked): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === "" ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, ...(signal && { signal }) };
    const sent = startRequest(url, reach, options, resolve);
    sent.on("upgrade", (_answer, socket) => socket.destroy());
    sent.on("close", () => reject(new Error("the connection was closed without a response")));
    sent.on("error", reject);
    sent.end(body);
  });
}

async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the response has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toResponse(answer: IncomingMessage, body: Buffer): Response {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599) throw new Error(`the status ${status} is not valid`);
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  );
  // These statuses must not have a body.
  const isBare = [204, 205, 304].includes(status);
  return new Response(isBare ? null : new Uint8Array(body), { status, headers });
}
