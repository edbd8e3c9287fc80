import type { Random } from "@casehound/simulator/random";

// One mutation of the bytes of a valid request. `other` is another request to splice with.
type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const oddBytes = [
  ...'\0 \r \n \r\n \r\n\r\n \t \x0b \x7f \xff \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xef\xbb\xbf % %00 %2F %ff \\ \\u0000 \\ud800 " { [ , :'.split(
    " ",
  ),
  " ",
].map((text) => Buffer.from(text, "latin1"));

const methods = "GET PUT POST DELETE HEAD OPTIONS PATCH TRACE CONNECT LOCK M-SEARCH get PRI QUERY".split(" ");
const versions = "HTTP/1.0 HTTP/1.1 HTTP/0.9 HTTP/2.0 HTTP/1.11 http/1.1 HTTP/1,1 ICE/1.0".split(" ");
const lengths = "0 -1 +1 1e1 0x5 99999999999999999999 2147483648 4,4 5;5 1.0".split(" ");
const codings = [
  "chunked",
  "chunked, chunked",
  "gzip, chunked",
  "identity",
  "xchunked",
  "Chunked",
  "chunked;q=1",
  " chunked",
  "\x0bchunked",
];
const sizes = ["0", "1", "ffffffffffffffffff", "-1", "0x2", "5;a=b", "5 ;", "00000005", "g", "", "7fffffff"];
const numbers = ["1e999", "-0", "9".repeat(400), "1e-999", "0.1e+1", "01", "+1", "NaN", "0x1", "1.", ".5", "9007199254740993"];
const odd = [
  "Expect: 100-continue",
  "Expect: x",
  "Upgrade: websocket\r\nConnection: Upgrade",
  "Connection: close",
  "Connection: keep-alive, x",
];
const more = [
  ...odd,
  "Content-Encoding: gzip",
  "Content-Type: text/html",
  "Accept-Encoding: *",
  "Host: other",
  "Authorization: Basic x",
  "Cookie: casehound_session=x",
  "X-Request-ID: \x01",
  "Idempotency-Key: a",
  ": empty",
  " folded: x",
  "No-Colon",
  "Trailer: Host",
  "TE: trailers",
];

const mutations: Mutation[] = [
  flipBits,
  (bytes, random) => cutOut(bytes, random, random.whole(1, 40)),
  (bytes, random) => repeatPart(bytes, random),
  (bytes, random, other) => Buffer.concat([bytes.subarray(0, placeIn(bytes, random)), other.subarray(placeIn(other, random))]),
  (bytes, _random, other) => Buffer.concat([bytes, other]),
  (bytes, random) => bytes.subarray(0, placeIn(bytes, random)),
  (bytes, random) => insert(bytes, placeIn(bytes, random), random.pick(oddBytes)),
  (bytes, random) => insert(bytes, bodyPlace(bytes, random), random.pick(oddBytes)),
  (bytes, random) => rewriteHead(bytes, (head) => head.replace(/^\S+/, random.pick(methods))),
  (bytes, random) => rewriteHead(bytes, (head) => head.replace(/HTTP\/1\.1/, random.pick(versions))),
  (bytes, random) =>
    rewriteHead(bytes, (head) => head.replace(/ \//, ` ${random.pick(["http://x", "//x", "ftp://x/", "*", "?", "#"])}/`)),
  (bytes, random) => rewriteHead(bytes, (head) => head.replace(/Content-Length: \d+/, `Content-Length: ${random.pick(lengths)}`)),
  (bytes, random) =>
    rewriteHead(bytes, (head) =>
      head.replace(/Content-Length: (\d+)/, (line, n) => `${line.slice(0, 16)}${Number(n) + random.whole(-3, 3)}`),
    ),
  (bytes, random) => addLine(bytes, `Content-Length: ${random.pick(lengths)}`),
  (bytes, random) => addLine(bytes, `Transfer-Encoding: ${random.pick(codings)}`),
  (bytes, random) => addLine(bytes, random.pick(more)),
  (bytes, random) => addLine(bytes, `X-Long: ${"a".repeat(random.whole(1_000, 20_000))}`),
  repeatLine,
  dropLine,
  chunk,
  (bytes, random) => rewriteBody(bytes, (body) => body.replace(/\d+/, random.pick(numbers))),
  (bytes, random) =>
    rewriteBody(bytes, (body) =>
      body.replace(/"[^"]*"/, `"${random.pick(["\xc0\xaf", "\xff", "\\ud83d", "\\u0000", "\xed\xbf\xbf"])}"`),
    ),
  (bytes, random) => rewriteBody(bytes, (body) => `${"[".repeat(random.whole(1, 20_000))}${body}`),
  (bytes, random) => rewriteBody(bytes, (body) => `${body}${random.pick([body, " ", "\0", "x", "}"])}`),
  (bytes) => rewriteBody(bytes, (body) => `\xef\xbb\xbf${body}`),
  (bytes, random) =>
    rewriteBody(bytes, (body) =>
      body.replace("{", `{"${random.pick(["__proto__", "a", "status", ""])}":${random.pick(["1", "{}", "null"])},`),
    ),
];

// Applies one to three mutations.
export function mutate(bytes: Buffer, random: Random, other: Buffer): Buffer {
  let mutated = bytes;
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left--) mutated = random.pick(mutations)(mutated, random, other);
  return mutated;
}

function placeIn(bytes: Buffer, random: Random): number {
  return random.whole(0, bytes.length);
}

function bodyPlace(bytes: Buffer, random: Random): number {
  return random.whole(Math.max(bytes.indexOf("\r\n\r\n"), 0), bytes.length);
}

function insert(bytes: Buffer, at: number, what: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]);
}

