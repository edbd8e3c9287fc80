import { Type, type Static } from "typebox";
import { versionConflict, type FieldError } from "./failure.ts";
import { Time } from "./field.ts";
import { notBefore } from "./text.ts";

// When a close, or the blocking of an account, needs a second person.

export const bulkMinutesDefault = 60;
const amountsMax = 50;
const currencyPattern = "^[A-Z]{3}$";

const AmountLimit = Type.Object(
  {
    currency: Type.String({ pattern: currencyPattern, description: "ISO 4217. `XXX` for payments without a currency." }),
    above: Type.Number({ minimum: 0, maximum: 1e15 }),
  },
  { additionalProperties: false },
);
type AmountLimit = Static<typeof AmountLimit>;

const members = {
  bulk_over: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      description:
        "How many cases somebody may close alone within `bulk_minutes`, one by one, in bulk or as members of an attack. A close that would exceed this needs a second person. Approved closes do not count. If it is absent, there is no limit.",
    }),
  ),
  bulk_minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1440, description: `The period for \`bulk_over\`. Default: ${bulkMinutesDefault}.` }),
  ),
  blocking: Type.Boolean({ description: "Whether blocking an account needs a second person, with or without a close." }),
  amounts: Type.Array(AmountLimit, {
    maxItems: amountsMax,
    description:
      "Closing a case needs a second person if its payments and transfers in a currency add up to more than this. They are counted as in `GET /figures/money`.",
  }),
  includes_clients: Type.Boolean({
    description: "Whether this also applies to clients. Clients cannot request approval, so their change is refused with 403.",
  }),
};
const SettingsVersion = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const ApprovalSettingsChange = Type.Object(
  { ...members, approval_settings_version: { ...SettingsVersion, description: "The version that was read." } },
  { additionalProperties: false, $id: "ApprovalSettingsChange" },
);
export type ApprovalSettingsChange = Static<typeof ApprovalSettingsChange>;

export const ApprovalSettings = Type.Object(
  {
    ...members,
    approval_settings_version: SettingsVersion,
    updated_at: Time,
    updated_by: Type.String({ description: "`system` if nobody has changed them yet." }),
  },
  { additionalProperties: false, $id: "ApprovalSettings" },
);
export type ApprovalSettings = Static<typeof ApprovalSettings>;

export type StoredApprovalSettings = Omit<ApprovalSettings, "approval_settings_version" | "updated_at" | "updated_by">;

export const noApprovalSettings: StoredApprovalSettings = { blocking: false, amounts: [], includes_clients: false };

export function approvalSettingsFaults({ amounts, bulk_over, bulk_minutes }: ApprovalSettingsChange): FieldError[] {
  const currencies = amounts.map(({ currency }) => currency);
  const repeated = currencies.flatMap((currency, index) =>
    currencies.indexOf(currency) < index ? [{ field: `amounts[${index}].currency`, message: "appears more than once" }] : [],
  );
  const isLone = bulk_minutes !== undefined && bulk_over === undefined;
  return isLone ? [...repeated, { field: "bulk_minutes", message: "is only allowed with bulk_over" }] : repeated;
}

// jsonb does not keep the order of members.
export function orderedSettings(given: StoredApprovalSettings): StoredApprovalSettings {
  const { bulk_over, bulk_minutes, blocking, amounts, includes_clients } = given;
  return {
    ...(bulk_over !== undefined && { bulk_over, bulk_minutes: bulk_minutes ?? bulkMinutesDefault }),
    blocking,
    amounts: amounts.map(({ currency, above }): AmountLimit => ({ currency, above })),
    includes_clients,
  };
}

// Returns the next version, or the same settings if nothing differs.
export function changeApprovalSettings(
  found: ApprovalSettings,
  wanted: ApprovalSettingsChange,
  actor: { name: string; now: string },
): ApprovalSettings {
  const { approval_settings_version: current, updated_at, updated_by: _by, ...before } = found;
  if (wanted.approval_settings_version !== current) throw versionConflict("The approval settings", current);
  const settings = orderedSettings(wanted);
  if (JSON.stringify(settings) === JSON.stringify(orderedSettings(before))) return found;
  const changed = {
    approval_settings_version: current + 1,
    updated_at: notBefore(updated_at, actor.now),
    updated_by: actor.name,
  };
  return { ...settings, ...changed };
}

// Whether any change of this caller can need a second person.
export function mayNeedApproval(settings: StoredApprovalSettings, { isPerson }: { isPerson: boolean }): boolean {
  const isOn = settings.bulk_over !== undefined || settings.blocking || settings.amounts.length > 0;
  return isOn && (isPerson || settings.includes_clients);
}

export const approvalReasons = ["bulk", "blocking", "amount"] as const;
export type ApprovalReason = (typeof approvalReasons)[number];

export type Weighed = {
  // How many cases the change closes, members of an attack included, and how many its caller has closed alone in the period.
  closes: number;
  recent: number;
  isBlocking: boolean;
  // The sums of each case.
  money: { currency: string; amount: number }[];
  // Whether there were too many members to look at the payments of each.
  isUncounted: boolean;
};

export function reasonsFor(settings: StoredApprovalSettings, weighed: Weighed): ApprovalReason[] {
  const { closes, recent, isBlocking, money, isUncounted } = weighed;
  const { bulk_over: most, blocking, amounts } = settings;
  const limits = new Map(amounts.map(({ currency, above }) => [currency, above]));
  const isAbove = money.some(({ currency, amount }) => amount > (limits.get(currency) ?? Infinity));
  const applies: Record<ApprovalReason, boolean> = {
    bulk: most !== undefined && closes > 0 && closes + recent > most,
    blocking: blocking && isBlocking,
    amount: isAbove || (isUncounted && amounts.length > 0),
  };
  return approvalReasons.filter((reason) => applies[reason]);
}
