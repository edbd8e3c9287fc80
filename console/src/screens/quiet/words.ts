import type { Snooze } from "@casehound/client";

const kinds: Record<string, string> = {
  account: "Account",
  device: "Device",
  ip: "Address",
  network: "Network",
  payee: "Payee",
};

const scopes: Record<Snooze["scope"], string> = {
  account: "",
  device: "on the device",
  address: "from the address",
  payee: "paying",
};

const endings: Record<NonNullable<Snooze["ended_because"]>, string> = {
  expired: "Expired",
  stronger_evidence: "Ended by stronger evidence",
  reported: "Ended by a fraud report",
  confirmed_fraud: "Ended by confirmed fraud",
  reopened: "Case reopened",
  by_hand: "Ended",
};

// "Account anna on the device phone-1"
export function subjectWords({ subject, scope, value }: Pick<Snooze, "subject" | "scope" | "value">): string {
  const at = subject.indexOf(":");
  const kind = kinds[subject.slice(0, at)] ?? subject.slice(0, at);
  const about = `${kind} ${subject.slice(at + 1)}`;
  return value === undefined ? about : `${about} ${scopes[scope]} ${value}`;
}

export function endingWords({ ended_because = "expired", ended_by }: Pick<Snooze, "ended_because" | "ended_by">): string {
  return ended_because === "by_hand" || ended_because === "reopened"
    ? `${endings[ended_because]} by ${ended_by ?? ""}`
    : endings[ended_because];
}