function flipBits(bytes: Buffer, random: Random): Buffer {
  const flipped = Buffer.from(bytes);
  for (let left = random.whole(1, 3); left > 0 && flipped.length > 0; left--) {
    const at = random.whole(0, flipped.length - 1);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << random.whole(0, 7)), at);
  }
  return flipped;
}

function cutOut(bytes: Buffer, random: Random, length: number): Buffer {
  const at = placeIn(bytes, random);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
}

function repeatPart(bytes: Buffer, random: Random): Buffer {
  const at = placeIn(bytes, random);
  return insert(bytes, at, bytes.subarray(at, at + random.whole(1, 60)));
}

function split(bytes: Buffer): [head: string, body: Buffer] {
  const at = bytes.indexOf("\r\n\r\n");
  return at === -1
    ? [bytes.toString("latin1"), Buffer.alloc(0)]
    : [bytes.subarray(0, at).toString("latin1"), bytes.subarray(at + 4)];
}

function join(head: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body]);
}

function rewriteHead(bytes: Buffer, change: (head: string) => string): Buffer {
  const [head, body] = split(bytes);
  return join(change(head), body);
}

// Corrects the length, so that the service reads the body.
function rewriteBody(bytes: Buffer, change: (body: string) => string): Buffer {
  const [head, body] = split(bytes);
  const changed = Buffer.from(change(body.toString("latin1")), "latin1");
  return join(head.replace(/Content-Length: \d+/, `Content-Length: ${changed.length}`), changed);
}

function addLine(bytes: Buffer, line: string): Buffer {
  return rewriteHead(bytes, (head) => `${head}\r\n${line}`);
}

function repeatLine(bytes: Buffer, random: Random): Buffer {
  return rewriteHead(bytes, (head) => `${head}\r\n${random.pick(head.split("\r\n"))}`);
}

function dropLine(bytes: Buffer, random: Random): Buffer {
  return rewriteHead(bytes, (head) => {
    const lines = head.split("\r\n");
    const dropped = random.whole(0, lines.length - 1);
    return lines.filter((_, index) => index !== dropped).join("\r\n");
  });
}

// The same body in chunks, some of them malformed.
function chunk(bytes: Buffer, random: Random): Buffer {
  const [head, body] = split(bytes);
  const text = body.toString("latin1");
  const at = random.whole(0, text.length);
  const size = (part: string) => (random.chance(0.3) ? random.pick(sizes) : part.length.toString(16));
  const chunks = [text.slice(0, at), text.slice(at)].filter((part) => part !== "").map((part) => `${size(part)}\r\n${part}\r\n`);
  const end = random.pick([
    "0\r\n\r\n",
    "0\r\n\r\n",
    "0\r\n",
    "0\r\nX: y\r\n\r\n",
    "0\r\nContent-Length: 5\r\n\r\n",
    "00\r\n\r\n",
    "",
  ]);
  const chunkedHead = head.replace(
    /Content-Length: \d+/,
    `Transfer-Encoding: ${random.pick([...codings, "chunked", "chunked"])}`,
  );
  return join(chunkedHead, Buffer.from(`${chunks.join("")}${end}`, "latin1"));
}
