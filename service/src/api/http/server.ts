import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { Failure } from "../../domain/failure.ts";
import { STATUS_CODES, createServer } from "./node-http.ts";
import type { Authenticator } from "../tokens/auth.ts";
import { readableHeaders } from "../collector/collector.ts";
import type { ConsolePages } from "../documents/console.ts";
import { continueLater } from "./body.ts";
import { headerLines } from "./headers.ts";
import { Limited, type LimitName } from "./limited.ts";
import type { Metrics } from "../metrics.ts";
import { parseTarget } from "./path.ts";
import { problemReply, toFailure, type Reply } from "./problem.ts";
import type { RateLimiter } from "./rate-limits.ts";
import type { Router } from "./router.ts";
import { runOperation, type ScimTokens, type SharedServices, type Trace } from "./run.ts";
import { isScimPath, scimErrorReply } from "./scim-error.ts";
import type { Sessions } from "../people/web-sessions.ts";

const headerBytesMax = 16 * 1024;
const requestTimeoutMs = 30_000;
const lingerMs = 1_000;
const stopMs = 20_000;
const keepAliveMs = 65_000;
const inactivityMs = 60_000;
const publicOperations = new Set(["collectEvents", "preflightEvents", "getTag", "getConsole"]);
const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/;

type ServerOptions = {
  services: SharedServices;
  authenticator: Authenticator;
  sessions: Sessions;
  scimTokens: ScimTokens;
  limiter: RateLimiter;
  router: Router;
  pages: ConsolePages | null;
  isStrictHost: boolean;
};

// The requests of a connection that are not answered yet, in order. `isOver` is set once a response has announced that it is the
// last.
type ConnectionState = { underWay: Set<ServerResponse>; last: ServerResponse | null; isOver: boolean };
const pipelinedMax = 100;

// The HTTP layer and nothing else. Every error is answered as JSON, even if the request is not valid HTTP.
export class ApiServer {
  #parts: ServerOptions | null = null;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #server: Server;
  readonly #lines = new WeakMap<Duplex, ConnectionState>();
  readonly #refused = new WeakSet<Duplex>();
  readonly #sockets = new Set<Socket>();
  isStopping = false;

