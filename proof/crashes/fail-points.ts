// Loaded into a service before its own code (`node --import`), so the fail points exist only in the proof. A request with
// x-fail-point: n kills the process at the n-th point of its own path through the database. A request with x-fail-engine: n does
// the same to the engine's next batch.
import { AsyncLocalStorage } from "node:async_hooks";
import { writeSync } from "node:fs";
import { IncomingMessage, Server, ServerResponse } from "node:http";
import { Client } from "pg";

type Armed = { left: number };

const requests = new AsyncLocalStorage<Armed>();
const batches = new WeakMap<Client, Armed>();
let engine: Armed | null = null;

function pass(armed: Armed, name: string): void {
  if (--armed.left > 0) return;
  writeSync(2, `fail point: ${name}\n`);
  process.kill(process.pid, "SIGKILL");
}

// The verb and the first table are enough to locate the statement in the code.
function nameOf(text: string): string {
  const verb = /\b(insert into|update|delete from|select|begin|commit|rollback)\b/.exec(text)?.[0] ?? text.slice(0, 20);
  const table = /\b(?:into|update|from|join)\s+(?:only\s+)?([a-z_]+)/.exec(text)?.[1];
  return /into|update|delete/.test(verb) || table === undefined
    ? [verb, table].filter(Boolean).join(" ")
    : `${verb} from ${table}`;
}

function armedFor(client: Client, text: string): Armed | undefined {
  const asked = requests.getStore();
  if (asked) return asked;
  if (engine && /delete from inbox/.test(text)) {
    batches.set(client, engine);
    engine = null;
  }
  return batches.get(client);
}

type Submitted = { text: string; callback: (error: unknown, result: unknown) => void };
type Query = (this: Client, ...args: unknown[]) => unknown;
const query = Reflect.get(Client.prototype, "query") as Query;

// Statements as the service sends them. Others, such as those of migrations, are not tracked.
function isSubmitted(first: unknown): first is Submitted {
  return typeof first === "object" && first !== null && "callback" in first && typeof first.callback === "function";
}

Reflect.set(Client.prototype, "query", function tracked(this: Client, ...args: unknown[]): unknown {
  const [first] = args;
  const armed = isSubmitted(first) ? armedFor(this, first.text) : undefined;
  if (!armed || !isSubmitted(first)) return Reflect.apply(query, this, args);
  const { text, callback } = first;
  const isCommit = text === "commit";
  first.callback = (error, result) => {
    if (!error) pass(armed, nameOf(text));
    // The batch is over. Later statements on this connection belong to others.
    if (isCommit) batches.delete(this);
    callback(error, result);
  };
  const sent = Reflect.apply(query, this, args);
  // For a commit it matters whether its response was received. The statements of one turn are written before this, and nothing is
  // read before it.
  if (isCommit) process.nextTick(() => pass(armed, "commit sent"));
  return sent;
});

type Emit = (this: Server, event: string, ...args: unknown[]) => boolean;
const emit = Reflect.get(Server.prototype, "emit") as Emit;

Reflect.set(Server.prototype, "emit", function armed(this: Server, event: string, ...args: unknown[]): boolean {
  const [request, response] = args;
  const go = () => Reflect.apply(emit, this, [event, ...args]);
  if (event !== "request" || !(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) return go();
  const { "x-fail-point": point, "x-fail-engine": batch } = request.headers;
  if (typeof batch === "string") engine = { left: Number(batch) };
  if (typeof point !== "string") return go();
  const asked = { left: Number(point) };
  response.on("finish", () => pass(asked, "response sent"));
  return requests.run(asked, go);
});
