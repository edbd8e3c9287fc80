import { registerOf, type Call, type Change, type Deed, type LogEntry } from "./history.ts";

const flagNames = ["is_blocked", "is_quarantined", "is_fraudulent"] as const;
export type Flags = Record<(typeof flagNames)[number], boolean>;

export const flagsText = (flags: Partial<Record<string, unknown>>) =>
  flagNames.map((name) => (flags[name] === undefined ? "-" : flags[name] === true ? "1" : "0")).join("");

export const factsOfAccount = (flags: Partial<Record<string, unknown>>, updatedAt: string) => `${flagsText(flags)} ${updatedAt}`;
const timeIn = (facts: string) => facts.slice(flagNames.length + 1);

// Matches changes of an account to log entries. An entry has no marker, but it has an actor, a time and the flags that were sent.
// The account shows the same time together with the marker. Entries that agree in all of these and in the resulting flags look
// the same: the account may then show the marker of any of them. A change that nobody saw is matched to the actor's earliest
// change without a response. If it was another one, that one began even later, so no correct history is reported as wrong. Only
// an entry that nothing else explains is matched to a rejected change.
export function matchAccounts(calls: Call[], log: LogEntry[]) {
  const alike = countAlike(log);
  const shownFacts = factsOfMarkers(calls);
  const known = new Map<string, Deed[]>();
  const unseen = new Map<string, Deed[]>();
  const refused = new Map<string, Deed[]>();
  const flags = new Map<string, Flags>();
  const updated = new Map<string, string>();
  const markersByLooks = new Map<string, string[]>();
  const violations: string[] = [];
  for (const call of calls.toSorted((a, b) => a.begin - b.begin)) {
    const { deed } = call;
    if (!deed?.account) continue;
    const { account, actor, flags: sent } = deed.account;
    const facts = shownFacts.get(deed.marker);
    if (deed.outcome === "refused") push(refused, `${account} ${actor} ${sent}`, deed);
    else if (facts !== undefined) push(known, `${account} ${actor} ${timeIn(facts)}`, deed);
    else if (deed.outcome === "unknown") push(unseen, `${account} ${actor} ${sent}`, deed);
  }

  const markerOf = (entry: LogEntry, facts: string): string => {
    const { resource, actor, occurred_at, data = {} } = entry;
    const { id } = resource;
    const seen = known.get(seenKey(entry)) ?? [];
    const sent = flagsText(data);
    // Changes at the same moment are distinguished by the flags that were sent and by the resulting flags. One of them may be a
    // change that nobody saw.
    const right = seen.findIndex(({ marker, account }) => shownFacts.get(marker) === facts && account?.flags === sent);
    const take = (from: Map<string, Deed[]>) => from.get(`${id} ${actor} ${sent}`)?.shift();
    const deed = right === -1 ? (take(unseen) ?? seen.shift() ?? take(refused)) : seen.splice(right, 1)[0];
    return deed?.marker ?? `nobody's, of ${actor} at ${occurred_at}`;
  };

  // The markers of all calls that look like the entry, matched or not.
  const markersLike = (entry: LogEntry, facts: string): string[] => {
    const looks = looksOf(entry, facts);
    const found = markersByLooks.get(looks) ?? (known.get(seenKey(entry)) ?? []).map(({ marker }) => marker);
    markersByLooks.set(looks, found);
    return found.filter((marker) => shownFacts.get(marker) === facts);
  };

  const changeOf = (entry: LogEntry): Change => {
    const { id } = entry.resource;
    const after = flagsAfter(flags, entry);
    if ((updated.get(id) ?? "") > entry.occurred_at)
      violations.push(
        `time runs backwards from ${updated.get(id)}: event ${entry.event_id} of account ${id}, ${entry.occurred_at}`,
      );
    updated.set(id, entry.occurred_at);
    const facts = factsOfAccount(after, entry.occurred_at);
    const isUnclear = (alike.get(looksOf(entry, facts)) ?? 0) > 1;
    const orElse = isUnclear ? markersLike(entry, facts) : [];
    const marker = markerOf(entry, facts);
    const sets = [
      { register: registerOf.account(id), value: marker, facts, orElse },
      { register: registerOf.isBlocked(id), value: after.is_blocked },
    ];
    return { position: entry.event_id, visibleAt: entry.event_id, marker, sets, isUnclear };
  };

  return { changeOf, violations };
}

const seenKey = ({ resource, actor, occurred_at }: LogEntry) => `${resource.id} ${actor} ${occurred_at}`;
const looksOf = (entry: LogEntry, facts: string) => `${seenKey(entry)} ${flagsText(entry.data ?? {})} ${facts}`;

function flagsAfter(flags: Map<string, Flags>, { resource: { id }, data }: LogEntry): Flags {
  const before = flags.get(id) ?? { is_blocked: false, is_quarantined: false, is_fraudulent: false };
  const after = { ...before, ...data };
  flags.set(id, after);
  return after;
}

function countAlike(log: LogEntry[]): Map<string, number> {
  const flags = new Map<string, Flags>();
  const counts = new Map<string, number>();
  for (const entry of log.filter(({ resource }) => resource.type === "end_user_account")) {
    const looks = looksOf(entry, factsOfAccount(flagsAfter(flags, entry), entry.occurred_at));
    counts.set(looks, (counts.get(looks) ?? 0) + 1);
  }
  return counts;
}

function factsOfMarkers(calls: Call[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { sights } of calls) {
    for (const { register, value, facts } of sights) {
      if (register.startsWith("account/") && facts !== undefined) found.set(String(value), facts);
    }
  }
  return found;
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const known = map.get(key);
  if (known) known.push(item);
  else map.set(key, [item]);
}
