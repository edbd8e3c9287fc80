import { Type, type Static } from "typebox";
import { isAccountSubject, type Activity } from "./activity.ts";
import { siteOf } from "./address.ts";
import type { DomainEvent } from "./event.ts";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import type { Occurrence } from "./finding.ts";

const snoozeScopes = ["account", "device", "address", "payee"] as const;
export type SnoozeScope = (typeof snoozeScopes)[number];

const snoozeDaysMax = 90;
// The most active snoozes that a tenant can have.
export const snoozesMax = 1_000;
// The most devices, addresses or payees that one close can make quiet.
const snoozedValuesMax = 10;
// A snooze covers evidence up to this many times as large as what was judged: the amount of a payment, or the number of accounts
// in an attack.
const growthMax = 2;

export const SnoozeRequest = Type.Object(
  {
    days: Type.Integer({ minimum: 1, maximum: snoozeDaysMax }),
    scope: Type.Enum([...snoozeScopes], {
      description:
        "`account`: all activity of the case's account. `device`, `address`, `payee`: only its activity that names a device, address or payee of the case's evidence. For a case without an account, the scope must be the case's own subject.",
    }),
  },
  {
    additionalProperties: false,
    description:
      "Makes the rules of this case quiet about its subject for some days. Their hits are recorded as shadow hits. The snooze ends early if there is stronger evidence, if other evidence is enough for a case, or if there is a fraud report or a confirmed fraud. Only allowed with the disposition FALSE_POSITIVE.",
  },
);
export type SnoozeRequest = Static<typeof SnoozeRequest>;

const endings = ["expired", "stronger_evidence", "reported", "confirmed_fraud", "reopened", "by_hand"] as const;
export type Ending = (typeof endings)[number];

export const Snooze = Type.Object(
  {
    snooze_id: Uuid,
    case_id: Type.String({ description: "The case that was closed as a false positive." }),
    subject: Type.String({
      description: "What the case is about: `account:`, `device:`, `ip:`, `payee:` and so on, followed by an id.",
    }),
    scope: SnoozeRequest.properties.scope,
    value: Type.Optional(
      Type.String({ description: "The device, the address (for IPv6, the /48) or the payee that the activity must also name." }),
    ),
    rules: Type.Array(Type.String(), {
      description: "The ids of the quiet rules. `login.ratio` is an unusual log-in, and `model.<moment>` is a model.",
    }),
    created_at: Time,
    created_by: Type.String(),
    until: Time,
    hits: Type.Integer({ description: "How many activities the quiet rules have matched during the snooze." }),
    kept: Type.Integer({ description: "How many of them would have opened a case or joined one." }),
    last_kept_at: Type.Optional(Time),
    is_active: Type.Boolean(),
    ended_at: Type.Optional(Time),
    ended_by: Type.Optional(Type.String({ description: "`system` if the snooze expired or detection ended it." })),
    ended_because: Type.Optional(Type.Enum([...endings])),
  },
  { additionalProperties: false, $id: "Snooze" },
);
export type Snooze = Static<typeof Snooze>;

// What an engine needs to know about a snooze.
export type Quiet = Pick<Snooze, "snooze_id" | "case_id" | "subject" | "scope" | "rules" | "until"> & {
  value: string | null;
  score: number;
  size: number;
};

// A snooze that a close creates.
export type NewSnooze = Quiet & Pick<Snooze, "created_at" | "created_by">;

type Named = Pick<Activity, "device_id" | "ip" | "payee_id">;

// The address is in the form that the tenant's ip_policy allows to be stored.
export function scopeValue(scope: SnoozeScope, { device_id, ip, payee_id }: Named): string | null {
  if (scope === "device") return device_id ?? null;
  if (scope === "payee") return payee_id ?? null;
  return scope === "address" && ip !== undefined ? siteOf(ip) : null;
}

export function isCovered({ scope, value }: Pick<Quiet, "scope" | "value">, named: Named): boolean {
  return value === null || scopeValue(scope, named) === value;
}

// Whether the evidence goes beyond what was judged.
export function isBeyond({ score, size }: Pick<Quiet, "score" | "size">, found: { score: number; size: number }): boolean {
  return found.score > score || found.size > growthMax * size;
}

// The subjects that each scope itself refers to, by prefix.
const ownSubjects: Record<SnoozeScope, RegExp> = {
  account: /^account:/,
  device: /^device:/,
  address: /^(ip|network):/,
  payee: /^payee:/,
};

export function isOwnScope(subject: string, scope: SnoozeScope): boolean {
  return ownSubjects[scope].test(subject);
}

// The id that stands for an unusual log-in. It cannot be a rule's id, because those contain no dot.
export const ratioId = "login.ratio";

export type Judged = { rules: string[]; score: number };

// Returns the rules, the log-in ratio and the models behind the evidence of a case, and its highest score. Reports cannot be made
// quiet.
export function judgedIn(occurrences: readonly Occurrence[], reportName: string): Judged {
  const rules = new Set<string>();
  let score = 0;
  for (const { explanation, risk_score } of occurrences) {
    const named = (explanation.model_behaviour ?? []).flatMap(({ type, model_name: name }) => {
      if (type === "rule") return name === reportName ? [] : [name];
      if (type === "likelihood_ratio") return [ratioId];
      return [`model.${name.slice(0, name.lastIndexOf("_"))}`];
    });
    for (const id of named) rules.add(id);
    if (named.length > 0) score = Math.max(score, risk_score);
  }
  return { rules: [...rules].toSorted(), score };
}

type Asked = { subject: string; scope: SnoozeScope; judged: Judged; values: string[] };

// Returns why a case cannot be snoozed like this, or null if it can.
export function snoozeFault({ subject, scope, judged, values }: Asked): FieldError | null {
  if (judged.rules.length === 0)
    return { field: "snooze", message: "is not possible, because no rule or model is behind this case" };
  if (isOwnScope(subject, scope)) return null;
  if (scope === "account" || !isAccountSubject(subject))
    return { field: "snooze.scope", message: `must be the subject of the case, which is not ${withArticle(scope)}` };
  if (values.length === 0) return { field: "snooze.scope", message: `cannot be ${scope}, because the evidence names none` };
  if (values.length > snoozedValuesMax)
    return { field: "snooze.scope", message: `cannot be ${scope}, because the evidence names more than ${snoozedValuesMax}` };
  return null;
}

function withArticle(scope: SnoozeScope): string {
  return scope.startsWith("a") ? `an ${scope}` : `a ${scope}`;
}

type EndedNow = { because: Ending; by: string; now: string };

export function snoozeEnded({ snooze_id, case_id }: Pick<Snooze, "snooze_id" | "case_id">, ended: EndedNow): DomainEvent {
  const { because, by, now } = ended;
  const resource = { type: "case" as const, id: case_id };
  return { type: "case.snooze_ended", occurred_at: now, actor: by, resource, data: { snooze_id, because } };
}
