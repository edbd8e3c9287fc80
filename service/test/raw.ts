import { connect } from "node:net";
import type { RawAnswer, TestTenant } from "./harness.ts";

export type Talk = { answers: RawAnswer[]; interim: number; isOpen: boolean };

const probe = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

// Sends exactly these bytes and waits for the given number of responses. Then sends a probe on the same connection, to see if the
// server keeps it open. With `half-close`, the client's side ends after the bytes.
export function talk(port: number, request: string | Buffer, wanted = 1, mode: "open" | "half-close" = "open"): Promise<Talk> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let bytes = Buffer.alloc(0);
    let isProbed = mode === "half-close";
    const finish = () => {
      socket.destroy();
      const all = readAnswers(bytes);
      const answers = all.filter((each) => each.status !== 100);
      const isOpen = answers.length > wanted && answers.at(-1)?.text === '{"status":"ok"}';
      resolve({ answers: isOpen ? answers.slice(0, -1) : answers, interim: all.length - answers.length, isOpen });
    };
    socket.setTimeout(10_000, () => reject(new Error(`neither answered nor closed in 10 s, after: ${bytes.toString()}`)));
    socket.on("error", finish);
    socket.on("end", finish);
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const { length } = readAnswers(bytes).filter((each) => each.status !== 100);
      if (length > wanted) finish();
      if (length < wanted || isProbed) return;
      isProbed = true;
      socket.write(probe);
    });
    socket.write(request);
    if (mode === "half-close") socket.end();
  });
}

function readAnswers(bytes: Buffer): RawAnswer[] {
  const split = bytes.indexOf("\r\n\r\n");
  if (split === -1) return [];
  const [first = "", ...lines] = bytes.subarray(0, split).toString("latin1").split("\r\n");
  const pairs = lines.map((line): [string, string] => [
    line.split(":")[0]?.toLowerCase() ?? "",
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  const headers = Object.fromEntries(pairs);
  const end = split + 4 + Number(headers["content-length"] ?? 0);
  if (bytes.length < end) return [];
  const answer = { status: Number(first.split(" ")[1]), headers, text: bytes.subarray(split + 4, end).toString() };
  return [answer, ...readAnswers(bytes.subarray(end))];
}

type RawRequest = { method?: string; path: string; headers?: string[]; body?: string | Buffer };

// Builds a request with a token, its length and the given header lines, as bytes.
export function rawRequest(tenant: TestTenant, { method = "PUT", path, headers = [], body = "" }: RawRequest): Buffer {
  const lines = [
    `${method} /v2/${tenant.slug}${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${tenant.token}`,
    "Content-Type: application/json",
    ...headers,
    ...(headers.some((line) => /^transfer-encoding/i.test(line)) ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
}
