// For tests: a proxy between client and service that forwards everything, or injects a given fault.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Seen = { method: string; path: string; key: string | undefined };

// `lose-request`: the service never receives it. `lose-answer`: the service handles it but the response is lost. `hang`: the
// same, and the connection stays open. An object is the proxy's own response; the service never receives the request.
export type Fault =
  | "lose-request"
  | "lose-answer"
  | "hang"
  | { status: number; body: string; type?: string; headers?: Record<string, string> };

export type FaultyProxy = { baseUrl: string; seen: Seen[]; stop: () => void };

export async function startFaultyProxy(
  target: string,
  faultOf: (seen: Seen, count: number) => Fault | null,
): Promise<FaultyProxy> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const key = request.headers["idempotency-key"];
      const each = { method: request.method ?? "", path: request.url ?? "", key: typeof key === "string" ? key : undefined };
      seen.push(each);
      const body = chunks.length === 0 ? null : Buffer.concat(chunks).toString();
      void pass({ target, request, response, body, fault: faultOf(each, seen.length) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, stop };
}

type Passing = { target: string; request: IncomingMessage; response: ServerResponse; body: string | null; fault: Fault | null };

async function pass({ target, request, response, body, fault }: Passing): Promise<void> {
  if (fault === "lose-request") return void request.socket.destroy();
  if (typeof fault === "object" && fault !== null) {
    const headers = { "content-type": fault.type ?? "application/problem+json", ...fault.headers };
    return void response.writeHead(fault.status, headers).end(fault.body);
  }
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  const answer = await fetch(`${target}${request.url}`, {
    method: request.method ?? "",
    headers: headers as Record<string, string>,
    body,
  });
  const text = await answer.text();
  if (fault === "lose-answer") return void request.socket.destroy();
  if (fault === "hang") return;
  const type = answer.headers.get("content-type");
  response.writeHead(answer.status, type === null ? {} : { "content-type": type }).end(text);
}
