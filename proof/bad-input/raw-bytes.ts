import { faultOfAnswer, type Answer } from "./answer.ts";
import type { Context } from "./context.ts";
import { changedTables, digestOf } from "./digest.ts";
import { mutate } from "./mutation.ts";
import { bytesOf, withHeader, type Request } from "./request.ts";
import { validRequest, withForm, withJson } from "./valid.ts";
import type { World } from "./world.ts";
import { eachOf, sendBytes } from "./wire.ts";

const atOnce = 12;
const readBatch = 1_000;
const writeBatch = 50;
const shrinkTries = 300;
const silent = "neither a response nor a close";

// Effects that continue after the response would hide the effects of other requests.
const lasting = new Set(["createActivities", "createAssessment", "createBacktest", "cancelBacktest"]);

// Reading a case as a file is logged, so a valid request changes the log.
const logged = new Set(["createCaseFile"]);

// Skip deletions, because later requests could not change what was deleted.
function isLooseChange(id: string, method: string): boolean {
  return method !== "GET" && method !== "DELETE" && !lasting.has(id);
}

// Valid requests with mutated bytes, each on its own connection. Some are still valid by chance. So most carry a token that may
// change nothing, and for the others every change must have been acknowledged.
export async function sendMutated(context: Context, requests: number): Promise<void> {
  const writes = Math.round(requests * 0.3);
  for (let sent = 0; sent < requests - writes; sent += readBatch) {
    await sendPowerless(context, Math.min(readBatch, requests - writes - sent));
  }
  for (let sent = 0; sent < writes; sent += writeBatch) await sendPowerful(context, Math.min(writeBatch, writes - sent));
}

async function sendPowerless(context: Context, count: number): Promise<void> {
  const { client, ledger, world } = context;
  const kind = "bytes changed";
  const corpus = [...corpusOf(context, world, world.readToken, (id) => !logged.has(id)), ...serviceRequests(world.credentials)];
  const before = await digestOf(client);
  await eachOf(mutants(context, corpus, count), atOnce, async (bytes) => void (await sendOne(context, kind, bytes)));
  const changed = changedTables(before, await digestOf(client));
  if (changed.length > 0) ledger.violate(kind, `${changed.join(", ")} changed by a token that may change nothing`);
}

async function sendPowerful(context: Context, count: number): Promise<void> {
  const { client, ledger, loose } = context;
  const kind = "bytes changed, with a token that may change everything";
  const corpus = corpusOf(context, loose, loose.token, isLooseChange);
  const { rows } = await client.query<{ mark: string }>("select pg_current_xact_id()::text as mark");
  const sent: Buffer[] = [];
  let done = 0;
  await eachOf(mutants(context, corpus, count), atOnce, async (bytes) => {
    sent.push(bytes);
    for (const { status } of await sendOne(context, kind, bytes)) if (status < 300 || status === 409) done++;
  });
  const changes = await countChanges(context, rows[0]?.mark ?? "");
  ledger.add("changes reported as applied", changes);
  if (changes > done) {
    const all = sent.map((bytes) => bytes.toString("base64")).join(" ");
    ledger.violate(
      kind,
      `${changes} transactions changed something, but ${done} responses say so | requests base64 ${all.slice(0, 20_000)}`,
    );
  }
}

// Activities continue into the engine. The number accepted must equal what the responses say.
export async function sendMutatedActivities(context: Context, requests: number): Promise<void> {
  const { ledger, loose, random } = context;
  const kind = "bytes of activity batches changed";
  const [whole = Buffer.alloc(0)] = corpusOf(context, loose, loose.token, (id) => id === "createActivities");
  const fresh = () =>
    Buffer.from(whole.toString("latin1").replace("chargeback-7781", `activity-${random.hex(1).slice(2)}`), "latin1");
  const before = await countActivities(context);
  let accepted = 0;
  await eachOf(Array.from({ length: requests }).keys(), atOnce, async () => {
    const answers = await sendOne(context, kind, mutate(fresh(), random, fresh()));
    for (const answer of answers.filter(({ status }) => status === 202)) accepted += acceptedIn(answer);
  });
  const taken = (await countActivities(context)) - before;
  ledger.add("activities accepted from changed requests", taken);
  if (taken !== accepted) ledger.violate(kind, `${taken} activities were stored, but the responses say ${accepted}`);
}

function acceptedIn({ text }: Answer): number {
  return (JSON.parse(text) as { data: { accepted: number } }).data.accepted;
}

