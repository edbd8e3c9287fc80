import { Type } from "typebox";
import { findAccounts } from "../db/accounts.ts";
import { findStandings } from "../db/link-lists.ts";
import { findIpPolicy } from "../db/list-preview.ts";
import type { Queryable } from "../db/postgres/database.ts";
import {
  findCaseFacts,
  findShared,
  listAccountParts,
  listAccountsFrom,
  listAccountsOfCrmId,
  listCaseIds,
  listCasesAbout,
  listEmailParts,
  listEmailsFrom,
  listLinkedValues,
  listOrdersFrom,
  listSampledAccounts,
  listSampledEmails,
  withinTime,
  type NamedAccount,
  type SharedKind,
} from "../db/search.ts";
import { listNoteWords, listReasonWords, listSampledNotes, listSampledReasons, type WrittenText } from "../db/search-texts.ts";
import { keptIp } from "../detection/kept-ip.ts";
import { bytesOf } from "../domain/ip-range.ts";
import {
  SearchResult,
  SearchText,
  addressesOf,
  beginningWith,
  caseIdsFrom,
  excerptOf,
  hitsDefault,
  hitsMax,
  partCharactersMin,
  patternOf,
  searchGroups,
  type AccountHit,
  type CaseHit,
  type SearchGroup,
  type SharedHit,
} from "../domain/search.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

// `wanted` is one more than is shown, to know whether there is more.
type Asked = { tx: Queryable; tenantId: string; text: string; wanted: number };
type NamedBy = Pick<AccountHit, "website_account_id" | "matched" | "value">;
type CaseBy = Pick<CaseHit, "case_id" | "matched" | "value">;
// What was found, and whether that is all that a longer search would find.
type Found<T> = { hits: T[]; isComplete: boolean };

const blockScanMax = 2_000;
const subjectKinds = ["device", "ip", "network", "payee", "instrument", "session", "campaign"];

async function search({ database }: Services, { caller, query }: Call<unknown, { q?: string; limit?: number }>): Promise<Reply> {
  const { q = "", limit = hitsDefault } = query;
  const text = q.trim();
  if (text === "") return dataReply(resultOf(limit, { isComplete: true }));
  const found = await database.transaction(async (tx) => {
    const asked: Asked = { tx, tenantId: caller.tenant_id, text, wanted: limit + 1 };
    const [devices, addresses, payees, orders] = await Promise.all([
      searchShared(asked, "account-device"),
      searchAddresses(asked),
      searchShared(asked, "account-payee"),
      listOrdersFrom(tx, asked.tenantId, beginningWith(text), asked.wanted),
    ]);
    const accounts = await searchAccounts(asked);
    const cases = await searchCases(asked, caller.scopes.has("read:case"));
    const isComplete = accounts.isComplete && cases.isComplete && addresses.isComplete;
    return { accounts: accounts.hits, cases: cases.hits, devices, addresses: addresses.hits, payees, orders, isComplete };
  });
  return dataReply(resultOf(limit, found));
}

function resultOf(
  limit: number,
  found: { [group in SearchGroup]?: SearchResult[group] } & { isComplete: boolean },
): SearchResult {
  const { accounts = [], cases = [], devices = [], addresses = [], payees = [], orders = [], isComplete } = found;
  const all = { accounts, cases, devices, addresses, payees, orders };
  return {
    accounts: accounts.slice(0, limit),
    cases: cases.slice(0, limit),
    devices: devices.slice(0, limit),
    addresses: addresses.slice(0, limit),
    payees: payees.slice(0, limit),
    orders: orders.slice(0, limit),
    more: searchGroups.filter((group) => all[group].length > limit),
    is_complete: isComplete,
  };
}

async function searchAccounts(asked: Asked): Promise<Found<AccountHit>> {
  const { tx, tenantId, text, wanted } = asked;
  const pattern = patternOf(text);
  const [begun, crm, emails, sampled, sampledEmails] = await Promise.all([
    listAccountsFrom(tx, tenantId, beginningWith(text), wanted),
    listAccountsOfCrmId(tx, tenantId, text, wanted),
    listEmailsFrom(tx, tenantId, beginningWith(text.toLowerCase()), wanted),
    listSampledAccounts(tx, tenantId, pattern, wanted),
    listSampledEmails(tx, tenantId, pattern, wanted),
  ]);
  let hits = distinct(
    [
      ...begun.map(byId),
      ...crm.map((id) => byCrmId(id, text)),
      ...emails.map(byEmail),
      ...sampled.map(byId),
      ...sampledEmails.map(byEmail),
    ],
    "website_account_id",
  );
  let isComplete = true;
  for (const searchParts of [
    async () => (await listAccountParts(tx, tenantId, pattern, wanted)).map(byId),
    async () => (await listEmailParts(tx, tenantId, pattern, wanted)).map(byEmail),
  ]) {
    if (hits.length >= wanted || text.length < partCharactersMin) break;
    const more = await withinTime(tx, searchParts);
    isComplete &&= more !== null;
    hits = distinct([...hits, ...(more ?? [])], "website_account_id");
  }
  return { hits: await describeAccounts(asked, hits.slice(0, wanted)), isComplete };
}

const byId = (id: string): NamedBy => ({ website_account_id: id, matched: "website_account_id", value: id });
const byCrmId = (id: string, value: string): NamedBy => ({ website_account_id: id, matched: "crm_account_id", value });
const byEmail = (named: NamedAccount): NamedBy => ({ ...named, matched: "email" });

