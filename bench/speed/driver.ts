// The load generator's own process; see drive.ts. It shares the machine with what it measures, so it does as little as possible.
// Requests are built before the clock starts, and only the status and the end of a response are read.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { Latencies } from "./latencies.ts";
import type { Answer, Drive, Driven, Shot } from "./drive.ts";

const readBytes = 256 * 1024;
const headBytesMax = 16 * 1024;
// How long to wait for missing responses after the end.
const patienceMs = 15_000;
// With a rate, requests that are due but wait for a free connection are still sent for this long after the end. If that is
// not enough, the rate was too high, and the requests per second show it.
const lateMaxMs = 5_000;
const keyLength = 24;
const keyRun = 12;

type Prepared = { bytes: Buffer; expected: number };

function prepare(shot: Shot, drive: Drive, keyName: string): Prepared {
  const { host, pathname } = new URL(drive.url);
  const body = shot.body ?? "";
  const headers: Record<string, string> = { ...drive.headers, ...shot.headers };
  if (shot.body !== undefined) {
    headers["content-type"] ??= "application/json";
    headers["content-length"] = String(Buffer.byteLength(body));
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${shot.method} ${pathname.replace(/\/$/, "")}${shot.path} HTTP/1.1\r\nhost: ${host}\r\n`;
  return { bytes: Buffer.from(`${head}${keyName}${lines.join("")}\r\n${body}`), expected: shot.expect ?? 200 };
}

// One connection with one request at a time. Received bytes are in a buffer that all connections share.
class RawConnection {
  readonly #run: Run;
  #socket: Socket | null = null;
  #head = "";
  #left = 0;
  #status = 0;
  #sentAt = 0;
  #expected = 0;
  isBusy = false;

  constructor(run: Run) {
    this.#run = run;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.#run.drive.url);
      const socket = connect({
        host: hostname,
        port: Number(port),
        noDelay: true,
        onread: {
          buffer: this.#run.buffer,
          callback: (bytes) => {
            try {
              this.#read(bytes);
            } catch (error) {
              this.#run.fail(error);
            }
            return true;
          },
        },
      });
      socket.once("connect", resolve);
      socket.on("error", reject);
      socket.once("close", () => this.#lost(socket));
      this.#socket = socket;
    });
  }

  send({ bytes, expected }: Prepared, sentAt: number): void {
    this.isBusy = true;
    this.#sentAt = sentAt;
    this.#expected = expected;
    this.#socket?.write(bytes);
  }

  #read(bytes: number): void {
    if (this.#left > 0) this.#left -= bytes;
    else if (!this.#readHead(bytes)) return;
    if (this.#left < 0 || !this.isBusy) return this.#run.fail(new Error("the server sent more bytes than it announced"));
    if (this.#left > 0) return;
    this.isBusy = false;
    const isExpected = this.#status === this.#expected;
    if (!isExpected) this.#run.miss(`a status of ${this.#status} instead of ${this.#expected}`);
    this.#run.answered(this, this.#sentAt);
  }

  // Returns false if the head is not complete yet.
  #readHead(bytes: number): boolean {
    const { buffer } = this.#run;
    const before = this.#head.length;
    const text =
      before === 0
        ? buffer.toString("latin1", 0, Math.min(bytes, headBytesMax))
        : this.#head + buffer.toString("latin1", 0, bytes);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      this.#head = text;
      if (text.length >= headBytesMax) this.#run.fail(new Error("the head of a response is too long"));
      return false;
    }
    this.#head = "";
    this.#status = Number(text.slice(9, 12));
    this.#left = bodyBytes(text, end, this.#status) - (before + bytes - end - 4);
    return true;
  }

  // The server has closed or reset the connection, so the pending request will not be answered.
  #lost(socket: Socket): void {
    if (this.#socket !== socket || this.#run.isOver) return;
    this.#socket = null;
    this.#head = "";
    this.#left = 0;
    const wasBusy = this.isBusy;
    this.isBusy = false;
    if (wasBusy) this.#run.miss("the connection was closed before the response");
    this.open().then(
      () => wasBusy && this.#run.answered(this, this.#sentAt),
      (error: unknown) => this.#run.fail(error),
    );
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }
}

function bodyBytes(text: string, end: number, status: number): number {
  if (status === 204 || status === 304) return 0;
  const found = /\r\ncontent-length: *(\d+)/i.exec(text);
  if (!found || found.index > end) throw new Error("the response has no content-length, which the load generator requires");
  return Number(found[1]);
}

// A stride that visits all shots in a scattered order, and each of them once before any is repeated.
function strideOf(count: number): number {
  const divides = (a: number, b: number): boolean => (b === 0 ? a > 1 : divides(b, a % b));
  let stride = Math.max(1, Math.floor(count * 0.618));
  while (divides(count, stride)) stride++;
  return stride;
}

class Run {
  readonly drive: Drive;
  readonly buffer: Buffer;
  readonly #shots: Prepared[];
  readonly #keyAt: number[];
  readonly #keyRun = randomBytes(keyRun / 2).toString("hex");
  readonly #stride: number;
  readonly #lines: RawConnection[];
  readonly #idle: RawConnection[] = [];
  readonly #latencies = new Latencies();
  #place = 0;
  #shot = 0;
  #sent = 0;
  #done = 0;
  #failed = 0;
  #failure: string | null = null;
  #startMs = 0;
  #endMs = 0;
  #lastMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #finish: (error?: unknown) => void = () => {};
  isOver = false;

