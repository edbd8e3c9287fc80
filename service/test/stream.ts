import type { LoggedEvent } from "../src/domain/event.ts";

export type Message = { id?: string; event?: string; data?: string; comment?: string; retry?: string };

// Reads server-sent events without our client: the fields of the format, one message after the other.
export class StreamReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";

  private constructor(response: Response) {
    if (!response.body) throw new Error("the answer has no body");
    this.response = response;
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  static async open(url: string, headers: Record<string, string>): Promise<StreamReader> {
    return new StreamReader(await fetch(url, { headers }));
  }

  // Returns null at the end of the stream.
  async next(): Promise<Message | null> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parse(block);
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#text += value;
    }
  }

  // Returns the next message with data.
  async event(): Promise<LoggedEvent> {
    for (;;) {
      const message = await this.next();
      if (!message) throw new Error("the stream has ended");
      if (message.data !== undefined) return JSON.parse(message.data) as LoggedEvent;
    }
  }

  async rest(): Promise<Message[]> {
    const messages: Message[] = [];
    for (let message = await this.next(); message; message = await this.next()) messages.push(message);
    return messages;
  }

  async close(): Promise<void> {
    await this.#reader.cancel();
  }
}

function parse(block: string): Message {
  const fields = block.split("\n").map((line): [string, string] => {
    const colon = line.indexOf(": ");
    return colon === 0 ? ["comment", line.slice(2)] : [line.slice(0, colon), line.slice(colon + 2)];
  });
  return Object.fromEntries(fields);
}
