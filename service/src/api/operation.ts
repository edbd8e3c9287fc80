import type { Static, TObject, TSchema } from "typebox";
import type { Account, AccountChange } from "../domain/account.ts";
import type { CaseChange } from "../domain/case.ts";
import type { FailureCode, FieldError } from "../domain/failure.ts";
import type { Scope } from "../domain/scope.ts";
import type { AskedAssessment } from "../db/assessments.ts";
import type { StoredCase } from "../db/cases.ts";
import type { TenantDatabase } from "../db/postgres/database.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Inserted, NewActivity } from "../db/inbox.ts";
import type { KeyClaim } from "../db/keys.ts";
import type { BudgetCases } from "./budget-cases.ts";
import type { CursorSeal } from "./http/cursor.ts";
import type { EventFeed, OnLeave } from "./event-feed.ts";
import type { Issuer } from "./tokens/issuer.ts";
import type { Reply } from "./http/problem.ts";
import type { HistoryRoom } from "./history-room.ts";
import type { ServedModels } from "./served-models.ts";

// What handlers use. Time and randomness come from here, so the domain needs neither.
export type Services = {
  // Restricted to the caller's tenant if row-level security is on.
  database: TenantDatabase;
  issuer: Issuer;
  cursors: CursorSeal;
  publicUrl: string;
  findCase: (tenantId: string, caseId: string) => Promise<StoredCase | undefined>;
  findAccount: (tenantId: string, websiteAccountId: string) => Promise<Account | undefined>;
  // These two resolve to null if the update must be tried alone.
  closeTogether: (tenantId: string, update: CaseUpdate) => Promise<Reply | null>;
  updateTogether: (tenantId: string, update: AccountUpdate) => Promise<Reply | null>;
  // The activities are durable when this resolves.
  acceptTogether: (tenantId: string, activities: NewActivity[]) => Promise<Inserted>;
  // Stores the activity and answers by the deadline.
  assess: (tenantId: string, asked: AskedAssessment) => Promise<{ reply: string; isReplay: boolean }>;
  now: () => string;
  newId: (at?: string) => string;
  // Writes an audit line to the log. It must never contain a secret.
  audit: Audit;
  feed: EventFeed;
  webhooks: { isPrivateAllowed: boolean };
  // Null if the operator has not set up e-mail.
  mailer: Mailer | null;
  // For tenants that have no retention of their own.
  retentionDays: number;
  servedModels: ServedModels;
  historyRoom: HistoryRoom;
  budgetCases: BudgetCases;
};

export type Audit = (what: string, about: Record<string, unknown>) => void;

export type LongPoll = {
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  // Also called if the caller has only closed its half of the connection, because it may have left.
  onLeave: OnLeave;
};

export type Caller = {
  tenant_id: string;
  slug: string;
  actor: string;
  scopes: ReadonlySet<string>;
  // Set if a person calls, identified by a session cookie.
  person?: { user_id: string; role: string };
  // Set if a directory calls with its own token.
  scim?: { adoptsPeople: boolean };
};

// One caller's change to one case.
export type CaseUpdate = { caller: Caller; id: string; change: CaseChange; claim: KeyClaim };

// One caller's change to one account.
export type AccountUpdate = { caller: Caller; id: string; change: AccountChange; now: string };

export type Call<B = unknown, Q = Record<string, unknown>> = {
  caller: Caller;
  params: Record<string, string>;
  query: Q;
  body: B;
  // The Idempotency-Key, for operations that require one.
  key: string;
  // For operations that keep sending after the response has begun.
  visit?: StreamRequest;
  // For long polls.
  hold?: LongPoll;
};

// `isStillAllowed` checks again, because a token may be revoked while its reader stays connected.
export type StreamRequest = { lastEventId: string | undefined; expiresAtMs: number; isStillAllowed: () => Promise<boolean> };

export type Operation<B extends TSchema = TSchema, Q extends TObject = TObject> = {
  id: string;
  method: "GET" | "PUT" | "POST" | "PATCH" | "DELETE";
  // Relative to /v2/{tenant_slug}.
  path: string;
  scope: Scope;
  // A second scope that the operation also requires.
  furtherScope?: Scope;
  summary: string;
  description?: string;
  tag: string;
  query?: Q;
  body?: B;
  // Checks that a schema cannot express. They run on any object, whether or not it matches its schema.
  faults?: (body: Static<B>) => FieldError[];
  bodyBytesMax?: number;
  isBodyOptional?: boolean;
  wantsKey?: boolean;
  // If this member is missing, the response is 428 instead of 422.
  precondition?: "case_version";
  // Holds the request until something happens. A waiting request occupies one of the places for event readers, but no turn. It
  // takes a turn only while it reads.
  isLongPoll?: boolean;
  // The operation has its own deadline, so it does not wait behind the caller's other requests.
  hasDeadline?: boolean;
  // Answers with server-sent events instead of JSON.
  isStream?: boolean;
  // Speaks SCIM: another media type, no `data` around the resource, and errors that SCIM clients can read.
  isScim?: boolean;
  success: { status: number; schema?: TSchema; description: string; headers?: Record<string, string> };
  // Problems that are specific to this operation. The OpenAPI document adds those that every operation can return.
  problems: FailureCode[];
  example?: Static<B>;
  handle: (services: Services, call: Call<Static<B>, Static<Q>>) => Promise<Reply>;
};

// Keeps the types of body and query for the handler, and returns the common type that the table holds.
export function operation<B extends TSchema, Q extends TObject>(defined: Operation<B, Q>): Operation {
  return defined;
}

// The scopes that an operation requires.
export function scopesOf({ scope, furtherScope }: Pick<Operation, "scope" | "furtherScope">): Scope[] {
  return furtherScope === undefined ? [scope] : [scope, furtherScope];
}

export const jsonMediaType = "application/json";

export function dataReply(data: unknown, status = 200): Reply {
  return { status, body: `{"data":${JSON.stringify(data)}}`, headers: { "content-type": jsonMediaType } };
}
