import { Type, type Static } from "typebox";
import { Time, Uuid, idCharactersMax } from "./field.ts";
import { notBefore } from "./text.ts";

export const unknownAccount = "UNKNOWN";

const flags = {
  is_blocked: Type.Boolean(),
  is_quarantined: Type.Boolean(),
  is_fraudulent: Type.Boolean(),
};
const crmId = { maxLength: 1024 };

// Ids that cannot be part of a path, or that stand for "no account".
const reservedIds = new Set([unknownAccount, ".", ".."]);
const pseudonymForm = "erased-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const pseudonym = new RegExp(`^${pseudonymForm}$`);

export const AccountId = Type.String({
  minLength: 1,
  maxLength: idCharactersMax,
  not: { pattern: `^(${unknownAccount}|\\.{1,2}|${pseudonymForm})$` },
  description:
    "The account's identifier on the website. `UNKNOWN`, `.`, `..` and pseudonyms of erased accounts (`erased-<uuid>`) are reserved.",
});

export const Account = Type.Object(
  {
    tenant_id: Uuid,
    website_account_id: Type.String(),
    crm_account_id: Type.Optional(Type.String(crmId)),
    ...flags,
    last_session_updated_on: Type.Optional(Time),
    first_activity_at: Type.Optional({
      ...Time,
      description:
        "When the account was first active, imported history included. Absent if there was no activity, or if it is not known yet.",
    }),
    created_at: { ...Time, description: "Since when the service knows the account." },
    updated_at: Time,
  },
  { additionalProperties: false, $id: "EndUserAccount" },
);
export type Account = Static<typeof Account>;

export const AccountChange = Type.Object(
  {
    is_blocked: Type.Optional(flags.is_blocked),
    is_quarantined: Type.Optional(flags.is_quarantined),
    is_fraudulent: Type.Optional(flags.is_fraudulent),
    crm_account_id: Type.Optional(
      Type.Union([Type.String(crmId), Type.Null()], { description: "null unlinks the account from the CRM." }),
    ),
  },
  { additionalProperties: false, $id: "EndUserAccountChange" },
);
export type AccountChange = Static<typeof AccountChange>;

// The flags alone, as a close can set them.
export const AccountFlags = Type.Object(
  {
    is_blocked: Type.Optional(flags.is_blocked),
    is_quarantined: Type.Optional(flags.is_quarantined),
    is_fraudulent: Type.Optional(flags.is_fraudulent),
  },
  {
    additionalProperties: false,
    description:
      "Flags of the case's account that are set in the same transaction as the close. Requires the scope `update:enduseraccount`.",
  },
);

export const NewAccount = Type.Object(
  { website_account_id: AccountId, ...AccountChange.properties },
  { additionalProperties: false, $id: "NewEndUserAccount" },
);
export type NewAccount = Static<typeof NewAccount>;

export function isReservedAccountId(id: string): boolean {
  return reservedIds.has(id);
}

// The pseudonym that replaces an erased account in its cases and events. No account may have such an id.
export function pseudonymOf(uuid: string): string {
  return `erased-${uuid}`;
}

export function isPseudonym(id: string): boolean {
  return pseudonym.test(id);
}

export function newAccount(tenantId: string, given: NewAccount, now: string): Account {
  const account: Account = {
    tenant_id: tenantId,
    website_account_id: given.website_account_id,
    is_blocked: given.is_blocked ?? false,
    is_quarantined: given.is_quarantined ?? false,
    is_fraudulent: given.is_fraudulent ?? false,
    created_at: now,
    updated_at: now,
  };
  if (typeof given.crm_account_id === "string") account.crm_account_id = given.crm_account_id;
  return account;
}

// Returns the account after the change, or the same object if nothing differs.
export function changeAccount(account: Account, change: AccountChange, now: string): Account {
  const { crm_account_id: crm, ...flagChange } = change;
  const next: Account = { ...account, ...flagChange };
  if (crm === null) delete next.crm_account_id;
  if (typeof crm === "string") next.crm_account_id = crm;
  const isSame =
    next.is_blocked === account.is_blocked &&
    next.is_quarantined === account.is_quarantined &&
    next.is_fraudulent === account.is_fraudulent &&
    next.crm_account_id === account.crm_account_id;
  return isSame ? account : { ...next, updated_at: notBefore(account.updated_at, now) };
}
