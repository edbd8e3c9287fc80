import { Type } from "typebox";
import {
  findStandings,
  listAccountsOf,
  listLastActivities,
  listLinksOfAccount,
  listNeighbours,
  listShared,
  type SeenLink,
} from "../db/link-lists.ts";
import { listCases } from "../db/lists.ts";
import { findAccountsOfCases } from "../db/cases.ts";
import { featuresOf } from "../detection/draft.ts";
import { unknownAccount } from "../domain/account.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { idCharactersMax } from "../domain/field.ts";
import {
  AccountLink,
  LinkTable,
  LinkedAccount,
  graphOf,
  linksOfAccountMax,
  nodesMax,
  type LinkKind,
  type LinkTrace,
  type Neighbour,
  type SharedLink,
} from "../domain/link.ts";
import { requireAccountId } from "./accounts.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { CaseIds, readCaseIds } from "./overview.ts";
import { PageQuery, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

const originsMax = 50;
const sharedShownMax = 100;

type LinkPlace = [isUnshared: number, sharedWith: number, age: number, kind: string, value: string];

// Shared ones come first, those shared with the fewest other accounts at the top. Then come the rest, the latest first.
function placeOf({ shared_with, last_seen, kind, value }: AccountLink): LinkPlace {
  return [shared_with === 0 ? 1 : 0, shared_with, -Date.parse(last_seen), kind, value];
}

function compare(a: LinkPlace, b: LinkPlace): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  const [one, other] = [a[at], b[at]];
  return one === undefined || other === undefined ? 0 : one < other ? -1 : 1;
}

// Where each device or address was last seen, and with which browser.
async function tracesOf({ database }: Services, tenantId: string, seen: SeenLink[]): Promise<LinkTrace[]> {
  const rows = await listLastActivities(database, tenantId, seen);
  return rows.map((row) => {
    const features = row ? featuresOf(row.decision) : {};
    const [country, asn] = [features["event.country"], features["event.asn"]];
    return {
      ...(typeof country === "string" && country !== "" && { country }),
      ...(typeof asn === "number" && asn > 0 && { asn }),
      ...(typeof row?.user_agent === "string" && { user_agent: row.user_agent }),
    };
  });
}

async function accountLinks(services: Services, call: Call): Promise<Reply> {
  const id = await requireAccountId(services, call);
  return listPage<AccountLink, LinkPlace>(services, call, {
    id: "listEndUserAccountLinks",
    path: `/enduseraccounts/${encodeURIComponent(id)}/links`,
    name: "links",
    key: { id },
    read: async (after, limit) => {
      const found = await listLinksOfAccount(services.database, call.caller.tenant_id, id);
      const sorted = found.toSorted((a, b) => compare(placeOf(a), placeOf(b)));
      return sorted.filter((each) => after === null || compare(placeOf(each), after) > 0).slice(0, limit);
    },
    positionOf: placeOf,
    show: async (links) => {
      const seen = links.map(({ kind, value, last_seen }) => ({ kind, value, last_seen, account: id }));
      const traces = await tracesOf(services, call.caller.tenant_id, seen);
      return links.map((link, index) => ({ ...link, ...traces[index] }));
    },
  });
}

type Behind = { id: string; kind: LinkKind; folder: string; noun: string; parameter: string };

function accountsBehind({ id, kind, folder, noun, parameter }: Behind) {
  return (services: Services, call: Call): Promise<Reply> => {
    const value = call.params[parameter] ?? "";
    return listPage<LinkedAccount, string>(services, call, {
      id,
      path: `/${folder}/${encodeURIComponent(value)}/accounts`,
      name: "accounts",
      key: { value },
      read: async (after, limit) => {
        const found = await listAccountsOf(services.database, call.caller.tenant_id, { kind, value, after, limit });
        if (found.length === 0 && after === null) throw notFound(noun, value);
        return found;
      },
      positionOf: (last) => last.website_account_id,
      show: (accounts) => accounts,
    });
  };
}

