import { connect, type Socket } from "node:net";

export type Request = { method: string; path: string; token: string; key?: string; body?: string };
export type Answer = { status: number; isReplay: boolean; text: string };

const bytesOf = ({ method, path, token, key, body }: Request) =>
  [
    `${method} ${path} HTTP/1.1`,
    "host: localhost",
    `authorization: Bearer ${token}`,
    ...(key === undefined ? [] : [`idempotency-key: ${key}`]),
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    "",
    body ?? "",
  ].join("\r\n");

// Where wires connect. Its port can change, as behind a load balancer: calls that were already sent end where they were sent.
export class Door {
  port: number;
  readonly #underWay = new Map<number, number>();

  constructor(port: number) {
    this.port = port;
  }

  count(port: number, change: 1 | -1): void {
    this.#underWay.set(port, this.underWay(port) + change);
  }

  underWay(port: number): number {
    return this.#underWay.get(port) ?? 0;
  }
}

type Waiting = { settle: (answer: Answer | null) => void; chunks: Buffer[]; length: number };

// One connection with one call at a time. It is written by hand, because it can be cut at any moment and costs a fraction of
// fetch on the two cores that the services need.
export class Wire {
  readonly #door: Door;
  #socket: Socket | null = null;
  #connectedTo = 0;
  #waiting: Waiting | null = null;

  constructor(door: Door) {
    this.#door = door;
  }

  // Returns null if there was no response, for example because the connection was cut after `cutAfterMs`.
  send(request: Request, cutAfterMs?: number): Promise<Answer | null> {
    const socket = this.#open();
    const port = this.#connectedTo;
    this.#door.count(port, 1);
    const answered = new Promise<Answer | null>((resolve) => {
      const cut = cutAfterMs === undefined ? undefined : setTimeout(() => socket.destroy(), cutAfterMs);
      const settle = (answer: Answer | null) => {
        clearTimeout(cut);
        this.#waiting = null;
        this.#door.count(port, -1);
        resolve(answer);
      };
      this.#waiting = { settle, chunks: [], length: 0 };
    });
    socket.write(bytesOf(request));
    return answered;
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#waiting) throw new Error("only one call at a time");
    const { port } = this.#door;
    if (this.#socket && !this.#socket.destroyed && this.#connectedTo === port) return this.#socket;
    this.#socket?.destroy();
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    this.#socket = socket;
    this.#connectedTo = port;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#waiting?.settle(null);
    });
    return socket;
  }

  #take(chunk: Buffer): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.chunks.push(chunk);
    waiting.length += chunk.length;
    const bytes = waiting.chunks.length === 1 ? chunk : Buffer.concat(waiting.chunks);
    waiting.chunks = [bytes];
    const split = bytes.indexOf("\r\n\r\n");
    if (split === -1) return;
    const head = bytes.toString("latin1", 0, split).toLowerCase();
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (waiting.length < split + 4 + length) return;
    const isReplay = head.includes("\r\nidempotent-replayed: true");
    waiting.settle({ status: Number(head.slice(9, 12)), isReplay, text: bytes.toString("utf8", split + 4) });
  }
}
