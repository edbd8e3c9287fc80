import type { Socket } from "node:net";
import { connectPlain } from "../../service/test/launch.ts";

// Raw client connections.
export class Sockets {
  readonly #sockets: Socket[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  closed = 0;

  get size(): number {
    return this.#sockets.length;
  }

  // Opened one after another, because a burst would only test the backlog.
  async open(count: number, port: number, bytes: string): Promise<Socket[]> {
    const opened: Socket[] = [];
    for (let index = 0; index < count; index++) {
      const socket = await connectPlain(port, bytes);
      socket.once("close", () => this.closed++);
      opened.push(socket);
    }
    this.#sockets.push(...opened);
    return opened;
  }

  // Writes a few bytes again and again while the socket is writable.
  drip(sockets: Socket[], bytes: string, everyMs: number): void {
    const timer = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(bytes);
    }, everyMs);
    this.#timers.push(timer);
  }

  end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
  }
}
