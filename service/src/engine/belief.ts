import { findSpokenFor } from "../db/accounts.ts";
import type { Turn } from "../db/activities.ts";
import type { IdentityCount } from "../db/identity.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { seeAccounts } from "./accounts.ts";
import type { Batch } from "./cases.ts";
import { Memory } from "./memory.ts";
import { Standing } from "./standing.ts";

type SeeAccounts = typeof seeAccounts;
type Given = {
  batch: Batch;
  turn: Turn;
  events: EnrichedActivity[];
  keepIp: (ip: string) => string;
  see?: SeeAccounts;
};

// Determines how far each event of a batch is trusted, creates the accounts that the events count for, and reads what is known
// about everything that they name.
export async function believeBatch({ batch, turn, events, keepIp, see = seeAccounts }: Given) {
  const { tx, tenantId, now } = batch;
  const standing = new Standing(turn, events, now);
  const { hasBrowser: tenantHasBrowser, serverTells, trust } = standing;
  const ringKey = Buffer.from(turn.ip_key).toString("hex");
  const timeZone = turn.time_zone;
  // What a server says about its accounts counts for them in any case, so everything can be read at once.
  const areServers = events.every(({ source }) => source === "server");
  const [memory, seen] = await Promise.all([
    Memory.open({ tx, tenantId, tenantHasBrowser, serverTells, keepIp, ringKey, timeZone }, events, areServers),
    areServers ? see(batch, events) : null,
  ]);
  const named = trust.isSnippetOnly ? namedByPages(events) : [];
  const spokenFor = named.length === 0 ? new Set<string>() : await findSpokenFor(tx, tenantId, named);
  const believed = memory.believe(events, trust, (account) => spokenFor.has(account));
  const [accounts] = await Promise.all([seen ?? see(batch, believed), memory.complete(believed)]);
  if (accounts.haveAfresh) {
    memory.forgetAccounts();
    await memory.complete(believed);
  }
  memory.setFlags(accounts.flags);
  return { standing, memory, believed, accounts };
}

function namedByPages(events: EnrichedActivity[]): string[] {
  const ids = events.flatMap(({ activity }) => (activity.origin === "browser" ? (activity.website_account_id ?? []) : []));
  return [...new Set(ids)];
}

// Counts the page events that named an account, by what vouched for them and by day of receipt.
export function identityCounts(believed: EnrichedActivity[]): IdentityCount[] {
  const counts = new Map<string, IdentityCount>();
  for (const { activity, source, claimed } of believed) {
    if (activity.origin !== "browser" || (activity.website_account_id ?? claimed) === undefined) continue;
    const day = activity.received_at.slice(0, 10);
    const how = howBelieved(source, activity.identity);
    const count = counts.get(`${day} ${how}`) ?? { day, source: how, count: 0 };
    counts.set(`${day} ${how}`, { ...count, count: count.count + 1 });
  }
  return [...counts.values()];
}

function howBelieved(
  source: EnrichedActivity["source"],
  identity: EnrichedActivity["activity"]["identity"],
): IdentityCount["source"] {
  if (identity === "signed") return "signed";
  if (source === "verified_session") return "tied";
  return identity === "bad-token" ? "bad-token" : "unvouched";
}
