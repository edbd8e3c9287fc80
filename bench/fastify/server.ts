// The service's ApiServer, written in idiomatic Fastify: Fastify routes the table of operations and sends the responses, and
// run.ts reads the body. If Fastify never calls a handler, the response is Fastify's own: see decision 1.
import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Metrics } from "../../service/src/api/metrics.ts";
import type { Operation } from "../../service/src/api/operation.ts";
import { operations } from "../../service/src/api/operations.ts";
import type { ApiServer as Ours } from "../../service/src/api/http/server.ts";
import { parseTarget } from "../../service/src/api/http/path.ts";
import { problemReply, toFailure, type Reply } from "../../service/src/api/http/problem.ts";
import { runOperation, type Trace } from "../../service/src/api/http/run.ts";
import { Failure } from "../../service/src/domain/failure.ts";

type ServerOptions = Parameters<Ours["open"]>[0];

const starting = () => new Failure("service-unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
const badPath = () => new Failure("bad-request", "The path contains an invalid percent-encoding.");
const badType = () => new Failure("unsupported-media-type", "The body must be sent as application/json, in UTF-8.");
const asIs = (text: unknown) => String(text);
const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

export class ApiServer {
  #parts: ServerOptions | null = null;
  readonly #metrics: Metrics;
  readonly #app: FastifyInstance;
  isStopping = false;

  constructor(_log: unknown, metrics: Metrics) {
    this.#metrics = metrics;
    this.#app = fastify({
      logger: false,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      http: { maxHeaderSize: 16 * 1024 },
      routerOptions: { maxParamLength: 2_048, querystringParser: () => ({}) },
      exposeHeadRoutes: false,
      clientErrorHandler: refuse,
      frameworkErrors: (_error, request, reply) => void this.#serve(request, reply, () => problemReply(badPath())),
      genReqId: ({ headers: { "x-request-id": given } }) =>
        typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID(),
    });
    this.#app.removeAllContentTypeParsers();
    // The checks before the body come first, so it must not be read here.
    this.#app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const operation of operations) this.#route(operation);
    // The pages and the operations without a tenant, which are not measured.
    this.#app.setNotFoundHandler((request, reply) => this.#serve(request, reply, (parts, trace) => other(parts, request, trace)));
    // Fastify itself rejects media types that it cannot read.
    this.#app.setErrorHandler((_error, request, reply) => this.#serve(request, reply, () => problemReply(badType())));
  }

  #route(operation: Operation): void {
    const path = `/v2/{tenant_slug}${operation.path}`;
    const names = path
      .slice(1)
      .split("/")
      .map((segment) => (segment.startsWith("{") ? segment.slice(1, -1) : null));
    this.#app.route({
      method: operation.method,
      url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handler: (request, reply) =>
        this.#serve(request, reply, (parts, trace) => {
          trace.operation = operation.id;
          // Parse the raw URL, because Fastify's own parameters are already decoded once: with them, %252F would become a slash.
          const { segments, query } = parseTarget(request.raw.url ?? "") ?? { segments: [], query: "" };
          const params: Record<string, string> = {};
          for (const [at, name] of names.entries()) if (name !== null) params[name] = segments[at] ?? "";
          const { tenant_slug: slug = "", ...rest } = params;
          return runOperation(parts, request.raw, { operation, slug, params: rest, query }, trace, () => {});
        }),
    });
  }

  async #serve(
    request: FastifyRequest,
    response: FastifyReply,
    answer: (parts: ServerOptions, trace: Trace) => Reply | Promise<Reply>,
  ): Promise<FastifyReply> {
    const began = performance.now();
    const trace: Trace = { operation: "none" };
    let reply: Reply;
    try {
      if (!this.#parts) throw starting();
      reply = await answer(this.#parts, trace);
    } catch (error) {
      reply = problemReply(toFailure(error));
    }
    this.#metrics.observeRequest(trace.operation, request.method, reply.status, (performance.now() - began) / 1000);
    return send(request, response, reply);
  }

  open(parts: ServerOptions): void {
    this.#parts = parts;
  }

  async listen(host: string, port: number): Promise<AddressInfo> {
    await this.#app.listen({ host, port, backlog: 1024 });
    // The address of a TCP server is never a string.
    return this.#app.server.address() as AddressInfo;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.#app.close();
  }
}

// For connections whose bytes never became a request.
function refuse(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const failure = isTooLarge
    ? new Failure("headers-too-large", "The request's headers may have at most 16384 bytes.")
    : new Failure("bad-request", "The request is not valid HTTP.");
  const { status, body, headers } = problemReply(failure);
  const all = { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
}

async function other(parts: ServerOptions, request: FastifyRequest, trace: Trace): Promise<Reply> {
  const target = parseTarget(request.raw.url ?? "");
  const match = parts.pages?.match(request.raw, target) ?? parts.router.route(request.method, target);
  trace.operation = match.operation.id;
  if (match.kind === "tenant") throw new Failure("item-not-found", "There is nothing at this path.");
  return match.operation.handle(request.raw, () => {}, match.call);
}

function send(request: FastifyRequest, response: FastifyReply, reply: Reply): FastifyReply {
  response.code(reply.status).headers({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": request.id,
    ...reply.headers,
    ...(reply.cookies && { "set-cookie": reply.cookies }),
  });
  // Otherwise Fastify adds a charset to the type.
  response.serializer(asIs);
  if (!reply.stream) return response.send(reply.bytes ?? reply.body);
  response.hijack();
  response.raw.writeHead(reply.status, response.getHeaders() as Record<string, string>).flushHeaders();
  reply.stream(response.raw);
  return response;
}