  constructor(log: Logger, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
    this.#server = createServer({
      maxHeaderSize: headerBytesMax,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      // Node checks every 30 s by default, which would give a slow body twice its time.
      connectionsCheckingInterval: 2_000,
      // Checked in #answer instead, because Node's own rejection has an empty body.
      requireHostHeader: false,
    });
    // A client that does not read its response must not hold it forever.
    this.#server.setTimeout(inactivityMs);
    // A client may close its sending half after the request and still gets its response.
    Object.assign(this.#server, { httpAllowHalfOpen: true });
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.once("end", () => setImmediate(() => this.#refuseHalf(socket)));
    });
    this.#server.on("request", (request, response) => this.#take(request, response, () => {}));
    // Send 100 Continue only after every check that does not need the body.
    this.#server.on("checkContinue", (request, response) => this.#take(request, response, continueLater(response)));
    this.#server.on("checkExpectation", (request, response) => this.#take(request, response, () => {}));
    this.#server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      socket.on("error", () => {});
      this.#endAfterAnswers(socket, new Failure("item-not-found", "There is nothing at this path."));
    });
    this.#server.on("clientError", (error: Error & { code?: string }, socket) => this.#refuse(error.code, socket));
  }

  // Serves the requests of a connection one at a time: if a client sends two changes in a row, the second must win.
  #take(request: IncomingMessage, response: ServerResponse, onBody: () => void): void {
    const { socket } = request;
    // Sent by an HTTP/2 client. Node detaches from the connection right after this.
    if (request.method === "PRI") return endRaw(socket, framingFailure(undefined));
    const line = this.#lines.get(socket) ?? { underWay: new Set(), last: null, isOver: false };
    const before = line.last;
    this.#lines.set(socket, line);
    line.last = response;
    line.underWay.add(response);
    response.once("close", () => line.underWay.delete(response));
    // A client that pipelines this many requests is not reading responses.
    if (line.underWay.size > pipelinedMax) return void socket.destroy();
    const serve = () => void this.#serve(request, response, onBody);
    if (line.isOver) return;
    if (!before || before.writableFinished || !line.underWay.has(before)) serve();
    // Skip the request if the client disconnected while it waited, or if an earlier response was the last one.
    else before.once("close", () => socket.destroyed || line.isOver || serve());
  }

  // Requests that were complete before the invalid bytes get their responses first. Otherwise a change that was applied would be
  // reported as rejected.
  #refuse(code: string | undefined, socket: Duplex): void {
    // The rejection is already on its way. Further input is dropped, because a reset could take the response with it.
    if (this.#refused.has(socket)) return;
    // Browsers open connections ahead of need. A browser would take an error on such a connection for the response to its next request.
    const isUnused = "bytesRead" in socket && socket.bytesRead === 0;
    if (!socket.writable || isUnused || code === "ECONNRESET") return void socket.destroy();
    this.#endAfterAnswers(socket, framingFailure(code));
  }

  // Node detects a request that ended too early, unless that request asks for an upgrade, which this server does not support.
  #refuseHalf(socket: Socket): void {
    const underWay = [...(this.#lines.get(socket)?.underWay ?? [])];
    if (!socket.destroyed && underWay.some((response) => !response.req.complete)) this.#refuse(undefined, socket);
  }

  #endAfterAnswers(socket: Duplex, failure: Failure): void {
    this.#refused.add(socket);
    const last = [...(this.#lines.get(socket)?.underWay ?? [])].findLast((response) => response.req.complete);
    const end = () => endRaw(socket, failure);
    if (last) last.once("close", end);
    else end();
  }

  async listen(host: string, port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port, backlog: 1024 }, () => resolve());
    });
    // A TCP server's address is never text.
    return this.#server.address() as AddressInfo;
  }

  // The server listens before the rest can be built, because the port is part of the issuer's name. Until then it returns 503.
  open(parts: ServerOptions): void {
    this.#parts = parts;
  }

  // Stops accepting connections and waits for the requests in progress.
  async stop(): Promise<void> {
    this.isStopping = true;
    // close() also stops Node's own check for slow requests, so a stalled client would block the shutdown forever.
    const timer = setTimeout(() => this.#server.closeAllConnections(), stopMs);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // A connection that has sent nothing has no request in progress, yet Node would wait for it.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    await closed;
    clearTimeout(timer);
  }

  async #serve(request: IncomingMessage, response: ServerResponse, onBody: () => void): Promise<void> {
    const began = performance.now();
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
    const trace: Trace = { operation: "none" };
    let fault: Failure | null = null;
    let reply: Reply;
    try {
      reply = await this.#answer(request, trace, onBody);
      fault = reply.fault ?? null;
    } catch (error) {
      fault = toAnswer(request.method, toFailure(error));
      reply = isScimPath(request.url) ? scimErrorReply(fault) : problemReply(fault);
      if (request.url?.startsWith("/collect/")) Object.assign(reply.headers, readableHeaders(request));
    }
    const isLast = this.isStopping || reply.headers["connection"] === "close" || !response.shouldKeepAlive;
    const line = this.#lines.get(request.socket);
    if (line && isLast) line.isOver = true;
    send(response, reply, requestId, isLast);
    this.#record({ request, trace, reply, requestId, fault, tookMs: performance.now() - began });
  }

  // Always asynchronous, even if the response is ready: bytes after a request's head may still make it invalid.
  async #answer(request: IncomingMessage, trace: Trace, onBody: () => void): Promise<Reply> {
    const hosts = headerLines(request, "host").length;
    if (hosts > 1 || (hosts === 0 && request.httpVersion !== "1.0"))
      throw new Failure("bad-request", "The request must have exactly one Host header.", { headers: { connection: "close" } });
    requirePlainChunks(request);
    const parts = this.#parts;
    if (!parts) throw new Failure("service-unavailable", "The service is starting.", { headers: { "retry-after": "1" } });
    const target = parseTarget(request.url ?? "");
    const match = parts.pages?.match(request, target) ?? parts.router.route(request.method ?? "", target);
    trace.operation = match.operation.id;
    if (match.kind === "system") return match.operation.handle(request, onBody, match.call);
    if (this.isStopping)
      throw new Failure("service-unavailable", "The service is shutting down.", { headers: { "retry-after": "1" } });
    return await runOperation(parts, request, match, trace, onBody);
  }

  #record({
    request,
    trace,
    reply,
    requestId,
    fault,
    tookMs,
  }: Record<"request", IncomingMessage> & {
    trace: Trace;
    reply: Reply;
    requestId: string;
    fault: Failure | null;
    tookMs: number;
  }): void {
    const log = this.#log;
    this.#metrics.observeRequest(trace.operation, request.method ?? "", reply.status, tookMs / 1000);
    const limit = limitOf(fault);
    if (limit !== null) this.#metrics.observeLimited(limit);
    // A site's pages send thousands of requests a second. The metrics count them, so they are logged only at debug level.
    const isPublicSuccess = publicOperations.has(trace.operation) && reply.status < 400;
    // A caller's mistake is logged as info. A failure of the service is logged as an error, with its cause. A health check that
    // finds the service starting or stopping is no reason for a warning.
    const busy = trace.operation === "getReadiness" || !this.#parts ? "info" : "warn";
    const level = reply.status === 503 ? busy : reply.status >= 500 ? "error" : isPublicSuccess ? "debug" : "info";
    if (!log.isLevelEnabled(level)) return;
    const line = {
      request_id: requestId,
      ...trace,
      method: request.method,
      status: reply.status,
      ms: Math.round(tookMs * 10) / 10,
      ...(fault && { problem: fault.code }),
      ...(limit !== null && { limit }),
      ...(reply.headers["idempotent-replayed"] !== undefined && { replayed: true }),
    };
    if (level === "error") log.error({ ...line, err: fault?.cause ?? fault }, "request failed");
    else log[level](line, "request");
  }
}

