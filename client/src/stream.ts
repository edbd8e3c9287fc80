import type { Event } from "./types.ts";

// `reset` means that too many events were missed, so everything read before must be read again.
export type FollowedEvent = Event | { type: "reset"; last_event_id: number };

export type StreamMessage = { id?: number; event?: string; data?: string };

// Server-sent events as far as the service uses them: one field per line, and an empty line after each message.
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
  // The service guarantees the type.
  if (event === "reset") return { type: "reset", ...(told as { last_event_id: number }) };
  return told as Event;
}
