import { Type, type Static } from "typebox";
import type { DomainEvent } from "./event.ts";
import { Failure } from "./failure.ts";
import { Time } from "./field.ts";

export const leaseMinutes = 60;
// Claims of one person or client at a time.
export const claimsMax = 100;

const Holder = Type.String({ description: "The person or client that works on the case, as in `changed_by`." });

export const Claim = Type.Object(
  {
    claimed_by: Holder,
    claimed_at: Time,
    expires_at: Type.String({
      ...Time,
      description: `When the claim lapses if it is not renewed, ${leaseMinutes} minutes later.`,
    }),
  },
  { additionalProperties: false, $id: "Claim" },
);
export type Claim = Static<typeof Claim>;

// The claim of one case. The other members are absent if nobody has claimed it.
export const CaseClaim = Type.Object(
  { case_id: Type.String(), claim: Type.Optional(Claim) },
  { additionalProperties: false, $id: "CaseClaim" },
);

export const ClaimRequest = Type.Object(
  {
    take_over: Type.Optional(
      Type.Boolean({ description: "Claims the case even if another person or client has claimed it.", default: false }),
    ),
  },
  { additionalProperties: false, $id: "ClaimRequest" },
);
export type ClaimRequest = Static<typeof ClaimRequest>;

// `held` is the claim that has not lapsed yet. Claiming again renews the lease.
export function claimCase(
  caseId: string,
  held: Claim | undefined,
  { by, now, take_over: isTakeover = false }: { by: string; now: string } & ClaimRequest,
): Claim {
  if (held && held.claimed_by !== by && !isTakeover) throw heldBy(caseId, held);
  const isRenewal = held?.claimed_by === by;
  const expires_at = new Date(Date.parse(now) + leaseMinutes * 60_000).toISOString();
  return { claimed_by: by, claimed_at: isRenewal ? held.claimed_at : now, expires_at };
}

export function heldBy(caseId: string, { claimed_by, expires_at }: Claim): Failure {
  return new Failure(
    "item-already-exists",
    `${claimed_by} has claimed case ${caseId} until ${expires_at}. Send take_over to claim it anyway.`,
  );
}

type Claimed = { case_id: string; case_version: number };

// A claim does not change the case, so the version is the one that the case already has.
export function claimEvent(
  type: "case.claimed" | "case.released",
  { case_id: id, case_version: version }: Claimed,
  { by, now, from }: { by: string; now: string; from?: string | undefined },
): DomainEvent {
  const data = from !== undefined && from !== by && { data: { taken_from: from } };
  return { type, occurred_at: now, actor: by, resource: { type: "case", id, version }, ...data };
}
