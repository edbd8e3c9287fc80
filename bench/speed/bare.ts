// The limit of what a Node process can serve: node:http with the same bytes, and only a map behind it. Started with a file of
// paths and bodies: `node bench/speed/bare.ts <file>`.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Record<string, string>).map(
    ([path, text]) => [path, Buffer.from(text)] as const,
  ),
);

const server = createServer((request, response) => {
  const body = answers.get(request.url ?? "");
  response.writeHead(body ? 200 : 404, {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": "00000000-0000-4000-8000-000000000000",
    "content-type": "application/json",
    "content-length": body?.length ?? 0,
  });
  response.end(body);
});
server.listen({ host: "127.0.0.1", port: 0, backlog: 1024 }, () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