// Only accounts that exist. A link may outlive its account for a moment.
async function describeAccounts({ tx, tenantId }: Asked, hits: NamedBy[]): Promise<AccountHit[]> {
  if (hits.length === 0) return [];
  const ids = hits.map((each) => each.website_account_id);
  const [accounts, standings] = await Promise.all([findAccounts(tx, tenantId, ids), findStandings(tx, tenantId, ids)]);
  return hits.flatMap((hit) => {
    const standing = standings.get(hit.website_account_id);
    return standing && accounts.has(hit.website_account_id) ? [{ ...standing, ...hit }] : [];
  });
}

async function searchCases(asked: Asked, mayReadTexts: boolean): Promise<Found<CaseHit>> {
  const { tx, tenantId, text, wanted } = asked;
  const ids = caseIdsFrom(text);
  const subjects = subjectKinds.map((kind) => beginningWith(`${kind}:${text}`));
  const [byIds, about, reasons, notes] = await Promise.all([
    ids === null ? [] : listCaseIds(tx, tenantId, ids, wanted),
    listCasesAbout(tx, tenantId, subjects, wanted),
    mayReadTexts ? listSampledReasons(tx, tenantId, text, wanted) : [],
    mayReadTexts ? listSampledNotes(tx, tenantId, text, wanted) : [],
  ]);
  const byText = (matched: "reason" | "note", found: WrittenText[]) =>
    found.map((each): CaseBy => ({ case_id: each.case_id, matched, value: excerptOf(each.text, text) }));
  let hits = distinct<CaseBy>(
    [
      ...byIds.map((id): CaseBy => ({ case_id: id, matched: "case_id", value: id })),
      ...about.map(({ case_id, subject }): CaseBy => ({
        case_id,
        matched: "subject",
        value: subject.slice(subject.indexOf(":") + 1),
      })),
      ...byText("reason", reasons),
      ...byText("note", notes),
    ],
    "case_id",
  );
  let isComplete = true;
  for (const searchWords of [
    async () => byText("reason", await listReasonWords(tx, tenantId, text, wanted)),
    async () => byText("note", await listNoteWords(tx, tenantId, text, wanted)),
  ]) {
    if (!mayReadTexts || hits.length >= wanted || text.length < partCharactersMin) break;
    const older = await withinTime(tx, searchWords);
    isComplete &&= older !== null;
    hits = distinct([...hits, ...(older ?? [])], "case_id");
  }
  return { hits: await describeCases(asked, hits.slice(0, wanted)), isComplete };
}

async function describeCases({ tx, tenantId }: Asked, hits: CaseBy[]): Promise<CaseHit[]> {
  if (hits.length === 0) return [];
  const facts = await findCaseFacts(
    tx,
    tenantId,
    hits.map((hit) => hit.case_id),
  );
  return hits.flatMap((hit) => {
    const found = facts.get(hit.case_id);
    return found ? [{ ...found, ...hit }] : [];
  });
}

async function searchShared({ tx, tenantId, text, wanted }: Asked, kind: SharedKind): Promise<SharedHit[]> {
  const values = await listLinkedValues(tx, tenantId, kind, { ranges: [beginningWith(text)], limit: wanted });
  return values.length === 0 ? [] : findShared(tx, tenantId, kind, values);
}

// By the beginning of an address, by a block, or by a whole address that is stored in another form.
async function searchAddresses({ tx, tenantId, text, wanted }: Asked): Promise<Found<SharedHit>> {
  const kind = "account-ip";
  const block = addressesOf(text);
  const ranges = block?.ranges ?? [beginningWith(text)];
  const limit = block?.isExact === false ? blockScanMax : wanted;
  const kept = bytesOf(text) === null ? [] : [keptIp(text, await findIpPolicy(tx, tenantId))];
  const scanned = await listLinkedValues(tx, tenantId, kind, { ranges, limit });
  const inside = block ? scanned.filter(block.isInside) : scanned;
  const values = [...new Set([...kept, ...inside])].slice(0, wanted);
  const hits = values.length === 0 ? [] : await findShared(tx, tenantId, kind, values);
  return { hits, isComplete: block?.isExact !== false || scanned.length < limit || inside.length >= wanted };
}

// The first hit of each id.
function distinct<T>(hits: T[], key: keyof T): T[] {
  return [...new Map(hits.toReversed().map((hit) => [hit[key], hit])).values()].toReversed();
}

export const searchOperations: Operation[] = [
  operation({
    id: "search",
    method: "GET",
    path: "/search",
    scope: "read:cases",
    furtherScope: "read:enduseraccounts",
    tag: "Search",
    summary: "Find accounts, cases, devices, addresses, payees and orders",
    description:
      "Finds accounts by a part of their id or e-mail address, or by their CRM id; cases by the beginning of their id (8 characters or more), by what they are about, or by a phrase of a reason or a note that a person wrote; devices, addresses, payees and orders by their beginning; and addresses by a block such as `203.0.113.0/24`. Upper and lower case do not matter in parts of ids, e-mail addresses, reasons and notes. Parts have 3 characters or more. Reasons and notes are searched only if the caller also has `read:case`. E-mail addresses and payees are those that servers sent with activities. Everything that is returned exists. Without a text, nothing is found.",
    query: Type.Object({
      q: Type.Optional(Type.String({ ...SearchText, description: "The text. Spaces around it are ignored." })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: hitsMax,
          default: hitsDefault,
          description: "How many hits each group has at most.",
        }),
      ),
    }),
    success: { status: 200, description: "The hits, by group", schema: SearchResult },
    problems: ["bad-request"],
    handle: search,
  }),
];
