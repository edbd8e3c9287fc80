import { findCaseVersion } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import { countClaimsOf, deleteClaim, findClaim, lockClaim, saveClaim } from "../db/leases.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { contended } from "../db/postgres/faults.ts";
import { CaseClaim, ClaimRequest, claimCase, claimEvent, claimsMax, heldBy, leaseMinutes, type Claim } from "../domain/claim.ts";
import { notFound } from "../domain/failure.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

type ClaimedCase = { case_id: string; case_version: number };

async function requireCase(database: Queryable, { caller, params }: Call): Promise<ClaimedCase> {
  const id = params["case_id"] ?? "";
  const case_version = await findCaseVersion(database, caller.tenant_id, id);
  if (case_version === undefined) throw notFound("Case", id);
  return { case_id: id, case_version };
}

function claimReply(caseId: string, claim: Claim | undefined): Reply {
  return dataReply({ case_id: caseId, ...(claim && { claim }) });
}

async function read(services: Services, call: Call): Promise<Reply> {
  const { case_id } = await requireCase(services.database, call);
  return claimReply(case_id, await findClaim(services.database, call.caller.tenant_id, case_id));
}

// Locks the claim and not the case, so that a claim never delays a change to the case.
function claim(services: Services, call: Call<ClaimRequest>): Promise<Reply> {
  const { caller, body } = call;
  const { tenant_id: tenantId, actor: by } = caller;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    const found = await requireCase(tx, call);
    const { case_id } = found;
    const held = await lockClaim(tx, tenantId, case_id);
    const claimed = claimCase(case_id, held, { by, now, ...body });
    const isNew = held?.claimed_by !== by;
    if (isNew && (await countClaimsOf(tx, tenantId, by)) >= claimsMax) throw tooMany();
    if (!(await saveClaim(tx, tenantId, { case_id, claim: claimed, isTakeover: body.take_over ?? false }))) {
      const other = await findClaim(tx, tenantId, case_id);
      throw other ? heldBy(case_id, other) : contended();
    }
    // Renewing a lease is not an event: a person at work renews it every few minutes.
    if (isNew) await appendEvents(tx, tenantId, [claimEvent("case.claimed", found, { by, now, from: held?.claimed_by })]);
    return claimReply(case_id, claimed);
  });
}

function tooMany() {
  return invalid([
    { field: "case_id", message: `must not be claimed: you have claimed ${claimsMax} cases, which is the maximum` },
  ]);
}

// A page that is left late must not end the claim of a colleague, so another holder's claim stays.
function release(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId, actor: by } = call.caller;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    const found = await requireCase(tx, call);
    const wasHeld = await deleteClaim(tx, tenantId, { case_id: found.case_id, holder: by });
    if (wasHeld) await appendEvents(tx, tenantId, [claimEvent("case.released", found, { by, now })]);
    return { status: 204, body: "", headers: {} };
  });
}

const common = { path: "/cases/{case_id}/claim", tag: "Cases" } as const;

export const claimOperations: Operation[] = [
  operation({
    ...common,
    id: "getCaseClaim",
    method: "GET",
    scope: "read:case",
    summary: "Read who works on a case",
    description: "The response has no `claim` if nobody has claimed the case.",
    success: { status: 200, description: "The case's claim", schema: CaseClaim },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    ...common,
    id: "claimCase",
    method: "PUT",
    scope: "update:case",
    summary: "Claim a case",
    description: `Tells others that the caller works on the case. A claim lapses after ${leaseMinutes} minutes. Claiming again renews it. If another person or client has claimed the case, the response is 409, unless \`take_over\` is true. A claim prevents nobody from changing the case, and does not change \`case_version\`. Closing the case ends the claim. One person or client can have ${claimsMax} claims.`,
    body: ClaimRequest,
    isBodyOptional: true,
    success: { status: 200, description: "The case's claim", schema: CaseClaim },
    problems: ["bad-request", "item-not-found", "item-already-exists", "transaction-contended"],
    example: { take_over: false },
    handle: claim,
  }),
  operation({
    ...common,
    id: "releaseCase",
    method: "DELETE",
    scope: "update:case",
    summary: "Release a case",
    description: "Ends the caller's claim. If the caller has not claimed the case, this changes nothing.",
    success: { status: 204, description: "The caller has no claim on the case" },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: release,
  }),
];
