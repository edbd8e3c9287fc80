import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listPath } from "./client-trials.ts";
import type { Figures, House } from "./house.ts";
import { Sockets } from "./sockets.ts";

// Each uses megabytes of kernel buffers.
const clientsWanted = { short: 4, full: 20 };
// More than the kernel buffers for the service, so some of it stays in the process until it is read.
const listsAsked = 60;
// A connection is closed after 60 s without progress. Node checks every 60 s, and bytes sent just before a check count as
// progress.
const limitMs = 130_000;

// Clients that request long lists and do not read them, alongside everything else.
export class UnreadClients {
  readonly #house: House;
  readonly #opened: Socket[];
  readonly #beganMs = performance.now();

  private constructor(house: House, opened: Socket[]) {
    this.#house = house;
    this.#opened = opened;
  }

  static async open(house: House): Promise<UnreadClients> {
    const opened = await new Sockets().open(clientsWanted[house.scale], house.port, "");
    for (const socket of opened) {
      socket.pause();
      socket.write(house.head("GET", listPath).repeat(listsAsked));
    }
    return new UnreadClients(house, opened);
  }

  // A socket that nobody reads does not notice its end. By now the service has closed it. So a client that reads on finds only
  // what was already in transit, and not everything it requested.
  async end(): Promise<Figures> {
    const { scale, ledger } = this.#house;
    if (scale === "full") {
      await sleep(Math.max(0, this.#beganMs + limitMs - performance.now()));
      const answers = await Promise.all(this.#opened.map((socket) => countAnswers(socket)));
      const kept = answers.filter((count) => count >= listsAsked).length;
      if (kept > 0) ledger.violate(`${kept} clients that did not read for ${limitMs / 1000} s were not disconnected`);
    }
    for (const socket of this.#opened) socket.destroy();
    return { "clients that never read": this.#opened.length };
  }
}

async function countAnswers(socket: Socket): Promise<number> {
  let answers = 0;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.on("data", (chunk: Buffer) => {
      answers += chunk.toString("latin1").split("HTTP/1.1 ").length - 1;
      if (answers >= listsAsked) resolve();
    });
    socket.resume();
  });
  return answers;
}
