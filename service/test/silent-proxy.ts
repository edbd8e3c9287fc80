import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from "node:net";

const commit = Buffer.from("commit\0");

// A message starts with its type and its length.
function isBegin(sent: Buffer): boolean {
  return sent.toString("latin1", 0, 1) === "Q" && sent.toString("latin1", 5, 10) === "begin";
}

// A proxy between a service and its database. While silent, it forwards and closes nothing, like a broken network. When it speaks
// again, what was sent in between arrives.
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
    // It listens on TCP, so its address is never a string.
    return (this.#server.address() as AddressInfo).port;
  }

  // Each of the service's connections has one to the database.
  get connections(): number {
    return this.#open.size / 2;
  }

  silence(): void {
    this.#armedFor = null;
    this.#isSilent = true;
    for (const socket of this.#open) socket.pause();
  }

  // Falls silent at the next COMMIT, of any transaction or of one that contains the text. The COMMIT is forwarded, its reply is
  // not.
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
      // Forget an earlier transaction on this connection that contained the text but was rolled back.
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
