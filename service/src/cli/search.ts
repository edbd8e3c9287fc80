import type { SearchResult } from "@casehound/client";
import { hitsMax } from "../domain/search.ts";
import { apiOptions, overApi, readWhole, wants, type ApiCall } from "./api.ts";
import type { Command, Outcome } from "./command.ts";
import { table } from "./table.ts";

async function search({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const limit = readWhole(options, "limit", { least: 1, most: hitsMax, fallback: hitsMax });
  const result = await client.search({ q: positionals[0] ?? "", limit });
  return { result, text: resultText(result) };
}

function resultText(found: SearchResult): string {
  const lines = [
    ...found.accounts.map((hit) => ["account", hit.website_account_id, hit.matched === "website_account_id" ? "" : hit.value]),
    ...found.cases.map((hit) => [
      "case",
      hit.case_id,
      `${hit.status} ${hit.overall_risk_score} ${hit.website_account_id}: ${hit.value}`,
    ]),
    ...sharedLines("device", found.devices),
    ...sharedLines("address", found.addresses),
    ...sharedLines("payee", found.payees),
    ...found.orders.map((hit) => ["order", hit.order_id, hit.website_account_id ?? ""]),
  ];
  if (lines.length === 0) return "nothing found";
  const notes = [
    ...(found.more.length === 0 ? [] : [`... and more ${found.more.join(", ")}: search for a longer text`]),
    ...(found.is_complete ? [] : ["... too many matches to search all of them: search for a longer text"]),
  ];
  return [table(["kind", "id", "found by"], lines), ...notes].join("\n");
}

function sharedLines(kind: string, hits: SearchResult["devices"]): string[][] {
  return hits.map(({ value, accounts, website_account_ids: ids }) => [
    kind,
    value,
    `${ids.join(", ")}${accounts > ids.length ? ", ..." : ""}`,
  ]);
}

export const searchCommand: Command = {
  name: "search",
  usage: "search <text> [--limit <n>]",
  summary: "finds accounts, cases, devices, addresses, payees and orders",
  positionals: { min: 1, max: 1 },
  options: { ...apiOptions, limit: { type: "string", describe: `how many of each kind, 1 to ${hitsMax} (default ${hitsMax})` } },
  wants,
  run: overApi(search),
};
