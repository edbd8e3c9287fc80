import { Type, type Static } from "typebox";
import { Time } from "./field.ts";
import { Score, labels } from "./finding.ts";

// Counting stops at these numbers. More accounts on a device or address would say nothing more about any of them, and counting
// costs time.
export const sharersMax = 100;
export const linksOfAccountMax = 1000;
export const nodesMax = 200;
export const accountsOfValueMax = 20;

export const LinkKind = Type.Enum(["device", "ip"]);
export type LinkKind = Static<typeof LinkKind>;

const value = Type.String({ description: "The device's id, or the address as stored under the tenant's ip_policy." });
const seen = { first_seen: Time, last_seen: Time };

const ofLast = "According to the last activity with it, if that is still stored.";
const trace = {
  country: Type.Optional(Type.String({ description: `The country of the address. ${ofLast}` })),
  asn: Type.Optional(Type.Integer({ description: `The number of the network. ${ofLast}` })),
  user_agent: Type.Optional(Type.String({ description: ofLast })),
};
export type LinkTrace = { country?: string; asn?: number; user_agent?: string };

export const AccountLink = Type.Object(
  {
    kind: LinkKind,
    value,
    ...seen,
    ...trace,
    shared_with: Type.Integer({
      minimum: 0,
      description: `The number of other accounts that were seen with it. ${sharersMax} means ${sharersMax} or more.`,
    }),
  },
  { additionalProperties: false, $id: "AccountLink" },
);
export type AccountLink = Static<typeof AccountLink>;

const OpenCase = Type.Object(
  {
    case_id: Type.String(),
    overall_risk_score: Score,
    primary_fraud_label: Type.Enum([...labels]),
    created_at: Time,
  },
  { additionalProperties: false },
);

const flags = { is_blocked: Type.Boolean(), is_quarantined: Type.Boolean(), is_fraudulent: Type.Boolean() };

export const LinkedAccount = Type.Object(
  { website_account_id: Type.String(), ...flags, ...seen, open_case: Type.Optional(OpenCase) },
  { additionalProperties: false, $id: "LinkedAccount" },
);
export type LinkedAccount = Static<typeof LinkedAccount>;

export const SharedLink = Type.Object(
  {
    kind: LinkKind,
    value,
    accounts: Type.Integer({
      description: `The number of accounts that were seen with it. ${sharersMax + 1} means ${sharersMax + 1} or more.`,
    }),
    website_account_ids: Type.Array(Type.String(), {
      description: `At most ${accountsOfValueMax} of them, the requested accounts first.`,
    }),
    ...seen,
    ...trace,
  },
  { additionalProperties: false, $id: "SharedLink" },
);
export type SharedLink = Static<typeof SharedLink>;

const NodeId = Type.String({ description: "`account:`, `device:` or `ip:`, followed by the id." });

export const LinkTable = Type.Object(
  {
    shared: Type.Array(SharedLink, {
      description:
        "Devices and addresses that two or more accounts share, the most suspicious first: those with many accounts that have an open case or a flag, and few others. A device counts three times as much as an address.",
    }),
    nodes: Type.Array(
      Type.Object(
        {
          node_id: NodeId,
          kind: Type.Enum(["account", "device", "ip"]),
          value: Type.String(),
          is_origin: Type.Boolean({ description: "Whether it is one of the requested accounts." }),
          flags: Type.Optional(Type.Object(flags, { additionalProperties: false, description: "Only for accounts." })),
          open_case: Type.Optional(OpenCase),
        },
        { additionalProperties: false },
      ),
      { description: `At most ${nodesMax} nodes.` },
    ),
    edges: Type.Array(Type.Object({ from: NodeId, to: NodeId, ...seen }, { additionalProperties: false }), {
      description: "From an account to a device or address that it was seen with.",
    }),
    is_cut: Type.Boolean({ description: "Whether the result was truncated." }),
  },
  { additionalProperties: false, $id: "LinkTable" },
);
export type LinkTable = Static<typeof LinkTable>;
export type Neighbour = SeenWith & { kind: LinkKind; value: string };
export type SeenWith = { website_account_id: string; first_seen: string; last_seen: string };
export type Standing = Omit<LinkedAccount, "first_seen" | "last_seen">;

type Given = { origins: Set<string>; shared: SharedLink[]; neighbours: Neighbour[]; standings: Map<string, Standing> };

// Returns the same table as a graph. It adds the most suspicious devices and addresses first, until there are as many
// nodes as can be drawn.
export function graphOf({ origins, shared, neighbours, standings }: Given): Omit<LinkTable, "shared"> {
  const nodes = new Map<string, LinkTable["nodes"][number]>();
  const edges: LinkTable["edges"] = [];
  let isCut = false;
  const add = (kind: "account" | LinkKind, id: string): string | null => {
    const node_id = `${kind}:${id}`;
    if (nodes.has(node_id)) return node_id;
    isCut ||= nodes.size >= nodesMax;
    if (nodes.size >= nodesMax) return null;
    const standing = kind === "account" ? standings.get(id) : undefined;
    const { website_account_id: _id, open_case, ...flagged } = standing ?? {};
    const more = standing && { flags: { ...noFlags, ...flagged }, ...(open_case && { open_case }) };
    nodes.set(node_id, { node_id, kind, value: id, is_origin: kind === "account" && origins.has(id), ...more });
    return node_id;
  };
  const byValue = Map.groupBy(neighbours, ({ kind, value: of }) => `${kind}:${of}`);
  for (const each of shared) {
    const to = add(each.kind, each.value);
    if (to === null) break;
    const around = byValue.get(`${each.kind}:${each.value}`) ?? [];
    isCut ||= each.accounts > around.length;
    for (const { website_account_id, first_seen, last_seen } of around) {
      const from = add("account", website_account_id);
      if (from !== null) edges.push({ from, to, first_seen, last_seen });
    }
  }
  return { nodes: [...nodes.values()], edges, is_cut: isCut };
}

const noFlags = { is_blocked: false, is_quarantined: false, is_fraudulent: false };
