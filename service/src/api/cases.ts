import { Type } from "typebox";
import { caseSorts, filterOf, filterParameters, type CasePosition, type CaseSort } from "../db/case-filters.ts";
import { listMembers, type MemberPlace } from "../db/case-members.ts";
import { listCaseTexts, splitLast } from "../db/lists.ts";
import { BulkClose, BulkCloseResult } from "../domain/bulk-close.ts";
import { Case, CaseChange, closeFaults } from "../domain/case.ts";
import { CaseListItem } from "../domain/case-item.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { CaseMember } from "../domain/member.ts";
import type { Outcome } from "./case-changes.ts";
import { caseReply, fingerprint, updateCase, updateUnderKey } from "./case-update.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, PageQuery, listPage, listSignature, pageOf, textReply } from "./http/page.ts";
import { problemMembers, type Reply } from "./http/problem.ts";

const CaseQuery = Type.Object({
  ...filterParameters,
  sort: Type.Optional(Type.Enum([...caseSorts], { default: "-created_at" })),
  limit: Limit,
  cursor: Cursor,
});

async function list(services: Services, { caller, query }: Call): Promise<Reply> {
  const given = query as Record<string, unknown> & { sort?: CaseSort; limit?: number; cursor?: string };
  const sort = given.sort ?? "-created_at";
  const filter = filterOf(caller, given);
  const signature = listSignature(caller, "listCases", { ...filter, sort });
  // The seal proves that positionOf made this value.
  const after = given.cursor === undefined ? null : (services.cursors.open(given.cursor, signature) as CasePosition);
  const limit = given.limit ?? 1000;
  const found = await listCaseTexts(services.database, caller.tenant_id, { filter, sort, after, limit: limit + 1 });
  const { text, last } = found.count > limit ? splitLast(found.text) : { text: found.text, last: null };
  const cursor = last === null ? null : services.cursors.seal(positionOf(splitLast(text).last), signature);
  return textReply(services, { path: `/v2/${caller.slug}/cases`, query, name: "cases", text: `[${text}]`, cursor });
}

// Clients have neither a person's id nor a role.
export function recipientsOf({ person }: Caller): string[] {
  return person ? [person.user_id, person.role] : [];
}

function positionOf(item: string): CasePosition {
  // The cast is safe: this is one of our own list items.
  const { case_id, updated_at, created_at, overall_risk_score: score, due_at } = JSON.parse(item) as CaseListItem;
  return { case_id, touched_at: updated_at ?? created_at, score, ...(due_at !== undefined && { due_at }) };
}

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["case_id"] ?? "";
  const stored = await services.findCase(caller.tenant_id, id);
  if (!stored) throw notFound("Case", id);
  return caseReply(stored);
}

function closeMany(services: Services, { caller, body, key }: Call<BulkClose>): Promise<Reply> {
  const request = fingerprint({ method: "POST", path: "/cases/close", body });
  const claim = { key, fingerprint: request, caseId: null, now: services.now() };
  const { cases, ...closing } = body;
  const wanted = cases.map(({ case_id, case_version }) => ({
    id: case_id,
    change: { ...closing, status: "CLOSED" as const, case_version },
  }));
  return updateUnderKey(services, { caller, claim, wanted }, (outcomes) => {
    const reply = dataReply({ results: outcomes.map(bulkResult) });
    return { stored: reply, sent: reply };
  });
}

function bulkResult({ update: { id: case_id }, result }: Outcome) {
  if (!(result instanceof Failure)) return { case_id, status: 200, case_version: result.after.document.case_version };
  const { type, status, current_version } = problemMembers(result);
  return { case_id, status, type, current_version };
}

