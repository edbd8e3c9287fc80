// A load that is generated before the clock starts and then only sent. Generating events and using an HTTP client took a fifth of
// the machine under test.
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { CourierTarget } from "@casehound/simulator/courier";
import { eventsIn, type BrowserRequest, type ServerBatch } from "@casehound/simulator/delivery";
import { loadTimeline } from "@casehound/simulator/load";

const connections = 48;

type Planned = { atMs: number; events: number; offset: number; length: number };
export type Load = { path: string; startMs: number; plan: Planned[] };
export type Replayed = { requests: number; events: number; refused: number };
type Options = { rate: number; seconds: number; seed?: string; appKey: string; origin: string; target: CourierTarget };

// Writes every request to a file, as the bytes that go over the wire.
export async function makeLoad(path: string, { rate, seconds, seed = "load", appKey, origin, target }: Options): Promise<Load> {
  const startMs = Date.now() + 5_000 + rate * seconds * 0.12;
  const token = await target.token(false);
  const file = openSync(path, "w");
  const plan: Planned[] = [];
  let offset = 0;
  for (const delivery of loadTimeline({ seed, startMs, eventsPerSecond: rate, appKey, origin, users: 20_000 })) {
    if (delivery.at_ms > startMs + seconds * 1000) break;
    const bytes = Buffer.from(requestText(delivery, { token, tenant: target.tenant }));
    writeSync(file, bytes);
    plan.push({ atMs: delivery.at_ms, events: eventsIn(delivery), offset, length: bytes.length });
    offset += bytes.length;
  }
  closeSync(file);
  return { path, startMs, plan };
}

function requestText(delivery: BrowserRequest | ServerBatch, { token, tenant }: { token: string; tenant: string }): string {
  const isBrowser = delivery.kind === "browser";
  const path = isBrowser ? delivery.path : `/v2/${tenant}/activities`;
  const body = isBrowser ? delivery.body : JSON.stringify({ activities: delivery.activities });
  const headers: Record<string, string | number> = isBrowser
    ? { ...delivery.headers }
    : { "content-type": "application/json", authorization: `Bearer ${token}` };
  const all = { host: "load.test", ...headers, "content-length": Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

// Sends each request at its time on a free connection, or as soon as one is free.
export async function replay({ path, plan }: Load, to: URL, signal: AbortSignal): Promise<Replayed> {
  const file = openSync(path, "r");
  const free: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  const release = (connection: Connection) => {
    const next = waiting.shift();
    if (next) next(connection);
    else free.push(connection);
  };
  const all = await Promise.all(Array.from({ length: connections }, () => Connection.open(to, release)));
  free.push(...all);
  const replayed: Replayed = { requests: 0, events: 0, refused: 0 };
  const underWay = new Set<Promise<void>>();
  for (const each of plan) {
    const aheadMs = each.atMs - Date.now();
    if (aheadMs > 1) await sleep(aheadMs);
    if (signal.aborted) break;
    // The one that was idle longest, because the service closes idle connections.
    const connection = free.shift() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
    const bytes = Buffer.allocUnsafe(each.length);
    readSync(file, bytes, 0, each.length, each.offset);
    const exchange = async () => {
      const status = await connection.send(bytes);
      const isTaken = status === 200 || status === 202;
      replayed.requests += isTaken ? 1 : 0;
      replayed.events += isTaken ? each.events : 0;
      replayed.refused += isTaken ? 0 : 1;
    };
    const sending = exchange().finally(() => underWay.delete(sending));
    underWay.add(sending);
  }
  await Promise.all(underWay);
  closeSync(file);
  for (const connection of all) connection.close();
  return replayed;
}

const headEnd = "\r\n\r\n";

// One request at a time. Its response must have a content length.
class Connection {
  readonly #socket: Socket;
  #text = "";
  #answered: ((status: number) => void) | null = null;

  private constructor(socket: Socket, release: (connection: Connection) => void) {
    this.#socket = socket;
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      this.#text += chunk;
      const end = this.#text.indexOf(headEnd);
      const length = Number(/content-length: (\d+)/i.exec(this.#text)?.[1] ?? 0);
      if (end === -1 || this.#text.length < end + headEnd.length + length) return;
      const status = Number(this.#text.slice(9, 12));
      this.#text = "";
      this.#answered?.(status);
      release(this);
    });
    socket.on("error", () => this.#answered?.(0));
    socket.on("close", () => this.#answered?.(0));
  }

  static open({ hostname, port }: URL, release: (connection: Connection) => void): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Connection(socket, release)));
    });
  }

  send(bytes: Buffer): Promise<number> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
