// A message as the Workflows webhooks of Microsoft Teams expect it: an Adaptive Card as an attachment.
import type { ChatLine, ChatMessage } from "../domain/chat.ts";

export function teamsBody({ title, lines, url }: ChatMessage): string {
  return JSON.stringify({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            { type: "TextBlock", text: escapeMarkdown(title), size: "Medium", weight: "Bolder", wrap: true },
            ...lines.map(paragraph),
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open Casehound", url }],
        },
      },
    ],
  });
}

// Text runs, because they do not interpret Markdown, unlike text blocks.
function paragraph({ words, url, outside }: ChatLine) {
  const link = url === undefined ? {} : { selectAction: { type: "Action.OpenUrl", url } };
  const more = outside === undefined ? [] : [{ type: "TextRun", text: ` (${outside})` }];
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", text: words, ...link }, ...more] };
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]()#<>!|~]/g, "\\$&");
}
