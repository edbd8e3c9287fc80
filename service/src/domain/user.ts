import { Type, type Static } from "typebox";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { characters, firstCharacters, isStorable } from "./text.ts";
import { RoleName } from "./role.ts";

export const usersMax = 1000;
export const passwordCharacters = { min: 12, max: 256 };

const minuteMs = 60 * 1000;
const dayMs = 24 * 60 * minuteMs;

const linkPurposes = ["set-up", "invitation", "password-reset"] as const;
export type LinkPurpose = (typeof linkPurposes)[number];
export const linkLifeMs: Record<LinkPurpose, number> = {
  "set-up": 15 * minuteMs,
  invitation: 7 * dayMs,
  "password-reset": dayMs,
};

export const sessionLimits = { idleMs: dayMs / 2, wholeMs: 7 * dayMs, perUserMax: 20 };

// How wrong passwords are slowed down. Within the window, `free` failures cause no wait. After them the wait for the next attempt
// is 1 s and doubles with each failure, up to `waitSecondsMax`. Nobody is locked out for longer than that.
export const attemptWindowMs = 15 * minuteMs;
export const attemptLimits = {
  // One account from one address: about 12 failures per window in the long run, so one address alone never reaches the account's
  // limit.
  pair: { free: 5, waitSecondsMax: 300 },
  // One account, from an address from which its owner has signed in before.
  usualAddress: { free: 5, waitSecondsMax: 300 },
  // One account, from all browsers and addresses that have not signed in to it before.
  account: { free: 30, waitSecondsMax: 60 },
  // One address, for all accounts that it tries.
  address: { free: 30, waitSecondsMax: 60 },
  // One IPv6 /48, for all accounts that its networks try.
  site: { free: 90, waitSecondsMax: 60 },
  // One account, from a browser that has signed in to it before.
  device: { free: 10, waitSecondsMax: 60 },
  // A person who is signed in and is changing the password.
  signedIn: { free: 5, waitSecondsMax: 300 },
  // Codes of a second factor after the right password. About 1,200 tries a day for one person, each with a chance of 3 in a million.
  code: { free: 5, waitSecondsMax: 300 },
  // The same, from a browser that has signed in before.
  deviceCode: { free: 10, waitSecondsMax: 300 },
  // The same, from all browsers that have signed in before. Somebody who knew the password before the second factor was added may
  // have signed in with many.
  deviceCodes: { free: 30, waitSecondsMax: 300 },
};
export type AttemptKind = keyof typeof attemptLimits;

export const usualAddressesMax = 5;

// Invisible characters: control and format characters, and those that change the direction of text or are not drawn, as listed by
// Unicode. The blank Braille pattern is added, because Unicode does not list it.
const unseen = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800";

const emailCharactersMax = 254;
const inEmail = `[^\\s@<>,;:"()${unseen}]+`;
const emailPattern = `^${inEmail}@${inEmail}$`;
export const Email = Type.String({
  minLength: 3,
  maxLength: emailCharactersMax,
  pattern: emailPattern,
  description: "Stored in lower case. Unique in the tenant.",
  examples: ["ada@shop.example"],
});

// No angle brackets, because the audit trail puts the e-mail address in them. No characters that reorder or hide text.
const nameCharactersMax = 100;
export const PersonName = Type.String({
  minLength: 1,
  maxLength: nameCharactersMax,
  pattern: `^[^\\s<>${unseen}]([^<>${unseen}]*[^\\s<>${unseen}])?$`,
  examples: ["Ada Lovelace"],
});

const notInNames = new RegExp(`[<>${unseen}]+`, "gu");

// Makes a name from another system's text, or returns null if nothing usable is left.
export function plainName(text: string): string | null {
  const plain = firstCharacters(text.toWellFormed().replaceAll(notInNames, " ").trim(), nameCharactersMax).trim();
  return plain === "" ? null : plain;
}

// Whether the text can be a person's e-mail address.
export function isEmail(text: string): boolean {
  return new RegExp(emailPattern, "u").test(text) && emailFaults(text).length === 0 && isStorable(text);
}

export const Password = Type.String({
  minLength: passwordCharacters.min,
  maxLength: passwordCharacters.max,
  pattern: `[^\\s${unseen}]`,
});

export const User = Type.Object(
  {
    user_id: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: RoleName,
    is_disabled: Type.Boolean(),
    has_password: Type.Boolean({ description: "False until the person has used the invitation." }),
    has_external_sign_in: Type.Boolean({ description: "Whether the person has signed in through the external issuer." }),
    has_second_factor: Type.Boolean({ description: "Whether signing in with the password also needs a second factor." }),
    is_provisioned: Type.Boolean({ description: "Whether a directory manages the person over SCIM." }),
    created_at: Time,
    last_sign_in_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "User" },
);
export type User = Static<typeof User>;

export const NewUser = Type.Object(
  { email: Email, name: PersonName, role: RoleName },
  { additionalProperties: false, $id: "NewUser" },
);
export type NewUser = Static<typeof NewUser>;

export const UserChange = Type.Object(
  { name: Type.Optional(PersonName), role: Type.Optional(RoleName), is_disabled: Type.Optional(Type.Boolean()) },
  { additionalProperties: false, $id: "UserChange" },
);
export type UserChange = Static<typeof UserChange>;

export const UserLink = Type.Object(
  {
    purpose: Type.Enum([...linkPurposes]),
    url: Type.String({ description: "Only for this person. It works once. The service stores only a hash." }),
    expires_at: Time,
  },
  { additionalProperties: false, $id: "UserLink" },
);
export type UserLink = Static<typeof UserLink>;

// Gives each e-mail address one spelling. The excluded letters are not ASCII but would become ASCII: the Kelvin sign must not
// turn into a plain k.
export function normalEmail(email: string): string {
  return email.replaceAll(/[^\u0130\u037e\u1fef\u212a]+/g, (part) => part.toLowerCase().normalize("NFC"));
}

// Checks what the schema cannot: the normalized e-mail address may be longer than the one that was sent.
export function emailFaults(email: unknown): FieldError[] {
  if (typeof email !== "string" || characters(normalEmail(email)) <= emailCharactersMax) return [];
  return [{ field: "email", message: `must have at most ${emailCharactersMax} characters in the form in which it is stored` }];
}

// The person's name in `changed_by` and in events. The space distinguishes it from every client id and from `system`.
export function actorOf({ name, email }: { name: string; email: string }): string {
  return `${name} <${email}>`;
}

// Whether the user can sign in and assign roles.
export function isActiveAdmin({ role, is_disabled, has_password, has_external_sign_in }: User): boolean {
  return role === "admin" && !is_disabled && (has_password || has_external_sign_in);
}

// Returns the user after the change, or the same object if nothing differs.
export function changeUser(user: User, change: UserChange): User {
  const changed = { ...user, ...change };
  return JSON.stringify(changed) === JSON.stringify(user) ? user : changed;
}

// Returns null if somebody is left who can assign roles, or if nobody could before.
export function lastAdminFault(before: User, after: User, activeAdmins: number): FieldError | null {
  if (!isActiveAdmin(before) || isActiveAdmin(after) || activeAdmins > 1) return null;
  return {
    field: after.is_disabled ? "is_disabled" : "role",
    message: "must stay as it is: this is the tenant's last active admin",
  };
}

export type Person = { tenant_id: string; slug: string; user_id: string; email: string; name: string; role: string };
