import { Type } from "typebox";
import { lockCases, saveCases, type LockedCase } from "../db/cases.ts";
import type { Transaction } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { claimKey, deleteKey, saveReply } from "../db/keys.ts";
import { caseSorts, filterParameters, toFilter, type CasePosition, type CaseSort } from "../db/case-filters.ts";
import { listCases } from "../db/lists.ts";
import { saveOutcomes } from "../db/outcomes.ts";
import { BulkClose, BulkCloseResult, Case, CaseChange, CaseListItem, changeStatus, dispositionFaults } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { notFound } from "../domain/failure.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { caseReply, fingerprint, replayed, updateCase } from "./case-update.ts";
import { jsonMediaType, operation, type Call, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listReply, listSignature, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

const CaseQuery = Type.Object({
  ...filterParameters,
  sort: Type.Optional(Type.Enum([...caseSorts], { default: "-created_at" })),
  limit: Limit,
  cursor: Cursor,
});

async function list(services: Services, { caller, query }: Call): Promise<Reply> {
  const given = query as Record<string, unknown> & { sort?: CaseSort; limit?: number; cursor?: string };
  const sort = given.sort ?? "-created_at";
  const filter = toFilter(given);
  const signature = listSignature(caller, "listCases", { ...filter, sort });
  // Sealed by us, so it is what nextPosition made.
  const after = given.cursor === undefined ? null : (services.cursors.open(given.cursor, signature) as CasePosition);
  const limit = given.limit ?? 1000;
  const found = await listCases(services.database, caller.tenant_id, { filter, sort, after, limit: limit + 1 });
  const cursor = found.length > limit ? services.cursors.seal(nextPosition(found[limit - 1]), signature) : null;
  return listReply(services, { path: `/v2/${caller.slug}/cases`, query, name: "cases", items: found.slice(0, limit), cursor });
}

function nextPosition(last: CaseListItem | undefined): CasePosition | null {
  return last ? { case_id: last.case_id, touched_at: last.updated_at ?? last.created_at, score: last.overall_risk_score } : null;
}

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["case_id"] ?? "";
  const stored = await services.findCase(caller.tenant_id, id);
  if (!stored) throw notFound("Case", id);
  return caseReply(stored);
}

async function closeMany(services: Services, { caller, body, key }: Call<BulkClose>): Promise<Reply> {
  const now = services.now();
  const claim = { key, fingerprint: fingerprint({ method: "POST", path: "/cases/close", body }), caseId: null, now };
  return services.database.transaction(async (tx) => {
    const known = await claimKey(tx, caller.tenant_id, claim);
    if (known) return replayed(known);
    const { locked, contended } = await lockAll(
      tx,
      caller.tenant_id,
      body.cases.map((each) => each.case_id),
    );
    const changed = new Map<string, LockedCase>();
    const events: DomainEvent[] = [];
    const results = body.cases.map((wanted): BulkCloseResult => {
      const found = locked.get(wanted.case_id);
      if (contended.has(wanted.case_id)) return { case_id: wanted.case_id, status: 409, type: "transaction-contended" };
      if (!found) return { case_id: wanted.case_id, status: 404, type: "item-not-found" };
      const { case_version: current } = found.document;
      if (current !== wanted.case_version)
        return { case_id: wanted.case_id, status: 409, type: "item-version-conflict", current_version: current };
      const { reason, disposition } = body;
      const change = {
        status: "CLOSED" as const,
        case_version: current,
        ...(reason !== undefined && { reason }),
        ...(disposition && { disposition }),
      };
      const done = changeStatus(found.document, change, { name: caller.actor, now, state_id: services.newId() });
      if (done.document !== found.document) changed.set(wanted.case_id, { ...found, document: done.document });
      locked.set(wanted.case_id, { ...found, document: done.document });
      events.push(...done.events);
      return { case_id: wanted.case_id, status: 200, case_version: done.document.case_version };
    });
    await saveCases(tx, caller.tenant_id, [...changed.values()]);
    await saveOutcomes(tx, caller.tenant_id, [...changed.values()]);
    const reply = { status: 200, body: JSON.stringify({ data: { results } }), headers: { "content-type": jsonMediaType } };
    // If this reply were stored, it would report the case as contended for as long as the key is kept.
    if (contended.size > 0) await deleteKey(tx, caller.tenant_id, key);
    else await saveReply(tx, caller.tenant_id, key, reply);
    await appendEvents(tx, caller.tenant_id, events);
    return reply;
  });
}

// In key order, so that lists that overlap wait for each other instead of in a circle. What stays locked too long is
// reported as contended on its own and holds up none of the others.
async function lockAll(
  tx: Transaction,
  tenantId: string,
  ids: string[],
): Promise<{ locked: Map<string, LockedCase>; contended: Set<string> }> {
  const { cases, contended } = await lockCases(tx, tenantId, ids.filter(isCanonicalUuid));
  return { locked: new Map(cases.map((each) => [each.document.case_id, each])), contended: new Set(contended) };
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
    description: "Newest first unless sorted otherwise. Filters combine; unknown parameters are ignored.",
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
    id: "updateCase",
    method: "PUT",
    path: "/cases/{case_id}",
    scope: "update:case",
    tag: "Cases",
    summary: "Close or reopen a case",
    description:
      "Applies only if case_version is the current one. A repeat with the same Idempotency-Key and body returns the first result, marked by Idempotent-Replayed, and applies nothing again. A 409 that names a version or another case is bound to its key as well: after it, use a new one. To close a closed case, or to open an open one, changes nothing, not even its reason.",
    body: CaseChange,
    faults: dispositionFaults,
    wantsKey: true,
    precondition: "case_version",
    success: {
      status: 200,
      description: "The case after the change",
      schema: Case,
      headers: { "Idempotent-Replayed": "`true` where this is the stored result of an earlier request." },
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
      "Each case on its own, in the order sent: one that cannot be closed does not stop the others. A case that is reported as transaction-contended was not changed. The key is then not used up: the same request with the same key closes the remaining cases and reports the current state of the others.",
    body: BulkClose,
    wantsKey: true,
    success: {
      status: 200,
      description: "A result for each case",
      schema: Type.Object({ results: Type.Array(BulkCloseResult) }, { additionalProperties: false }),
      headers: { "Idempotent-Replayed": "`true` where this is the stored result of an earlier request." },
    },
    problems: ["bad-request", "invalid-operation-id", "operation-idempotency-conflict", "transaction-contended"],
    example: { cases: [{ case_id: exampleId, case_version: 1 }], disposition: "FALSE_POSITIVE" },
    handle: closeMany,
  }),
];
