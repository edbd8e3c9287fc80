// A webhook receiver as an integrator would write it: the Standard Webhooks library verifies the messages.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook as Verifier } from "standardwebhooks";
import type { LoggedEvent } from "../src/domain/event.ts";

export type Received = { id: string; event: LoggedEvent; text: string; headers: IncomingHttpHeaders; atMs: number };
type Answering = (received: Received, response: ServerResponse, count: number) => void;

export class Receiver {
  readonly url: string;
  readonly received: Received[] = [];
  // How it responds to a message: 204 by default.
  answer: Answering = (_received, response) => void response.writeHead(204).end();
  readonly #stop: () => void;

  private constructor(url: string, stop: () => void) {
    this.url = url;
    this.#stop = stop;
  }

  static async start(): Promise<Receiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const id = String(request.headers["webhook-id"]);
        const each = { id, text, event: JSON.parse(text) as LoggedEvent, headers: request.headers, atMs: performance.now() };
        receiver.received.push(each);
        receiver.answer(each, response, receiver.received.length);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const receiver = new Receiver(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, () => {
      server.close();
      server.closeAllConnections();
    });
    return receiver;
  }

  at(place: number): Received {
    const found = this.received[place];
    if (!found) throw new Error(`message ${place} has not come`);
    return found;
  }

  // Throws if the signature does not match the secret.
  static verify({ text, headers }: Received, secret: string): void {
    new Verifier(secret).verify(text, headers as Record<string, string>);
  }

  stop(): void {
    this.#stop();
  }
}
