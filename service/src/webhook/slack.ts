// A message as Slack's incoming webhooks expect it: a text for notifications, and blocks.
import type { ChatLine, ChatMessage } from "../domain/chat.ts";

const titleCharactersMax = 150;

export function slackBody({ title, lines, url }: ChatMessage): string {
  const text = escapeText(title);
  return JSON.stringify({
    text,
    blocks: [
      { type: "header", text: plain(title.slice(0, titleCharactersMax)) },
      ...lines.map(block),
      { type: "context", elements: [{ type: "mrkdwn", text: `<${url}|Open Casehound>`, verbatim: true }] },
    ],
  });
}

// Text from outside is plain text, where neither formatting nor mentions nor links work.
function block({ words, url, outside }: ChatLine) {
  const text = url === undefined ? escapeText(words) : `<${url}|${escapeText(words)}>`;
  return {
    type: "section",
    text: { type: "mrkdwn", text, verbatim: true },
    ...(outside !== undefined && { fields: [plain(outside)] }),
  };
}

function plain(text: string) {
  return { type: "plain_text", text: escapeText(text), emoji: false };
}

// These three characters begin mentions and links.
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
