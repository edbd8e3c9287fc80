import type { Activity } from "@casehound/client";

export const attackKinds = [
  "takeover_naive",
  "takeover_vpn",
  "takeover_targeted",
  "takeover_very_targeted",
  "stuffing_burst",
  "stuffing_slow",
  "spraying",
  "signup_farm",
  "reset_then_transfer",
  "scripted_bot",
  "headless_bot",
  "friendly_fraud",
] as const;
// Families that need payments with payees and instruments (`payments` in the shop's options).
export const familyKinds = [
  "mule_ring",
  "dormant_mule",
  "dormant_takeover",
  "stolen_instruments",
  "card_testing",
  "promo_abuse",
  "session_hijack",
  "refund_abuse",
] as const;
type FamilyKind = (typeof familyKinds)[number];
export type AttackKind = (typeof attackKinds)[number] | FamilyKind;

// The ground truth, for measuring detection. No part of it is ever sent.
export type SessionTruth = {
  kind: "genuine" | AttackKind;
  // The same for all sessions of one attack.
  attack_id?: string;
  // Absent for a guest's visit, or for a log-in with a name that the shop does not know.
  website_account_id?: string;
  session_id?: string;
  device_id?: string;
  ip: string;
  first_ms: number;
  last_ms: number;
  // The account's successful log-ins that the shop had reported before this session.
  logins_before: number;
  has_login: boolean;
  has_sensitive_change: boolean;
  has_value: boolean;
};

// What the shop later learns about one session of an attack: which activities were fraud, and when that becomes known.
export type FraudTruth = {
  kind: AttackKind;
  attack_id: string;
  website_account_id?: string;
  session_id: string;
  activities: { activity_id: string; type: string; order_id?: string }[];
  // Null if nobody ever reports it.
  known_ms: number | null;
};

// One POST of a browser, exactly as the collector receives it. The path is relative to the service's address.
export type BrowserRequest = {
  kind: "browser";
  at_ms: number;
  path: string;
  headers: Record<string, string>;
  body: string;
  events: number;
};

// One POST of the shop's servers to /v2/{tenant}/activities.
export type ServerBatch = { kind: "server"; at_ms: number; activities: Activity[] };
export type TruthNote = { kind: "truth"; at_ms: number; session: SessionTruth };
// Only in shops that ask for it (`frauds` in the shop's options).
export type FraudNote = { kind: "fraud"; at_ms: number; fraud: FraudTruth };
export type Sent = BrowserRequest | ServerBatch;
export type Delivery = Sent | TruthNote | FraudNote;

// The ground truth is not sent.
export function isSent(delivery: Delivery): delivery is Sent {
  return delivery.kind === "browser" || delivery.kind === "server";
}

export function eventsIn(delivery: Delivery): number {
  if (!isSent(delivery)) return 0;
  return delivery.kind === "browser" ? delivery.events : delivery.activities.length;
}
