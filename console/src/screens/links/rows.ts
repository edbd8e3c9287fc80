import type { LinkTable, SharedLink } from "@casehound/client";
import type { LinkKind } from "../../data/link-queries.ts";

export type LinkNode = LinkTable["nodes"][number];

// A table row: the shared device or address, with what is known about the accounts behind it.
export type LinkRow = SharedLink & {
  // The node id that the graph uses.
  id: string;
  known: LinkNode[];
  // True if more accounts are behind it than are known here.
  isPartial: boolean;
};

export const kindWords: Record<LinkKind, { one: string; many: string }> = {
  device: { one: "Device", many: "Devices" },
  ip: { one: "Address", many: "Addresses" },
};

const sharersShownMax = 100;

export function accountsWords(accounts: number): string {
  return accounts > sharersShownMax ? `over ${sharersShownMax}` : String(accounts);
}

export function rowsOf({ shared, nodes }: LinkTable, kind: LinkKind | undefined): LinkRow[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  return shared
    .filter((each) => kind === undefined || each.kind === kind)
    .map((each) => {
      const known = each.website_account_ids.flatMap((id) => byId.get(`account:${id}`) ?? []);
      return { ...each, id: `${each.kind}:${each.value}`, known, isPartial: known.length < each.accounts };
    });
}

export function isFlagged({ flags }: LinkNode): boolean {
  return flags !== undefined && (flags.is_blocked || flags.is_quarantined || flags.is_fraudulent);
}

export function highestScore(known: LinkNode[]): number | null {
  const scores = known.flatMap(({ open_case }) => open_case?.overall_risk_score ?? []);
  return scores.length === 0 ? null : Math.max(...scores);
}

// The part of the graph that the rows cover.
export function graphOfRows({ nodes, edges }: LinkTable, rows: LinkRow[]): Pick<LinkTable, "nodes" | "edges"> {
  const shown = new Set(rows.map((row) => row.id));
  const kept = edges.filter((edge) => shown.has(edge.to));
  const ids = new Set(kept.flatMap(({ from, to }) => [from, to]));
  return { nodes: nodes.filter((node) => ids.has(node.node_id)), edges: kept };
}
