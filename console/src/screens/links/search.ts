import type { LinkKind } from "../../data/link-queries.ts";

// An absent parameter means the default: links of the riskiest open cases, devices and addresses, as a table.
export type LinksSearch = {
  account?: string;
  // Case ids, separated by commas.
  cases?: string;
  kind?: LinkKind;
  view?: "graph";
  // The device, address or account in the pane, by its node id in the graph.
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
