import { appendFileSync } from "node:fs";
import { Client } from "pg";
import type { Statement } from "../src/db/postgres/sql.ts";

// With CASEHOUND_RECORD, writes each statement that is prepared to that file, once, with the values of its first use.
// cluster-plans.test.ts plans them.
const file = process.env["CASEHOUND_RECORD"];
const known = new Set<string>();

function record(asked: Partial<Statement> | undefined): void {
  if (file === undefined || asked?.text === undefined || !asked.name || known.has(asked.text)) return;
  known.add(asked.text);
  const values = (asked.values ?? []).map((value) => (Buffer.isBuffer(value) ? `\\x${value.toString("hex")}` : value));
  appendFileSync(file, `${JSON.stringify({ text: asked.text, values })}\n`);
}

if (file !== undefined) {
  const query: unknown = Reflect.get(Client.prototype, "query");
  if (typeof query !== "function") throw new Error("the driver has no query");
  const recorded = new Proxy(query, {
    apply: (target, self, args: unknown[]) => {
      record(args[0] as Partial<Statement>);
      return Reflect.apply(target, self, args) as unknown;
    },
  });
  Reflect.set(Client.prototype, "query", recorded);
}
