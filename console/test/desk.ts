import { randomUUID } from "node:crypto";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { CasehoundClient } from "@casehound/client";
import { onTestFinished } from "vitest";
import type { TestTenant } from "../../service/test/harness.ts";
import type { Desk } from "../src/changes/desk.ts";
import { Outbox } from "../src/changes/outbox.ts";

const pauseMs = 5;

// The console's desk against the real service, with a token instead of a session. `baseUrl` can point to a proxy.
export function deskOf(tenant: TestTenant, baseUrl = tenant.service.url): Desk & { keys: string[] } {
  const client = new CasehoundClient({ baseUrl, tenant: tenant.slug, credentials: { token: tenant.token }, attemptsMax: 1 });
  const keys: string[] = [];
  const newKey = () => {
    const key = randomUUID();
    keys.push(key);
    return key;
  };
  return { client, outbox: new Outbox(pauseMs), newKey, keys };
}

type Seen = { method: string; path: string; key: string };
// What happens to a request: it is forwarded, forwarded with its response dropped, or answered by the proxy with a server error.
export type Fate = "pass" | "lose" | 500 | 502 | 503;

// A proxy between desk and service that decides the fate of every change.
export async function fatefulProxy(
  tenant: TestTenant,
  fate: (seen: Seen, count: number) => Fate,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    const each = { method, path, key: String(headers["idempotency-key"] ?? "") };
    if (method !== "GET") seen.push(each);
    const decided = method === "GET" ? "pass" : fate(each, seen.length);
    // A proxy answers with an HTML page.
    if (typeof decided === "number") {
      response.writeHead(decided, { "content-type": "text/html" }).end("<h1>Ill</h1>");
      return;
    }
    const onward = httpRequest({ port: tenant.service.port, host: "127.0.0.1", method, path, headers }, (answer) => {
      if (decided === "lose") {
        answer.resume().on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
