import { Type, type Static } from "typebox";
import type { Activity } from "./activity.ts";

const subjectKinds = ["device", "session", "address", "network", "payee", "instrument", "campaign", "activity"] as const;

export const CaseSubject = Type.Object(
  { kind: Type.Enum([...subjectKinds]), id: Type.String() },
  {
    additionalProperties: false,
    $id: "CaseSubject",
    description: "What a case without an account is about. A `campaign` is one attack from many sources.",
  },
);
export type CaseSubject = Static<typeof CaseSubject>;

const kindOf: Record<string, CaseSubject["kind"]> = {
  ...Object.fromEntries(subjectKinds.map((kind) => [kind, kind])),
  ip: "address",
};

// Returns undefined for a case about an account.
export function shownSubject(subject: string): CaseSubject | undefined {
  const [prefix = "", ...name] = subject.split(":");
  const kind = kindOf[prefix];
  return kind && { kind, id: name.join(":") };
}

export function payeeSubject({ payee_id: payee }: Activity): string | null {
  return payee === undefined ? null : `payee:${payee}`;
}

// The provider's fingerprint, or else the first and last digits of the card.
export function instrumentSubject({ instrument }: Pick<Activity, "instrument">): string | null {
  const { fingerprint, bin, last4 } = instrument ?? {};
  if (fingerprint !== undefined) return `instrument:${fingerprint}`;
  return bin !== undefined && last4 !== undefined ? `instrument:${bin} ${last4}` : null;
}
