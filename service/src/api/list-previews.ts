import { endOf } from "../db/decisions.ts";
import { findDecidingLabels } from "../db/labels.ts";
import { findIpPolicy, listAgents, searchLog, type Candidates, type PreviewRow } from "../db/list-preview.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { keptIp } from "../detection/kept-ip.ts";
import { listedRow } from "../detection/listed-event.ts";
import { Lists } from "../detection/lists.ts";
import { findPlace } from "../detection/vector.ts";
import { bytesOf } from "../domain/ip-range.ts";
import { keyOf, type ListKind, type ListType } from "../domain/list.ts";
import { previewAccountsMax, previewDays, previewLabelledMax, type ListPreview } from "../domain/list-preview.ts";
import type { Services } from "./operation.ts";

const dayMs = 24 * 60 * 60 * 1000;
// After this time, what was found so far is the answer. One part takes less than 0.1 s.
const searchMs = 3_000;
const partMax = 20_000;
const agentsMax = 50_000;

type Wanted = { type: ListType; kind: ListKind; values: string[] };

// Returns what values would have hit, by searching the log backwards with the code that scores live activity.
export async function previewValues({ database, now }: Services, tenantId: string, wanted: Wanted): Promise<ListPreview> {
  const until = now();
  const from = new Date(Date.parse(until) - previewDays * dayMs).toISOString();
  const { lists, keys, isExact } = await listWith(database, tenantId, wanted);
  const candidates = await candidatesOf(database, tenantId, { type: wanted.type, keys, lists });
  const tally = new PreviewTally();
  const beganMs = performance.now();
  // Activity that was received in this millisecond counts too.
  let next: ReturnType<typeof endOf> | null = endOf(new Date(Date.parse(until) + 1).toISOString());
  do {
    const part = await searchLog(database, tenantId, { from, before: next, limit: partMax }, candidates);
    for (const row of part.rows) tally.addIf(lists, row);
    next = part.next;
  } while (next && performance.now() - beganMs < searchMs);
  const labels = await findDecidingLabels(database, tenantId, tally.keys);
  const frauds = [...labels.values()].filter(({ fraudulent }) => fraudulent).length;
  return {
    from: next?.received_at ?? from,
    until,
    is_complete: next === null,
    is_exact: isExact,
    ...tally.counts(),
    confirmed_frauds: frauds,
    honest: labels.size - frauds,
  };
}

const previewed = "preview";

type Compiled = { lists: Lists; keys: string[]; isExact: boolean };

// The log has addresses as the tenant's ip_policy keeps them. A truncated one may be any address of its block, and a hashed one is
// in no block.
async function listWith(database: Queryable, tenantId: string, { type, kind, values }: Wanted): Promise<Compiled> {
  const lists = new Lists();
  lists.define([{ name: previewed, type, kind, label: "Organic" }]);
  const keys = values.flatMap((value) => {
    const keyed = keyOf(type, value);
    return "key" in keyed ? [keyed.key] : [];
  });
  const policy = type === "ip" ? await findIpPolicy(database, tenantId) : null;
  const isReduced = policy !== null && policy.ip_policy !== "full";
  const kept = isReduced ? keys.filter((key) => bytesOf(key)).map((key) => keptIp(key, policy)) : [];
  for (const key of [...keys, ...kept]) lists.set({ list_name: previewed, key, expires_at: null });
  const isTooWide = policy?.ip_policy === "truncate" && kept.length > 0;
  const isTooNarrow = policy?.ip_policy === "hash" && keys.some((key) => key.includes("/"));
  return { lists, keys, isExact: !isTooWide && !isTooNarrow };
}

type Given = { type: ListType; keys: string[]; lists: Lists };

// Only rows that may contain a value are sent by the database.
async function candidatesOf(database: Queryable, tenantId: string, { type, keys, lists }: Given): Promise<Candidates> {
  if (type === "country" || type === "asn") {
    const code = findPlace(`event.${type}`)?.code ?? "";
    // The number 1 has a form of its own in a stored decision.
    return { type, needles: keys.map((key) => (key === "1" ? code : `,${code}${key}`)), agentKeys: [] };
  }
  const agents = type === "user_agent" ? await listAgents(database, tenantId, agentsMax) : [];
  const isHit = (user_agent: string) => lists.view({ source: "server", values: { user_agent } }, 0).hits.length > 0;
  const agentKeys = agents.filter((agent) => isHit(agent.user_agent)).map(({ agent_key }) => agent_key);
  return { type, needles: keys, agentKeys };
}

class PreviewTally {
  readonly keys: string[] = [];
  readonly #accounts = new Set<string>();
  readonly #cases = new Set<string>();
  readonly #counts = { activities: 0, from_pages: 0, suspicious: 0 };

  addIf(lists: Lists, row: PreviewRow): void {
    const event = listedRow(row);
    if (lists.view(event, 0).hits.length === 0) return;
    const { website_account_id: account, case_id } = row;
    this.#counts.activities++;
    if (event.source === "page") this.#counts.from_pages++;
    if (row.score >= 3) this.#counts.suspicious++;
    if (this.keys.length < previewLabelledMax) this.keys.push(row.id_key);
    if (account !== null && this.#accounts.size < previewAccountsMax) this.#accounts.add(account);
    if (case_id !== null) this.#cases.add(case_id);
  }

  counts(): Pick<ListPreview, "activities" | "from_pages" | "accounts" | "suspicious" | "cases"> {
    return { ...this.#counts, accounts: this.#accounts.size, cases: this.#cases.size };
  }
}
