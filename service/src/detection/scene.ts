import type { RecordedActivity } from "../domain/activity.ts";
import type { AccountFacts, DeviceFacts, Entity, SessionFacts } from "./entity.ts";
import type { LoginShares } from "./login-ratio.ts";

// An activity with what its address, user agent and e-mail say.
export type EnrichedActivity = {
  activity: RecordedActivity;
  // Its time as detection counts it: no later than a tolerance after it was received.
  at: number;
  country: string;
  asn: number;
  lat: number | null;
  lon: number | null;
  // The autonomous system, else the block of the address; empty without an address.
  network: string;
  browser: string;
  os: string;
  isBotAgent: boolean;
  isDisposableEmail: boolean;
  value: number;
};

// Everything that is known when one activity is scored. The entities are changed by scoring, so that the next one sees them.
export type Scene = {
  event: EnrichedActivity;
  account: (Entity<AccountFacts> & { flags: AccountFlags; confirmed: number; falsePositives: number }) | null;
  device: (Entity<DeviceFacts> & { confirmed: number; confirmedRecently: number }) | null;
  ip: Entity<null> | null;
  network: Entity<null> | null;
  session: SessionFacts | null;
  // Whether the account was never before active on the device.
  isNewPair: boolean;
  tenantHasBrowser: boolean;
  shares: LoginShares;
};
export type AccountFlags = { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean };

export const kindBits = { login: 1, failed: 2, signup: 4, sensitive: 8, value: 16, browser: 32, other: 64 } as const;

const sensitiveTypes = new Set(["password_changed", "email_changed", "mfa_changed", "payee_added"]);
const valueTypes = new Set(["payment", "transfer"]);

export function isSensitive(type: string): boolean {
  return sensitiveTypes.has(type);
}

export function isValue(type: string): boolean {
  return valueTypes.has(type);
}

export function kindOf({ type, origin }: RecordedActivity): number {
  const origin32 = origin === "browser" ? kindBits.browser : 0;
  if (type === "login_succeeded") return kindBits.login | origin32;
  if (type === "login_failed") return kindBits.failed | origin32;
  if (type === "signup") return kindBits.signup | origin32;
  if (isSensitive(type)) return kindBits.sensitive | origin32;
  if (isValue(type)) return kindBits.value | origin32;
  return kindBits.other | origin32;
}
