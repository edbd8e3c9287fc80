import type { IncomingMessage } from "node:http";

// Returns every line of a header as sent. For some headers, Node keeps only the first of several lines.
export function headerLines(request: IncomingMessage, name: string): string[] {
  const lines: string[] = [];
  const raw = request.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.length === name.length && raw[index]?.toLowerCase() === name) lines.push(raw[index + 1] ?? "");
  }
  return lines;
}
