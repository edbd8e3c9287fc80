import { connect, type Socket } from "node:net";
import { readAnswers, type Answer } from "./answer.ts";

const silenceMs = 20_000;

// Sends the exact bytes on a new connection, closes our half, and reads until the other side closes too. `left` are bytes that do
// not form a complete response.
export function sendBytes(port: number, bytes: Buffer): Promise<{ answers: Answer[]; left: Buffer; isSilent: boolean }> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let isSilent = false;
    socket.setTimeout(silenceMs, () => ((isSilent = true), socket.destroy()));
    socket.on("data", (chunk) => chunks.push(chunk));
    // A reset after a response also ends the exchange. Only what arrived matters.
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      const { answers, rest } = readAnswers(Buffer.concat(chunks), { isHead: bytes.includes("HEAD "), isOver: true });
      resolve({ answers, left: rest, isSilent });
    });
    socket.end(bytes);
  });
}

type Asked = { bytes: Buffer; resolve: (answer: Answer | null) => void };

const aheadMax = 16;

// A kept-alive connection with several pipelined requests. Only for requests with correct framing.
class RawConnection {
  readonly #port: number;
  #socket: Socket | null = null;
  readonly #losses: string[];
  #received: Buffer = Buffer.alloc(0);
  #asked: Asked[] = [];

  constructor(port: number, losses: string[]) {
    this.#port = port;
    this.#losses = losses;
  }

  get length(): number {
    return this.#asked.length;
  }

  // Resolves to null if the connection ended without a response to this request.
  ask(bytes: Buffer): Promise<Answer | null> {
    return new Promise((resolve) => {
      this.#asked.push({ bytes, resolve });
      (this.#socket ??= this.#connect()).write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1" });
    this.#received = Buffer.alloc(0);
    socket.setNoDelay(true);
    let reason = "the service closed it";
    socket.setTimeout(silenceMs, () => socket.destroy(new Error(`silent for ${silenceMs} ms`)));
    socket.on("error", (error) => (reason = error.message));
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("close", () => socket === this.#socket && this.#lose(reason));
    return socket;
  }

  #take(chunk: Buffer): void {
    const { answers, rest } = readAnswers(this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]));
    this.#received = rest;
    for (const answer of answers) {
      this.#asked.shift()?.resolve(answer);
      // Requests behind it are not answered on this connection any more.
      if (answer.headers.get("connection") === "close") return this.#move();
    }
  }

  #move(): void {
    this.#socket?.destroy();
    this.#socket = null;
    if (this.#asked.length === 0) return;
    this.#socket = this.#connect();
    for (const { bytes } of this.#asked) this.#socket.write(bytes);
  }

  // The first request was being answered. Those behind it were never read.
  #lose(reason: string): void {
    if (this.#asked.length > 0) this.#losses.push(`${reason}, requests waiting: ${this.#asked.length}`);
    this.#asked.shift()?.resolve(null);
    this.#move();
  }
}

// Requests on several connections at once.
export class Lines {
  readonly #lines: RawConnection[];
  readonly #waiting: (() => void)[] = [];
  // Why connections ended without a response.
  readonly losses: string[] = [];

  constructor(port: number, count: number) {
    this.#lines = Array.from({ length: count }, () => new RawConnection(port, this.losses));
  }

  async ask(bytes: Buffer): Promise<Answer | null> {
    let line = this.#shortest();
    while (line.length >= aheadMax) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      line = this.#shortest();
    }
    const answer = await line.ask(bytes);
    this.#waiting.shift()?.();
    return answer;
  }

  close(): void {
    for (const line of this.#lines) line.close();
  }

  #shortest(): RawConnection {
    return this.#lines.reduce((shortest, line) => (line.length < shortest.length ? line : shortest));
  }
}

// Runs this many at a time until all items are done.
export async function eachOf<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
