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
export type AttackKind = (typeof attackKinds)[number];

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
export type Delivery = BrowserRequest | ServerBatch | TruthNote;

export function eventsIn(delivery: Delivery): number {
  if (delivery.kind === "truth") return 0;
  return delivery.kind === "browser" ? delivery.events : delivery.activities.length;
}
