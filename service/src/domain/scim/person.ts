import { isEmail, normalEmail, plainName } from "../user.ts";
import type { TargetPath } from "./filter.ts";
import { entriesOf, matches, memberOf } from "./matching.ts";
import { readBoolean, readMembers, readText, scimFault, type Change } from "./patch.ts";

const textMax = 256;
const externalIdMax = 512;

// What a directory says about a person.
export type Profile = {
  user_name: string;
  external_id: string | null;
  given_name: string | null;
  family_name: string | null;
  formatted_name: string | null;
  display_name: string | null;
};

// `email`: null until the directory has named one.
export type PersonDraft = Profile & { email: string | null; active: boolean };

const blank = { external_id: null, given_name: null, family_name: null, formatted_name: null, display_name: null };

export function readNewPerson(body: object): PersonDraft {
  return changePerson({ ...blank, user_name: "", email: null, active: true }, readMembers(body));
}

// What a replacement does not name is cleared. But the person stays as active as before, and keeps the e-mail address.
export function replacePerson(before: PersonDraft, body: object): PersonDraft {
  return changePerson({ ...before, ...blank, user_name: "" }, readMembers(body));
}

export function changePerson(before: PersonDraft, changes: Change[]): PersonDraft {
  const draft = changes.reduce((changed, change) => ({ ...changed, ...memberSet(change) }), before);
  if (draft.user_name === "") throw scimFault("invalidValue", "userName is required.");
  return draft;
}

// Unknown attributes, and those that only the service sets, are ignored. So are passwords: people get no password from a
// directory.
function memberSet({ op, path, value: given }: Change): Partial<PersonDraft> {
  const value = op === "remove" ? null : given;
  switch (path.name) {
    case "username":
      return { user_name: readText(value, "userName", textMax) ?? "" };
    case "externalid":
      return { external_id: readText(value, "externalId", externalIdMax) };
    case "displayname":
      return { display_name: readText(value, "displayName", textMax) };
    case "active":
      return { active: readBoolean(value, "active") };
    case "name":
      return namesSet(path, value);
    case "emails":
      return op === "remove" ? {} : emailSet(path, value);
    default:
      return {};
  }
}

const nameMembers = { givenname: "given_name", familyname: "family_name", formatted: "formatted_name" } as const;

function namesSet({ sub }: TargetPath, value: unknown): Partial<PersonDraft> {
  const given = sub === null ? value : { [sub]: value };
  if (given === null) return { given_name: null, family_name: null, formatted_name: null };
  if (typeof given !== "object" || Array.isArray(given)) throw scimFault("invalidValue", "name must be an object.");
  const known = Object.entries(nameMembers).flatMap(([member, column]) => {
    const text = memberOf(given, member);
    return text === undefined ? [] : [[column, readText(text, `name.${member}`, textMax)] as const];
  });
  return Object.fromEntries(known);
}

// A person has one address. It counts as the one for work, so paths for others set nothing.
const ownEntry = { type: "work", primary: true };

function emailSet({ sub, entries }: TargetPath, value: unknown): Partial<PersonDraft> {
  const isOther = (sub !== null && sub !== "value") || (entries !== null && !matches(entries, ownEntry));
  const address = isOther ? null : addressIn(value);
  if (address === null) return {};
  if (!isEmail(address)) throw scimFault("invalidValue", "emails must contain a valid e-mail address.");
  return { email: normalEmail(address) };
}

// The primary address, or else the one for work, or else the first.
function addressIn(value: unknown): string | null {
  const entries = entriesOf(value ?? undefined);
  const primary = entries.find((entry) => ["true", true].includes(lowered(memberOf(entry, "primary"))));
  const work = entries.find((entry) => lowered(memberOf(entry, "type")) === "work");
  const chosen = primary ?? work ?? entries[0];
  return readText(typeof chosen === "string" ? chosen : (memberOf(chosen, "value") ?? null), "emails", textMax);
}

function lowered(value: unknown): string | boolean {
  return typeof value === "string" ? value.toLowerCase() : value === true;
}

// The address of a new person: the one that was named, or the user name if it is one.
export function emailOf({ email, user_name }: PersonDraft): string {
  if (email !== null) return email;
  if (isEmail(user_name)) return normalEmail(user_name);
  throw scimFault("invalidValue", "The person needs an e-mail address, in emails or as userName.");
}

// The name under which colleagues see the person, or null if the directory has sent none.
export function nameOf({ display_name, formatted_name, given_name, family_name }: Profile): string | null {
  const whole = [given_name, family_name].filter((part) => part !== null).join(" ");
  return [display_name, formatted_name, whole].map((text) => plainName(text ?? "")).find((name) => name !== null) ?? null;
}