async function table(services: Services, { caller, query }: Call): Promise<Reply> {
  const origins = await originsOf(services, caller.tenant_id, query);
  const found = await listShared(services.database, caller.tenant_id, { ids: origins, limit: sharedShownMax + 1 });
  const rows = found.slice(0, sharedShownMax);
  const neighbours = await listNeighbours(services.database, caller.tenant_id, { ids: origins, shared: rows });
  const byValue = Map.groupBy(neighbours, ({ kind, value }) => `${kind}:${value}`);
  const aroundOf = (row: (typeof rows)[number]) => byValue.get(`${row.kind}:${row.value}`) ?? [];
  const traces = await tracesOf(
    services,
    caller.tenant_id,
    rows.map((row) => lastSeen(row, aroundOf(row))),
  );
  const shared = rows.map((row, index): SharedLink => {
    const around = aroundOf(row);
    return {
      ...row,
      ...traces[index],
      website_account_ids: around.map((each) => each.website_account_id),
      first_seen: around.map((each) => each.first_seen).toSorted()[0] ?? "",
      last_seen:
        around
          .map((each) => each.last_seen)
          .toSorted()
          .at(-1) ?? "",
    };
  });
  const names = [...new Set(neighbours.map((each) => each.website_account_id))];
  const standings = await findStandings(services.database, caller.tenant_id, names);
  const graph = graphOf({ origins: new Set(origins), shared, neighbours, standings });
  return dataReply({ shared, ...graph, is_cut: graph.is_cut || found.length > rows.length });
}

function lastSeen({ kind, value }: Pick<SharedLink, "kind" | "value">, around: Neighbour[]): SeenLink {
  const [last] = around.toSorted((a, b) => (a.last_seen < b.last_seen ? 1 : -1));
  return { kind, value, account: last?.website_account_id ?? "", last_seen: last?.last_seen ?? "-infinity" };
}

// The accounts that were asked about. If there are none, the accounts of the open cases with the highest risk.
async function originsOf(services: Services, tenantId: string, query: Record<string, unknown>): Promise<string[]> {
  const { website_account_id: account, case_ids } = query as { website_account_id?: string; case_ids?: string };
  if (account !== undefined && case_ids !== undefined)
    throw new Failure("bad-request", "Only one of website_account_id and case_ids may be given.");
  if (account !== undefined) return [account];
  const cases =
    case_ids === undefined
      ? await listCases(services.database, tenantId, {
          filter: { status: "OPEN" },
          sort: "-overall_risk_score",
          after: null,
          limit: originsMax,
        })
      : await findAccountsOfCases(services.database, tenantId, readCaseIds(case_ids));
  const names = cases.map((each) => each.website_account_id).filter((name) => name !== unknownAccount);
  return [...new Set(names)].slice(0, originsMax);
}

export const linkOperations: Operation[] = [
  operation({
    id: "listEndUserAccountLinks",
    method: "GET",
    path: "/enduseraccounts/{website_account_id}/links",
    scope: "read:enduseraccount",
    tag: "End-user accounts",
    summary: "List an account's devices and addresses",
    description: `Those shared with other accounts come first, the rarest at the top. Then come the rest, the latest first. Only the latest ${linksOfAccountMax} are considered.`,
    query: PageQuery,
    success: pageOf("links", AccountLink, "A page of devices and addresses"),
    problems: ["bad-request", "item-not-found"],
    handle: accountLinks,
  }),
  operation({
    id: "listDeviceAccounts",
    method: "GET",
    path: "/devices/{device_id}/accounts",
    scope: "read:enduseraccounts",
    tag: "End-user accounts",
    summary: "List the accounts behind a device",
    description: "Ordered by id, with their flags and open cases.",
    query: PageQuery,
    success: pageOf("accounts", LinkedAccount, "A page of accounts"),
    problems: ["bad-request", "item-not-found"],
    handle: accountsBehind({
      id: "listDeviceAccounts",
      kind: "device",
      folder: "devices",
      noun: "Device",
      parameter: "device_id",
    }),
  }),
  operation({
    id: "listAddressAccounts",
    method: "GET",
    path: "/addresses/{ip}/accounts",
    scope: "read:enduseraccounts",
    tag: "End-user accounts",
    summary: "List the accounts behind an address",
    description: "Ordered by id, with their flags and open cases. Give the address as the tenant's policy stores it.",
    query: PageQuery,
    success: pageOf("accounts", LinkedAccount, "A page of accounts"),
    problems: ["bad-request", "item-not-found"],
    handle: accountsBehind({ id: "listAddressAccounts", kind: "ip", folder: "addresses", noun: "Address", parameter: "ip" }),
  }),
  operation({
    id: "getLinks",
    method: "GET",
    path: "/links",
    scope: "read:enduseraccounts",
    tag: "End-user accounts",
    summary: "Read what accounts share",
    description: `For one account, or the accounts of some cases. Without either, for the accounts of the ${originsMax} open cases with the highest risk. Considers the latest 20 devices and 20 addresses of each account. Returns a table of at most ${sharedShownMax} rows and a graph of at most ${nodesMax} nodes.`,
    query: Type.Object({
      website_account_id: Type.Optional(Type.String({ maxLength: idCharactersMax })),
      case_ids: CaseIds,
    }),
    success: { status: 200, description: "The table and its graph", schema: LinkTable },
    problems: ["bad-request"],
    handle: table,
  }),
];
