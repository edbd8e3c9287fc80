import type { LoggedEvent } from "../domain/event.ts";
import { findAccounts } from "./accounts.ts";
import { caseText, findCases } from "./cases.ts";
import type { Queryable } from "./postgres/database.ts";
import { listEventsAfter } from "./events.ts";
import { withNoteTexts } from "./notes.ts";
import { listRules } from "./rules.ts";

// A page ends before it exceeds this length, but always holds at least one event.
const charactersMax = 2_000_000;
const lookedUpAtOnce = 50;

type Kind = LoggedEvent["resource"]["type"];
type Reader = (database: Queryable, tenantId: string, ids: string[]) => Promise<Map<string, string>>;

const textsOf = <T>(found: Iterable<[string, T]>) => new Map([...found].map(([id, each]) => [id, JSON.stringify(each)]));

// How each kind of resource is read, and the scope that reading it requires.
const readers: Record<Kind, { scope: string; read: Reader }> = {
  case: {
    scope: "read:case",
    read: async (database, tenantId, ids) =>
      new Map([...(await findCases(database, tenantId, ids))].map(([id, stored]) => [id, caseText(stored)])),
  },
  end_user_account: {
    scope: "read:enduseraccount",
    read: async (database, tenantId, ids) => textsOf(await findAccounts(database, tenantId, ids)),
  },
  rule: {
    scope: "read:rules",
    read: async (database, tenantId) =>
      textsOf((await listRules(database, tenantId)).map((rule) => [rule.rule_id, rule] as const)),
  },
};

type Asked = { after: number; limit: number; scopes: ReadonlySet<string>; isWanted?: (type: string) => boolean };

// Events as JSON, each with the current state of its resource. It is read after the event, so it includes this change and may
// include later ones.
export async function readFullEvents(
  database: Queryable,
  tenantId: string,
  { after, limit, scopes, isWanted = () => true }: Asked,
): Promise<{ events: string[]; next_after: number }> {
  const found = await listEventsAfter(database, tenantId, { after, limit });
  const events: string[] = [];
  let characters = 0;
  let last = after;
  for (let from = 0; from < found.length; from += lookedUpAtOnce) {
    const some = await withTexts(database, tenantId, { events: found.slice(from, from + lookedUpAtOnce), scopes });
    const currents = await readCurrents(database, tenantId, { events: some.filter(({ type }) => isWanted(type)), scopes });
    for (const event of some) {
      if (isWanted(event.type)) {
        const current = currents.get(event.resource.type)?.get(event.resource.id);
        const text = JSON.stringify(event);
        const full = current === undefined ? text : `${text.slice(0, -1)},"current":${current}}`;
        if (events.length > 0 && characters + full.length > charactersMax) return { events, next_after: last };
        characters += full.length;
        events.push(full);
      }
      last = event.event_id;
    }
  }
  return { events, next_after: last };
}

type Some = { events: LoggedEvent[]; scopes: ReadonlySet<string> };

function withTexts(database: Queryable, tenantId: string, { events, scopes }: Some): Promise<LoggedEvent[]> {
  return scopes.has("read:case") ? withNoteTexts(database, tenantId, events) : Promise.resolve(events);
}

async function readCurrents(
  database: Queryable,
  tenantId: string,
  { events, scopes }: Some,
): Promise<Map<Kind, Map<string, string>>> {
  const kinds = Object.entries(readers).filter(([, { scope }]) => scopes.has(scope));
  const found = await Promise.all(
    kinds.map(async ([kind, { read }]) => {
      const ids = new Set(events.filter(({ resource }) => resource.type === kind).map(({ resource }) => resource.id));
      return [kind, ids.size === 0 ? new Map<string, string>() : await read(database, tenantId, [...ids])] as const;
    }),
  );
  return new Map(found);
}
