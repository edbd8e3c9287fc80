import type { LinkKind } from "../../data/link-queries.ts";

// What is absent is the standard: around the riskiest open cases, devices and addresses, as a table.
export type LinksSearch = {
  account?: string;
  // Ids by commas.
  cases?: string;
  kind?: LinkKind;
  view?: "graph";
  // The device, address or account in the pane, as the graph's nodes are named.
  at?: string;
};

export function readLinksSearch(raw: Record<string, unknown>): LinksSearch {
  const { account, cases, kind, view, at } = raw;
  const isAccount = (typeof account === "string" || typeof account === "number") && account !== "";
  return {
    ...(isAccount && { account: String(account) }),
    ...(!isAccount && typeof cases === "string" && cases !== "" && { cases }),
    ...((kind === "device" || kind === "ip") && { kind }),
    ...(view === "graph" && { view }),
    ...(typeof at === "string" && at !== "" && { at }),
  };
}
