import type { ChatMessage } from "../domain/chat.ts";
import type { WebhookFormat } from "../domain/webhook.ts";
import { slackBody } from "./slack.ts";
import { teamsBody } from "./teams.ts";

export function chatBody({ format }: { format: WebhookFormat }, message: ChatMessage): string {
  return format === "teams" ? teamsBody(message) : slackBody(message);
}