async function countActivities({ client, loose }: Context): Promise<number> {
  const { rows } = await client.query<{ count: number }>("select count(*)::int as count from activity_ids where tenant_id = $1", [
    loose.tenantId,
  ]);
  return rows[0]?.count ?? 0;
}

// Covers the tables that requests write directly. An applied request is one transaction.
async function countChanges({ client }: Context, mark: string): Promise<number> {
  const tables = [
    "accounts",
    "cases",
    "clients",
    "events",
    "idempotency_keys",
    "rules",
    "detection_settings",
    "tenants",
    "users",
    "user_links",
  ];
  const each = tables.map((table) => `select xmin::text::bigint as changed from ${table}`);
  const { rows } = await client.query<{ changes: number }>(
    `select count(distinct changed)::int as changes from (${each.join(" union all ")}) t where changed > $1::bigint`,
    [mark],
  );
  return rows[0]?.changes ?? 0;
}

function corpusOf(
  { operations }: Context,
  world: World,
  token: string,
  isWanted: (id: string, method: string) => boolean,
): Buffer[] {
  return operations
    .filter(({ id, method, isOfTenant }) => isOfTenant && id !== "streamEvents" && isWanted(id, method))
    .map((operation) => bytesOf(withHeader(validRequest(operation, world).request, "Authorization", `Bearer ${token}`)));
}

function plain(method: string, path: string): Request {
  return { method, path, params: {}, query: [], headers: [] };
}

// Requests that need no token, documented or not.
function serviceRequests({ client_id, client_secret }: World["credentials"]): Buffer[] {
  const form = { grant_type: "client_credentials", client_id, client_secret };
  return [
    ...["/livez", "/readyz", "/openapi.json", "/.well-known/jwks.json", "/auth/options", "/auth/session"].map((path) =>
      plain("GET", path),
    ),
    withForm(plain("POST", "/v2/oauth/token"), form),
    withJson(plain("POST", "/auth/sign-in"), { email: "ada@shop.example", password: "not the password" }),
    withJson(plain("POST", "/auth/sign-out"), {}),
    withJson(plain("POST", "/auth/password"), { password: "not the password", new_password: "another password" }),
    withJson(plain("POST", "/auth/second-factor"), { code: "123456" }),
    withJson(plain("POST", "/auth/passkey"), { credential: { id: "AAAA" } }),
    withJson(plain("POST", "/auth/totp"), { password: "not the password" }),
    withJson(plain("POST", "/auth/link"), { token: "absent" }),
    withJson(plain("POST", "/auth/link/use"), { token: "absent", password: "another password" }),
  ].map(bytesOf);
}

function* mutants({ random }: Context, corpus: Buffer[], count: number): Generator<Buffer> {
  for (let left = count; left > 0; left--) yield mutate(random.pick(corpus), random, random.pick(corpus));
}

async function sendOne(context: Context, kind: string, bytes: Buffer): Promise<Answer[]> {
  const { ledger, world } = context;
  ledger.count(kind);
  const { answers, fault } = await talk(world.port, bytes);
  for (const answer of answers) ledger.note(answer);
  if (fault === null) return answers;
  // Each silent request waits for the whole timeout, so it is not shrunk.
  const least = fault === silent ? bytes : await shrink(bytes, async (less) => (await talk(world.port, less)).fault === fault);
  ledger.violate(kind, fault, least);
  return answers;
}

async function talk(port: number, bytes: Buffer): Promise<{ answers: Answer[]; fault: string | null }> {
  const { answers, left, isSilent } = await sendBytes(port, bytes);
  if (isSilent) return { answers, fault: silent };
  if (left.length > 0) return { answers, fault: "bytes that are not a complete response" };
  const hasHead = bytes.includes("HEAD ");
  const faults = answers.map((answer) => faultOfAnswer(answer, { isHead: hasHead && answer.text === "" }));
  const fault = faults.find((each) => each !== null) ?? null;
  // Empty lines before a request are not a request.
  const isNothing = /^[\r\n]*$/.test(bytes.toString("latin1"));
  return { answers, fault: fault ?? (answers.length === 0 && !isNothing ? "no response" : null) };
}

// Removes ever smaller parts as long as the request stays bad.
export async function shrink(bytes: Buffer, isBad: (less: Buffer) => Promise<boolean>): Promise<Buffer> {
  let least = bytes;
  let tries = shrinkTries;
  for (let size = least.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < least.length && tries > 0;) {
      const less = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      tries--;
      if (await isBad(less)) least = less;
      else at += size;
    }
  }
  return least;
}