function send(response: ServerResponse, reply: Reply, requestId: string, isLast: boolean): void {
  const { status, bytes: body = reply.body } = reply;
  const headers: Record<string, string | number | string[]> = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
    ...reply.headers,
  };
  if (reply.cookies) headers["set-cookie"] = reply.cookies;
  if (reply.stream) {
    response.writeHead(status, headers).flushHeaders();
    return reply.stream(response);
  }
  if (status !== 204 && status !== 304) headers["content-length"] = Buffer.byteLength(body);
  if (isLast) headers["connection"] = "close";
  response.writeHead(status, headers);
  response.end(body);
}

// A page gets the same 503 for a limit as for a full store. The limit is then the failure's cause.
function limitOf(fault: Failure | null): LimitName | null {
  const limited = fault instanceof Limited ? fault : fault?.cause;
  return limited instanceof Limited ? limited.limit : null;
}

// A read changes nothing, so it cannot conflict with another change. If a lock blocks it, the database counts as unreachable.
function toAnswer(method: string | undefined, failure: Failure): Failure {
  if (method !== "GET" || failure.code !== "transaction-contended") return failure;
  return new Failure("bad-gateway", "The database took too long. Retry after a short delay.", { cause: failure.cause });
}

// If chunked is the last of several codings, Node decodes only that one and ignores the others.
function requirePlainChunks(request: IncomingMessage): void {
  const lines = headerLines(request, "transfer-encoding");
  if (lines.length === 0 || (lines.length === 1 && lines[0]?.toLowerCase() === "chunked")) return;
  throw new Failure("bad-request", "The only supported Transfer-Encoding is chunked.", {
    headers: { connection: "close" },
  });
}

function framingFailure(code: string | undefined): Failure {
  if (code === "HPE_HEADER_OVERFLOW")
    return new Failure("headers-too-large", `The request's headers may have at most ${headerBytesMax} bytes.`);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new Failure("bad-request", "The request was not complete in time.");
  return new Failure("bad-request", "The request is not valid HTTP.");
}

// Answers input that never became a request.
function endRaw(socket: Duplex, failure: Failure): void {
  const { status, body, headers } = problemReply(failure);
  const all = { ...headers, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  // Keep reading for a while, so a client that is still sending sees the response instead of a reset. Then close the connection,
  // even if the client keeps its half open.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`);
}
