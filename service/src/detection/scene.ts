import type { Payment, RecordedActivity } from "../domain/activity.ts";
import type { Source } from "../domain/source.ts";
import type { AccountFacts, AddressFacts, DeviceFacts, Entity, SessionFacts, SharedFacts, ValueFacts } from "./entity.ts";
import type { LoginShares } from "./login-ratio.ts";
import { claimBit } from "./ring.ts";

// An activity with what is derived from its address, user agent and e-mail.
export type EnrichedActivity = {
  // Its website_account_id is set only if the activity counts for that account.
  activity: RecordedActivity;
  source: Source;
  // The account that an unverified page named. Unless the tenant uses only the snippet, the activity then has no
  // website_account_id and belongs to its source.
  claimed?: string;
  // The kind of the page's source, if that names more accounts than its history explains.
  crowd?: "device" | "ip" | "block";
  // The event time that detection uses: at most a tolerance later than the time of receipt.
  at: number;
  country: string;
  asn: number;
  lat: number | null;
  lon: number | null;
  // The autonomous system or, if unknown, the block of the address. Empty without an address.
  network: string;
  browser: string;
  os: string;
  isBotAgent: boolean;
  isDisposableEmail: boolean;
  value: number;
};

// Everything that is known when one activity is scored. Scoring changes the entities, so the next activity sees the result.
export type Scene = {
  event: EnrichedActivity;
  account: (Entity<AccountFacts> & { flags: AccountFlags; confirmed: number; falsePositives: number }) | null;
  device: (Entity<DeviceFacts> & { confirmed: number; confirmedRecently: number }) | null;
  ip: Entity<AddressFacts> | null;
  // The sign-ups of the IPv6 /48, if the activity is one of them.
  signups: Entity<AddressFacts> | null;
  network: Entity<AddressFacts> | null;
  // The block of addresses, if an unverified page named an account.
  block: Entity<AddressFacts> | null;
  session: SessionFacts | null;
  // What a payment names, and all payments of the tenant. Null if the activity is no payment.
  payment: { payee: Entity<SharedFacts> | null; instrument: Entity<SharedFacts> | null; totals: ValueFacts } | null;
  // All log-ins of the tenant. Null if the activity is no log-in that a server reported.
  logins: ValueFacts | null;
  // What a sign-up or a log-in shares with those of other accounts, if a server reported it.
  mailbox: Entity<SharedFacts> | null;
  look: Entity<SharedFacts> | null;
  subnet: Entity<SharedFacts> | null;
  // Whether the account was never active on the device before.
  isNewPair: boolean;
  tenantHasBrowser: boolean;
  // The kinds of activity that the tenant's servers report (a set of bits). A page's report of the same kind is only a
  // repetition.
  serverTells: number;
  shares: LoginShares;
  // The tenant's key, with which names are hashed in rings.
  ringKey: string;
  // The tenant's time zone, an IANA name.
  timeZone: string;
};
export type AccountFlags = { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean };

// `claim` marks events of unverified pages. Activity from servers and verified sessions is never counted together with them.
export const kindBits = {
  login: 1,
  failed: 2,
  signup: 4,
  sensitive: 8,
  value: 16,
  browser: 32,
  other: 64,
  claim: claimBit,
} as const;

const sensitiveTypes = new Set(["password_changed", "email_changed", "mfa_changed", "payee_added"]);
const valueTypes = new Set(["payment", "transfer"]);

export function isSensitive(type: string): boolean {
  return sensitiveTypes.has(type);
}

export function isValue(type: string): boolean {
  return valueTypes.has(type);
}

// Whether a server reported a payment with the members for payments, such as `payee_id`. A payment with only an amount among its
// attributes is scored as it was before those members existed.
export function isPayment({ activity, source }: { activity: Pick<RecordedActivity, "type"> & Payment; source: Source }): boolean {
  const { type, amount, currency, payee_id, order_id, instrument, status } = activity;
  const isGiven = (amount ?? currency ?? payee_id ?? order_id ?? instrument ?? status) !== undefined;
  return isGiven && source === "server" && isValue(type);
}

// Whether a server reported that somebody signed up or got in. Anybody can cause a failed log-in.
export function isEntry({ activity: { type }, source }: EnrichedActivity): boolean {
  return source === "server" && (type === "signup" || type === "login_succeeded");
}

// Whether the session belongs to the account that the activity names. Anybody can cause a failed log-in to any account, and some
// of a site's own activities, such as a request for a new password. A report names a session of the account, because the site's
// own people look it up.
export function isOfItsAccount({ type, origin }: RecordedActivity): boolean {
  return type !== "login_failed" && !(origin === "server" && type.startsWith("custom:"));
}

// Whether the account was active on the activity's device and address. A report may come from the site's own people.
export function isOfItsSource(activity: RecordedActivity): boolean {
  return activity.type !== "fraud_report" && isOfItsAccount(activity);
}

// Whether the activity ties its account to its session and device, because its sender was signed in.
export function isTie(activity: RecordedActivity): boolean {
  return activity.origin === "server" && activity.website_account_id !== undefined && isOfItsSource(activity);
}

// The time from which something is known. A page can choose the time of its event, also in a verified session, but not the time of
// receipt. Otherwise somebody could make a new device look old, or claim to have used it before a fraud was known there.
export function believedTime({ activity, at }: EnrichedActivity): number {
  return activity.origin === "browser" ? Date.parse(activity.received_at) : at;
}

export function kindOf(type: string): number {
  if (type === "login_succeeded") return kindBits.login;
  if (type === "login_failed") return kindBits.failed;
  if (type === "signup") return kindBits.signup;
  if (isSensitive(type)) return kindBits.sensitive;
  return isValue(type) ? kindBits.value : kindBits.other;
}
