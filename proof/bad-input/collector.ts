import { hash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { characters } from "../../service/src/domain/text.ts";
import type { Answer } from "./answer.ts";
import { askAll, type Asked, type Context } from "./context.ts";
import { mutate } from "./mutation.ts";
import { bytesOf, type Request } from "./request.ts";

const kind = "mutated capture";
const captures = new URL("../../service/test/captures/", import.meta.url);
const eventIdCharacters = 64;

type Capture = { requests: { method: string; body_raw?: string }[] };

// Mutated captures of real browser requests. The response is 200 with an empty object whatever the body, and only readable events
// in it are accepted.
export async function tryCollector(context: Context, requests: number): Promise<void> {
  const { spare, ledger, client } = context;
  const bodies = captured();
  const before = await scoredIds(context);
  const allowed = new Set(before);
  const asked = Array.from({ length: requests }, () => changedCapture(context, bodies, allowed));
  await askAll(context, kind, [...limits(context), ...refusals(context), ...asked]);
  const taken = await scoredIds(context);
  ledger.add("events accepted from mutated captures", taken.length - before.length);
  const strange = taken.filter((id) => !allowed.has(id));
  if (strange.length > 0) ledger.violate(kind, `events were accepted that cannot be read: ${strange.slice(0, 5).join(", ")}`);
  const { rows } = await client.query<{ count: string }>("select count(*) from quarantine where tenant_id = $1", [
    spare.tenantId,
  ]);
  ledger.add("entries in quarantine", Number(rows[0]?.count ?? 0));
}

// Waits until everything accepted has been scored.
async function scoredIds({ client, spare }: Context): Promise<string[]> {
  for (;;) {
    const { rows } = await client.query<{ waiting: number }>("select count(*)::int as waiting from inbox");
    if (rows[0]?.waiting === 0) break;
    await sleep(100);
  }
  const { rows } = await client.query<{ id: string }>("select activity_id as id from activities where tenant_id = $1", [
    spare.tenantId,
  ]);
  return rows.map(({ id }) => id);
}

function captured(): string[] {
  const files = readdirSync(captures).filter((name) => name.endsWith(".json"));
  return files
    .flatMap((name) => (JSON.parse(readFileSync(new URL(name, captures), "utf8")) as Capture).requests)
    .flatMap(({ method, body_raw }) =>
      method === "POST" && body_raw !== undefined && body_raw.length < 8_000 ? [body_raw] : [],
    );
}

const taken = ({ status, text }: Answer) => (status === 200 && text === "{}" ? null : "expected 200 {}");
const is = (status: number) => (answer: Answer) => (answer.status === status ? null : `expected ${status}`);

function post({ spare }: Context, body: Buffer, query: [string, string][] = []): Request {
  return { method: "POST", path: `/collect/${spare.appKey}`, params: {}, query, headers: [["Content-Type", "text/plain"]], body };
}

function changedCapture(context: Context, bodies: string[], allowed: Set<string>): Asked {
  const { random } = context;
  const fresh = random
    .pick(bodies)
    .replaceAll(/"event_id":"[^"]*"/g, () => `"event_id":"${random.uuid()}"`)
    .replaceAll(/"timestamp":\d+/g, `"timestamp":${Date.now()}`);
  const isPacked = random.chance(0.2);
  const whole = Buffer.from(fresh);
  // Mutated headers are tested elsewhere. Here only the body changes.
  const plain = random.chance(0.1) ? whole : mutate(whole, random, Buffer.from(random.pick(bodies)));
  for (const id of readableIds(plain)) allowed.add(id);
  const packed = isPacked ? pack(plain, context) : plain;
  const query: [string, string][] = [
    ["platform", "Web"],
    ["upload_timestamp", random.pick([String(Date.now()), "0", "-1", "1e400", "x", "%FF", ""])],
    [
      "hashCode",
      random.chance(0.5) ? hash("sha256", packed, "hex").slice(0, 8) : random.pick(["00000000", "%00", "x".repeat(5_000), ""]),
    ],
    ...(isPacked ? ([["compression", "gzip"]] satisfies [string, string][]) : []),
    ...(random.chance(0.05) ? ([["compression", random.pick(["gzip", "br", "%"])]] satisfies [string, string][]) : []),
  ];
  return { bytes: bytesOf(post(context, packed, query)), judge: taken, about: "a capture" };
}

function pack(plain: Buffer, { random }: Context): Buffer {
  const gzip = Buffer.from(random.pick([gzipSync, deflateSync])(plain).toString("base64"));
  return random.chance(0.5) ? gzip : mutate(gzip, random, gzip);
}

// The collector's documented rule: an object in an array, with an id, a name and a time.
function readableIds(body: Buffer): string[] {
  try {
    const events = JSON.parse(new TextDecoder().decode(body)) as unknown;
    return Array.isArray(events) ? events.flatMap((event: unknown) => readableId(event)) : [];
  } catch {
    return [];
  }
}

function readableId(event: unknown): string[] {
  if (
    typeof event !== "object" ||
    event === null ||
    !("event_id" in event) ||
    !("event_type" in event) ||
    !("timestamp" in event)
  )
    return [];
  const { event_id: id, event_type: type, timestamp } = event;
  const isReadable =
    typeof id === "string" &&
    id !== "" &&
    characters(id) <= eventIdCharacters &&
    typeof type === "string" &&
    typeof timestamp === "number";
  return isReadable ? [id] : [];
}

// Only a few of each, because they are large.
function limits(context: Context): Asked[] {
  const mib = 1024 * 1024;
  const bomb = Buffer.from(gzipSync(Buffer.alloc(64 * mib, "[")).toString("base64"));
  const gzip: [string, string][] = [["compression", "gzip"]];
  const all: [Buffer, [string, string][], string][] = [
    [bomb, gzip, "a gzip bomb"],
    [Buffer.from(gzipSync(gzipSync(Buffer.alloc(mib))).toString("base64")), gzip, "gzip in gzip"],
    [bomb.subarray(0, bomb.length >> 1), gzip, "half a gzip bomb"],
    [Buffer.from("[".repeat(mib)), [], "a million levels"],
    [Buffer.from(`[${"[],".repeat(500_000)}[]]`), [], "half a million members"],
    [Buffer.from(`[${"{},".repeat(2_000)}{}]`), [], "2,001 events"],
    [Buffer.alloc(2 * mib), [], "2 MiB of nothing"],
  ];
  const tooLarge = { bytes: bytesOf(post(context, Buffer.alloc(2 * mib + 1))), judge: is(413), about: "over 2 MiB" };
  return [...all.map(([body, query, about]) => ({ bytes: bytesOf(post(context, body, query)), judge: taken, about })), tooLarge];
}

function ofStranger(request: Request, status: number): Asked {
  return { bytes: bytesOf(request), judge: is(status), about: `${request.method} of a stranger` };
}

// An unknown key and a page of another origin get the same rejection.
function refusals(context: Context): Asked[] {
  const { spare } = context;
  const request = post(context, Buffer.from("[]"));
  const keys = ["%FF", "%00", "x", `${spare.appKey}x`, spare.appKey.toUpperCase(), "a".repeat(600), "%E0%A4%A"];
  const origins = ["https://other.example", "null", "https://shop.example.", "HTTPS://SHOP.EXAMPLE", "x".repeat(3_000)];
  const from = (method: string, origin: string): Request => ({
    ...request,
    method,
    headers: [...request.headers, ["Origin", origin]],
  });
  return [
    ...keys.map((key) => ofStranger({ ...request, path: `/collect/${key}` }, 403)),
    ...origins.flatMap((origin) => ["POST", "OPTIONS"].map((method) => ofStranger(from(method, origin), 403))),
    ofStranger(from("OPTIONS", spare.origin), 204),
    ofStranger({ ...request, method: "OPTIONS" }, 403),
  ];
}
