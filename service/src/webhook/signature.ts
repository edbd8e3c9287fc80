// Standard Webhooks: the signature covers the message's id, the time of the attempt and the body.
import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

export function newWebhookSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64")}`;
}

export type Signed = { id: string; timestamp: number; body: string };

// Signs with every valid secret. During a rotation, a receiver may know either one.
export function signatureHeaders({ id, timestamp, body }: Signed, secrets: string[]): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}
