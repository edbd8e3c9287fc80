import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Random } from "@casehound/simulator/random";

// What happens to a connection at a statement.
const cuts = {
  "before COMMIT was forwarded": 3,
  "after COMMIT, its reply lost": 3,
  "reset right after COMMIT was forwarded": 2,
  "before another statement": 1,
  "half-closed at COMMIT": 1,
  "COMMIT delayed, then forwarded": 1,
};
export type Cut = keyof typeof cuts;
const delay: Cut = "COMMIT delayed, then forwarded";

const commit = Buffer.from("commit\0");
const delayMsMax = 60;

// A proxy between a service and its database. `chance` is the probability of a cut at every COMMIT; at any other message it is a
// tenth of that.
export class CuttingProxy {
  chance = 0;
  readonly done = new Map<Cut, number>();
  readonly #random: Random;
  readonly #server: Server;
  readonly #target: string;
  readonly #open = new Set<Socket>();

  private constructor(target: string, random: Random) {
    this.#target = target;
    this.#random = random;
    this.#server = createServer((client) => this.#join(client));
  }

  static async open(target: string, random: Random): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target, random);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    // A TCP server's address is never a string.
    return (this.#server.address() as AddressInfo).port;
  }

  // Delays do not count, because they cut nothing.
  get total(): number {
    return [...this.done].reduce((sum, [cut, times]) => sum + (cut === delay ? 0 : times), 0);
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    let isAnswerLost = false;
    let passed = Promise.resolve();
    client.on("data", (sent) => {
      const cut = this.#choose(sent);
      if (cut) this.done.set(cut, (this.done.get(cut) ?? 0) + 1);
      if (cut === "before COMMIT was forwarded" || cut === "before another statement") {
        client.resetAndDestroy();
        return;
      }
      if (cut === "after COMMIT, its reply lost") isAnswerLost = true;
      if (cut === delay) {
        const delayMs = this.#random.between(1, delayMsMax);
        passed = passed.then(() => new Promise((resolve) => setTimeout(resolve, delayMs)));
      }
      passed = passed.then(() => void server.write(sent));
      if (cut === "half-closed at COMMIT") passed = passed.then(() => void client.end());
      if (cut === "reset right after COMMIT was forwarded") passed = passed.then(() => void client.resetAndDestroy());
    });
    server.on("data", (answered) => (isAnswerLost ? client.resetAndDestroy() : client.write(answered)));
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      this.#open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#open.delete(one);
        void passed.then(() => other.destroySoon());
      });
    }
  }

  #choose(sent: Buffer): Cut | null {
    const isCommit = sent.includes(commit);
    if (!this.#random.chance(isCommit ? this.chance : this.chance / 10)) return null;
    if (!isCommit) return "before another statement";
    const { "before another statement": _other, ...atCommit } = cuts;
    return this.#random.pickShare(atCommit);
  }
}
