import type { Event } from "./operations.ts";

// `reset`: too much was missed to be told, and what was read before must be read again.
export type FollowedEvent = Event | { type: "reset"; last_event_id: number };

export type StreamMessage = { id?: number; event?: string; data?: string };

// Server-sent events, as far as the service uses them: fields one a line, an empty line after each message.
export async function* readMessages(response: Response): AsyncGenerator<StreamMessage> {
  if (!response.body) return;
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${text}${piece}`.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) yield parseMessage(block);
  }
}

function parseMessage(block: string): StreamMessage {
  const message: StreamMessage = {};
  for (const line of block.split("\n")) {
    const [name = "", ...rest] = line.split(": ");
    const value = rest.join(": ");
    if (name === "id") message.id = Number(value);
    if (name === "event") message.event = value;
    if (name === "data") message.data = value;
  }
  return message;
}

export function toFollowed({ event, data = "" }: StreamMessage): FollowedEvent {
  const told: unknown = JSON.parse(data);
  // The shape is the service's promise.
  if (event === "reset") return { type: "reset", ...(told as { last_event_id: number }) };
  return told as Event;
}