async function members(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId } = call.caller;
  const id = call.params["case_id"] ?? "";
  if (!(await services.findCase(tenantId, id))) throw notFound("Case", id);
  return listPage<CaseMember, MemberPlace>(services, call, {
    id: "listCaseMembers",
    path: `/cases/${encodeURIComponent(id)}/members`,
    name: "members",
    key: { id },
    read: (after, limit) => listMembers(services.database, tenantId, { case_id: id, after, limit }),
    positionOf: ({ state, website_account_id }) => [state, website_account_id],
    show: (found) => found,
  });
}

const exampleId = "019a8b1c-0000-7000-8000-000000000000";

export const caseOperations: Operation[] = [
  operation({
    id: "listCases",
    method: "GET",
    path: "/cases",
    scope: "read:cases",
    tag: "Cases",
    summary: "List cases",
    description:
      "Newest first unless sorted otherwise. Filters combine; unknown parameters are ignored. `sort=due_at` lists only open cases that have a due time.",
    query: CaseQuery,
    success: pageOf("cases", CaseListItem, "A page of cases"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    id: "getCase",
    method: "GET",
    path: "/cases/{case_id}",
    scope: "read:case",
    tag: "Cases",
    summary: "Read a case",
    success: { status: 200, description: "The case", schema: Case },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "listCaseMembers",
    method: "GET",
    path: "/cases/{case_id}/members",
    scope: "read:case",
    tag: "Cases",
    summary: "List the accounts of an attack",
    description:
      "Lists the accounts of a case about a source, a campaign, a payee or an instrument. The list begins when the attack is recognized. Entered accounts come first, then created accounts, then attacked accounts. They are not suspects. Accounts that were listed longer ago than the retention period are left out, but the case's count still includes them.",
    query: PageQuery,
    success: pageOf("members", CaseMember, "A page of accounts"),
    problems: ["bad-request", "item-not-found"],
    handle: members,
  }),
  operation({
    id: "updateCase",
    method: "PUT",
    path: "/cases/{case_id}",
    scope: "update:case",
    tag: "Cases",
    summary: "Close or reopen a case",
    description:
      "Applies only if case_version is the current one. A repeat with the same Idempotency-Key and body returns the first result, marked by Idempotent-Replayed, and applies nothing again. A 409 that names a version or another case is stored under its key as well, so use a new key after it. Closing a closed case, or opening an open one, changes nothing, not even its reason or its disposition.",
    body: CaseChange,
    faults: closeFaults,
    wantsKey: true,
    precondition: "case_version",
    success: {
      status: 200,
      description: "The case after the change",
      schema: Case,
      headers: { "Idempotent-Replayed": "`true` if this is the stored result of an earlier request." },
    },
    problems: [
      "bad-request",
      "invalid-operation-id",
      "item-not-found",
      "item-already-exists",
      "item-version-conflict",
      "operation-idempotency-conflict",
      "transaction-contended",
      "precondition-required",
    ],
    example: { status: "CLOSED", case_version: 1, disposition: "CONFIRMED_FRAUD", reason: "The customer confirmed it by phone." },
    handle: updateCase,
  }),
  operation({
    id: "closeCases",
    method: "POST",
    path: "/cases/close",
    scope: "update:case",
    tag: "Cases",
    summary: "Close many cases",
    description:
      "Closes each case on its own, in the order sent. A case that cannot be closed does not stop the others. A case that is reported as transaction-contended was not changed. The key is then not used up: the same request with the same key closes the remaining cases and reports the current state of the others.",
    body: BulkClose,
    wantsKey: true,
    success: {
      status: 200,
      description: "A result for each case",
      schema: Type.Object({ results: Type.Array(BulkCloseResult) }, { additionalProperties: false }),
      headers: { "Idempotent-Replayed": "`true` if this is the stored result of an earlier request." },
    },
    problems: ["bad-request", "invalid-operation-id", "operation-idempotency-conflict", "transaction-contended"],
    example: { cases: [{ case_id: exampleId, case_version: 1 }], disposition: "FALSE_POSITIVE" },
    handle: closeMany,
  }),
];
