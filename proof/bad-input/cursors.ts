import { jsonOf, type Answer } from "./answer.ts";
import { askAll, askWithoutEffect, type Asked, type Context } from "./context.ts";
import type { DocumentOperation } from "./document.ts";
import { bytesOf, type Request } from "./request.ts";
import { refusalFault } from "./schema-rules.ts";
import { validRequest } from "./valid.ts";
import type { World } from "./world.ts";

const kind = "a cursor";
const refusal = { status: 400, type: "bad-request", inDetail: "cursor" };

type List = { request: Request; cursor: string; about: string };

// Sends cursors that are unchanged, altered, or issued for another list, tenant or filter.
export async function tryCursors(context: Context, requests: number): Promise<void> {
  const { world, spare, ledger, random } = context;
  const own = await listsOf(context, world);
  const foreign = await listsOf(context, spare);
  ledger.add("lists with cursors", own.length);
  if (own.length < 5) ledger.violate(kind, `only ${own.length} lists returned a cursor`);
  // Unchanged cursors must work. Otherwise a service that rejects them all would pass.
  await askAll(
    context,
    kind,
    own.map((list) => ({ ...asked(list, list.cursor), judge: ({ status }) => (status === 200 ? null : "expected 200") })),
  );
  const all = [...own, ...foreign].map(({ cursor }) => cursor);
  const wrong: Asked[] = own.flatMap((list) =>
    all.filter((cursor) => cursor !== list.cursor).map((cursor) => asked(list, cursor)),
  );
  const filtered = own.flatMap((list) => otherFilters(list).map((request) => asked({ ...list, request }, list.cursor)));
  const changed = Array.from({ length: Math.max(requests - wrong.length - filtered.length, own.length) }, () => {
    const list = random.pick(own);
    return asked(list, changedCursor(list.cursor, context, random.pick(all)));
  });
  ledger.add("cursors", own.length + wrong.length + filtered.length + changed.length);
  await askWithoutEffect(context, kind, [...wrong, ...filtered, ...changed]);
}

function asked({ request, about }: List, cursor: string): Asked {
  const query: [string, string][] = [...request.query, ["cursor", encodeURIComponent(cursor)]];
  return { bytes: bytesOf({ ...request, query }), about, judge: (answer: Answer) => refusalFault(answer, refusal) };
}

async function listsOf({ operations, lines }: Context, world: World): Promise<List[]> {
  const lists: List[] = [];
  for (const operation of operations.filter(hasCursor)) {
    const { request } = validRequest(operation, world);
    const first: Request = { ...request, query: [["limit", "1"]] };
    const answer = await lines.ask(bytesOf(first));
    const page = jsonOf(answer?.text ?? "") as { data?: { next_cursor?: string | null } };
    const cursor = page.data?.next_cursor;
    if (typeof cursor === "string") lists.push({ request: first, cursor, about: operation.id });
  }
  return lists;
}

function hasCursor({ parameters }: DocumentOperation): boolean {
  return parameters.some(({ name }) => name === "cursor");
}

function otherFilters({ request, about }: List): Request[] {
  const filters: Record<string, [string, string][]> = {
    listCases: [
      ["status", "OPEN"],
      ["sort", "created_at"],
      ["min_score", "1"],
    ],
    listEndUserAccounts: [["is_blocked", "false"]],
    listQuarantine: [["reason", "not-json"]],
  };
  return (filters[about] ?? []).map((filter) => ({ ...request, query: [...request.query, filter] }));
}

const signs = [..."ABCabc019-_+/=.~%".split(""), " ", "\0", "é", "😀"];

function changedCursor(cursor: string, { random, pool }: Context, other: string): string {
  const at = random.whole(0, cursor.length - 1);
  const sign = random.pick(signs);
  const changed = random.pick([
    () => cursor.slice(0, at) + sign + cursor.slice(at + 1),
    () => cursor.slice(0, at) + sign + cursor.slice(at),
    () => cursor.slice(0, at),
    () => cursor.slice(at + 1),
    () => cursor.slice(0, at) + other.slice(at),
    () => `${cursor}${random.pick(["=", "==", "A", cursor])}`,
    () => cursor.toUpperCase(),
    () => cursor.repeat(random.whole(2, 12)),
    () => Buffer.from(pool.texts[random.whole(0, pool.texts.length - 1)] ?? "").toString("base64url"),
    () => pool.texts[random.whole(0, pool.texts.length - 1)] ?? "",
  ])();
  return changed === cursor ? `${cursor}A` : changed;
}
