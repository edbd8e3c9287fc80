import type { IncomingMessage } from "node:http";

// Every line of a header, as it was sent: of some that are there twice Node keeps only the first.
export function headerLines(request: IncomingMessage, name: string): string[] {
  const lines: string[] = [];
  const raw = request.rawHeaders;
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.length === name.length && raw[index]?.toLowerCase() === name) lines.push(raw[index + 1] ?? "");
  }
  return lines;
}