  constructor(drive: Drive, buffer: Buffer) {
    this.drive = drive;
    this.buffer = buffer;
    const name = drive.key === true ? "idempotency-key: " : "";
    this.#shots = drive.shots.map((shot) => prepare(shot, drive, name && `${name}${"0".repeat(keyLength)}\r\n`));
    this.#keyAt = name ? this.#shots.map(({ bytes }) => bytes.indexOf(name) + name.length) : [];
    this.#stride = strideOf(drive.shots.length);
    this.#lines = Array.from({ length: drive.connections }, () => new RawConnection(this));
  }

  async run(): Promise<{ driven: Driven; failure: string | null }> {
    if (this.#shots.length === 0) throw new Error("there is nothing to send");
    await Promise.all(this.#lines.map((line) => line.open()));
    const before = process.cpuUsage();
    const finished = new Promise<void>((resolve, reject) => {
      this.#finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#startMs = performance.now();
    this.#endMs = this.#startMs + this.drive.seconds * 1000;
    const giveUp = setTimeout(() => this.#giveUp(), this.drive.seconds * 1000 + patienceMs);
    if (this.drive.rate === undefined) for (const line of this.#lines) this.#next(line);
    else {
      this.#idle.push(...this.#lines);
      this.#timer = setInterval(() => this.#sendDue(), 1);
    }
    await finished.finally(() => {
      this.isOver = true;
      clearTimeout(giveUp);
      clearInterval(this.#timer);
      for (const line of this.#lines) line.close();
    });
    const { user, system } = process.cpuUsage(before);
    const seconds = (this.#lastMs - this.#startMs) / 1000;
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => this.#latencies.at(share)) as [number, number, number];
    const driven = { requests: this.#done, seconds, perSecond: this.#done / seconds, failed: this.#failed, p50, p99, p999 };
    return { driven: { ...driven, cpuSeconds: (user + system) / 1e6 }, failure: this.#failure };
  }

  answered(line: RawConnection, sentAt: number): void {
    const now = performance.now();
    this.#latencies.add(now - sentAt);
    this.#done++;
    this.#lastMs = now;
    if (this.drive.rate === undefined) this.#next(line, now);
    else {
      this.#idle.push(line);
      this.#sendDue(now);
    }
    if (this.#done === this.#sent && this.#isSpent(now)) this.#finish();
  }

  // A closed loop: sends the next request as soon as the last is answered.
  #next(line: RawConnection, now = performance.now()): void {
    if (!this.#isSpent(now)) line.send(this.#take(), now);
  }

  // An open loop: sends everything that is due, while connections are free.
  #sendDue(now = performance.now()): void {
    const gapMs = 1000 / (this.drive.rate ?? 1);
    for (;;) {
      const dueAt = this.#startMs + this.#sent * gapMs;
      if (dueAt > now || dueAt >= this.#endMs || this.#isTooLate(now) || this.#isUsedUp()) break;
      const line = this.#idle.shift();
      if (!line) return;
      line.send(this.#take(), dueAt);
    }
    if (this.#done === this.#sent && this.#isSpent(now)) this.#finish();
  }

  #isUsedUp(): boolean {
    return this.drive.once === true && this.#sent >= this.#shots.length;
  }

  #isTooLate(now: number): boolean {
    return now >= this.#endMs + lateMaxMs;
  }

  // Whether there is nothing left to send.
  #isSpent(now: number): boolean {
    if (this.#isUsedUp()) return true;
    if (this.drive.rate === undefined) return now >= this.#endMs;
    return this.#isTooLate(now) || this.#startMs + (this.#sent * 1000) / this.drive.rate >= this.#endMs;
  }

  #take(): Prepared {
    const { length } = this.#shots;
    this.#shot = this.#place;
    this.#place = (this.#place + this.#stride) % length;
    const number = this.#sent++;
    const shot = this.#shots[this.#shot];
    if (!shot) throw new Error("there is no request to send");
    const keyAt = this.#keyAt[this.#shot];
    if (keyAt === undefined) return shot;
    // A copy, because the one sent before may still be in transit.
    const bytes = Buffer.from(shot.bytes);
    bytes.write(`${this.#keyRun}${number.toString(36).padStart(keyLength - keyRun, "0")}`, keyAt, keyLength, "latin1");
    return { bytes, expected: shot.expected };
  }

  miss(what: string): void {
    this.#failed++;
    this.#failure ??= what;
  }

  fail(error: unknown): void {
    this.#finish(error);
  }

  #giveUp(): void {
    const missing = this.#sent - this.#done;
    for (let each = 0; each < missing; each++) this.miss(`no response within ${patienceMs} ms after the end`);
    this.#done += missing;
    this.#lastMs = performance.now();
    this.#finish();
  }
}

const buffer = Buffer.allocUnsafe(readBytes);

async function answer(drive: Drive): Promise<Answer> {
  try {
    return await new Run(drive, buffer).run();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

process.on("message", (drive: Drive) => void answer(drive).then((answered) => process.send?.(answered)));
process.on("disconnect", () => process.exit());
process.send?.("ready");
