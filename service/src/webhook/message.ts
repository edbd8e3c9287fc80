import type { Message } from "./post.ts";

type Sender = {
  webhook_id: string;
  url: string;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: string | null;
};

// The id is the same in every attempt, so that a receiver can recognize duplicates.
export function messageOf(to: Sender, { id, body, now }: { id: string; body: string; now: string }): Message {
  const { webhook_id, url, secret, previous_secret: previous, previous_secret_until: until } = to;
  const secrets = previous !== null && until !== null && until > now ? [secret, previous] : [secret];
  return { url, id: `msg_${webhook_id.replaceAll("-", "")}_${id}`, body, secrets, now };
}
