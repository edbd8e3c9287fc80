import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from "node:net";

const commit = Buffer.from("commit\0");

// A message begins with its type and its length.
function isBegin(sent: Buffer): boolean {
  return sent.toString("latin1", 0, 1) === "Q" && sent.toString("latin1", 5, 10) === "begin";
}

// Between a service and its database. Silent, it passes nothing on and closes nothing, as a network does that has come apart; when
// it speaks again, what was sent meanwhile arrives.
export class SilentProxy {
  readonly #target: NetConnectOpts;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #isSilent = false;
  #armedFor: string | null = null;

  private constructor(target: NetConnectOpts) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async open(target: NetConnectOpts): Promise<SilentProxy> {
    const proxy = new SilentProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    // Listening on TCP, its address is never text.
    return (this.#server.address() as AddressInfo).port;
  }

  // Of the service's, each of which has one to the database.
  get connections(): number {
    return this.#open.size / 2;
  }

  silence(): void {
    this.#armedFor = null;
    this.#isSilent = true;
    for (const socket of this.#open) socket.pause();
  }

  // From the next COMMIT on, of any transaction or of one in which the text was sent. That one is passed on, its answer is not.
  silenceAtCommit(text = ""): void {
    this.#armedFor = text;
  }

  speak(): void {
    this.#isSilent = false;
    for (const socket of this.#open) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    let isMeant = false;
    client.on("data", (sent) => {
      server.write(sent);
      if (this.#armedFor === null) return;
      // A transaction that was rolled back contained the text too, and its connection is reused.
      if (isBegin(sent)) isMeant = false;
      isMeant ||= sent.includes(this.#armedFor);
      if (isMeant && sent.includes(commit)) this.silence();
    });
    server.on("data", (answered) => client.write(answered));
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      this.#open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#open.delete(one);
        other.destroySoon();
      });
      if (this.#isSilent) one.pause();
    }
  }
}
