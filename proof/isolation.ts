import { randomBytes } from "node:crypto";
import type { Operation } from "../service/src/api/operation.ts";
import { operations } from "../service/src/api/operations.ts";
import { isThere, tryFilters, tryForeignIds, tryForeignPath, tryOwn, type Pair } from "./isolation/attempts.ts";
import { tryFeeds } from "./isolation/feeds.ts";
import { tryForeignViews } from "./isolation/foreign-views.ts";
import { changesOf, rowsOf } from "./isolation/rows.ts";
import { trySystem } from "./isolation/system.ts";
import { Tally } from "./isolation/tally.ts";
import { Twin } from "./isolation/twin.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const newWord = () => `w${randomBytes(8).toString("hex")}`;
const isChange = ({ method }: Operation) => method !== "GET";
// Operations that end what others need come last.
const ends = ({ method, id }: Operation) => Number(method === "DELETE" || id.startsWith("rotate") || id.startsWith("end"));

async function tryAll(pair: Pair, { progress }: Proof): Promise<void> {
  const inOrder = operations.toSorted((a, b) => Number(isChange(a)) - Number(isChange(b)) || ends(a) - ends(b));
  for (const [done, operation] of inOrder.entries()) {
    progress(done, inOrder.length, "operations");
    const isFound = isChange(operation) || (await isThere(pair.on, operation));
    if (!isFound) pair.tally.fault(`${operation.id}: its own tenant does not find the resource either`);
    for (const who of ["token", "session"] as const) {
      await tryForeignPath(pair, operation, who);
      await tryForeignIds(pair, operation, who);
    }
    await tryFilters(pair, operation);
  }
  for (const operation of inOrder) await tryOwn(pair, operation);
}

type Mode = "on" | "off";

// Each protection must hold without the other, so everything is also tried without row-level security.
async function tryMode(stand: Stand, mode: Mode, proof: Proof): Promise<{ tally: Tally; rows: number; system: number }> {
  const service = await stand.start({ ROW_SECURITY: mode });
  const on = await Twin.fill(stand, service, newWord());
  const by = await Twin.fill(stand, service, newWord());
  const tally = new Tally(on);
  const pair = { by, on, tally };
  const before = await rowsOf(stand.database, on.tenantId);
  const system = await trySystem(pair);
  await tryForeignViews(pair);
  await tryAll(pair, proof);
  const after = await rowsOf(stand.database, on.tenantId);
  for (const change of changesOf(before, after)) tally.fault(`the other tenant was changed: ${change}`);
  await tryFeeds(pair);
  await service.stop();
  return { tally, rows: before.length, system };
}

async function run(proof: Proof): Promise<Findings> {
  const stand = await Stand.open();
  try {
    const modes: Mode[] = proof.scale === "short" ? ["on"] : ["on", "off"];
    const violations: string[] = [];
    const statuses = new Map<number, number>();
    const figures = { operations: operations.length, "system operations": 0, attempts: 0, "rows compared": 0 };
    for (const mode of modes) {
      const { tally, rows, system } = await tryMode(stand, mode, proof);
      violations.push(...tally.violations.map((each) => `row-level security ${mode}: ${each}`));
      figures["system operations"] = system;
      figures.attempts += tally.attempts;
      figures["rows compared"] += rows;
      for (const [status, count] of tally.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
    const answers = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => [`responses with ${status}`, count]);
    return { figures: { ...figures, ...Object.fromEntries(answers) }, violations };
  } finally {
    await stand.close();
  }
}

export const isolation: Part = {
  name: "isolation",
  title: "Two tenants with the same ids",
  claim:
    "Whatever one tenant sends, with a token or a person's session, to its own paths or to the other's, with the other's ids, filters, cursors and keys, it learns nothing about the other tenant, not even whether something exists, and changes nothing of it. This holds with row-level security and without it.",
  run,
};
