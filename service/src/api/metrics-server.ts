import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isIP } from "node:net";
import { Registry } from "prom-client";
import { Failure } from "../domain/failure.ts";
import { createServer } from "./http/node-http.ts";
import { problemReply } from "./http/problem.ts";

const connectionsMax = 64;

// Serves Prometheus text on its own port, which is not public.
export class MetricsServer {
  readonly #text: () => Promise<string>;
  #server: Server | null = null;

  constructor(text: () => Promise<string>) {
    this.#text = text;
  }

  async listen(host: string, port: number): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response, host));
    server.maxConnections = connectionsMax;
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => resolve());
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse, ownHost: string): Promise<void> {
    const fault = faultOf(request, ownHost);
    const { status, body, headers } = fault
      ? problemReply(fault)
      : { status: 200, body: await this.#text(), headers: { "content-type": Registry.PROMETHEUS_CONTENT_TYPE } };
    response.writeHead(status, headers).end(body);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  }
}

// A page in somebody's browser can resolve its own name to the address of this port (DNS rebinding). The browser would then let
// it read the metrics, but still sends the page's name as the host. An IP address cannot be rebound, so addresses are accepted.
function faultOf({ url, method, headers }: IncomingMessage, ownHost: string): Failure | null {
  const hostname = URL.parse(`http://${headers.host ?? ""}`)?.hostname ?? "";
  const isKnown = isIP(hostname.replace(/^\[|\]$/g, "")) !== 0 || ["localhost", ownHost.toLowerCase()].includes(hostname);
  if (!isKnown) return new Failure("access-denied", "Use an IP address, localhost, or the name in METRICS_HOST as the host.");
  return url === "/metrics" && method === "GET" ? null : new Failure("item-not-found", "There is nothing at this path.");
}
