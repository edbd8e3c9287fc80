import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

// A name that points to a server, as in DNS: a change applies to new connections only.
export class Name {
  port = 0;
  target: number;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async open(target: number): Promise<Name> {
    const name = new Name(target);
    await new Promise<void>((resolve) => name.#server.listen(0, "127.0.0.1", resolve));
    name.port = (name.#server.address() as AddressInfo).port;
    return name;
  }

  // As if the server had crashed.
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.target, "127.0.0.1");
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      this.#open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#open.delete(one);
        other.destroy();
      });
    }
  }
}
