import { timeOfChange, type CaseDocument, type Changed } from "./case.ts";
import type { DomainEvent } from "./event.ts";
import { firstCharacters } from "./text.ts";
import type { CaseMembers } from "./member.ts";

export type Erased = { id: string; pseudonym: string };

const longIdCharacters = 100;
const tellingCharacters = 8;
const numberDigits = 10;

// What is left of an id if a text was truncated.
export function beginningOf(id: string): string {
  return firstCharacters(id, longIdCharacters);
}

// Digits, including versions, amounts and dates.
function isNumber(id: string): boolean {
  return /^[\d.,:/ -]+$/.test(id) && id.replace(/\D/g, "").length < numberDigits;
}

function isWord(id: string): boolean {
  return /^\p{L}+$/u.test(id);
}

// A word, a short name or a number does not identify the account by itself: `Mobile` and `x64` are in many user agents, and 42
// may be a count.
export function isTelling(id: string): boolean {
  return id.length >= tellingCharacters && !isWord(id) && !isNumber(id);
}

type Dialect = { alnum: string; escaped: (text: string) => string; isBroad?: boolean };

// A regular expression that finds an id in free text. An identifying id is found wherever no letter or digit adjoins it, also
// inside another id. Others must be a token of their own. A word or a number must be in quotes, because an account's id
// may be a word that our sentences use. A long id may have been truncated, so its beginning is enough.
function patternOf(id: string, { alnum, escaped, isBroad = false }: Dialect): string {
  if (beginningOf(id) !== id) return `${escaped(beginningOf(id))}[^\\s"']*`;
  // Inside JSON, the closing quote has a backslash.
  if (!isBroad && (isNumber(id) || isWord(id))) return `(?<=["'])${escaped(id)}(?=\\\\?["'])`;
  if (isNumber(id)) return `(?<![${alnum}])${escaped(id)}(?![${alnum}])`;
  if (isTelling(id)) return `(?<![${alnum}])${escaped(id)}(?![${alnum}])`;
  return tokenOf(id, { alnum, escaped });
}

// Finds the id only as a token of its own, never as a part of another id.
function tokenOf(id: string, { alnum, escaped }: Dialect): string {
  return `(?<![${alnum}])(?<![${alnum}][-_.@+])${escaped(id)}(?![${alnum}]|[-_.@+][${alnum}])`;
}

// The same pattern for PostgreSQL, optionally for text inside JSON.
export function databasePattern(id: string, { isJson, isBroad = false }: { isJson: boolean; isBroad?: boolean }): string {
  const text = isJson ? JSON.stringify(id).slice(1, -1) : id;
  return patternOf(text, { alnum: "[:alnum:]", escaped: escapeForDatabase, isBroad });
}

// For values that are kept unless they surely name the account. Null if the id does not identify the account by itself.
export function databaseToken(id: string): string | null {
  return isTelling(id) ? tokenOf(id, { alnum: "[:alnum:]", escaped: escapeForDatabase }) : null;
}

function escapeForDatabase(text: string): string {
  return text.replace(/[^\p{L}\p{N}\s]/gu, "\\$&");
}

// Also finds a word or a number that is not in quotes. For data that may be deleted when in doubt.
export function broadPattern(id: string): string {
  return databasePattern(id, { isJson: true, isBroad: true });
}

// Replaces the account's id with the pseudonym throughout the text.
export function withoutId(text: string, { id, pseudonym }: Erased): string {
  const pattern = patternOf(id, {
    alnum: "\\p{L}\\p{N}",
    escaped: (part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"),
  });
  return text.includes(beginningOf(id)) ? text.replaceAll(new RegExp(pattern, "gu"), pseudonym) : text;
}

// The value of a site's own attribute may be the id itself.
function valueWithoutId<T>({ feature, feature_value: value }: { feature: string; feature_value: T }, erased: Erased): T | string {
  if (typeof value !== "string") return value;
  return value === erased.id && feature.startsWith("event.attributes.") ? erased.pseudonym : withoutId(value, erased);
}

function membersWithout(members: CaseMembers, cleanAccount: (id: string) => string): CaseMembers {
  const first = members.first.map((each) => ({ ...each, website_account_id: cleanAccount(each.website_account_id) }));
  return { ...members, first };
}

type Texts = Pick<CaseDocument, "details" | "current_state" | "state_history" | "fraud_occurrences" | "session_id">;

// Returns the case with the id removed from all free text. Enumerated values, such as the status, are left alone, because an
// account may have the id OPEN.
export function caseWithoutId<T extends Texts>(found: T, erased: Erased): T {
  const clean = (text: string) => withoutId(text, erased);
  const ofSession = ({ session_id }: { session_id?: string }) =>
    session_id === undefined ? {} : { session_id: session_id === erased.id ? erased.pseudonym : clean(session_id) };
  const cleanState = (state: Texts["current_state"]) => ({ ...state, reason: clean(state.reason) });
  const occurrences = Object.entries(found.fraud_occurrences).map(([id, each]) => {
    const { explanation } = each;
    const models = explanation.model_behaviour?.map((model) => ({
      ...model,
      top_contributors: model.top_contributors.map((part) => ({ ...part, feature_value: valueWithoutId(part, erased) })),
    }));
    const words = {
      fraud_reason: clean(explanation.fraud_reason),
      fraud_reason_description: clean(explanation.fraud_reason_description),
      model_behaviour: models ?? null,
    };
    return [id, { ...each, ...ofSession(each), explanation: { ...explanation, ...words } }] as const;
  });
  const { claimed_accounts: claimed, subject, members } = found.details;
  const cleanAccount = (id: string) => (id === erased.id ? erased.pseudonym : id);
  return {
    ...found,
    ...ofSession(found),
    current_state: cleanState(found.current_state),
    state_history: found.state_history.map(cleanState),
    details: {
      ...found.details,
      summary: clean(found.details.summary),
      highlights: found.details.highlights.map(clean),
      ...(claimed && { claimed_accounts: claimed.map(cleanAccount) }),
      ...(subject && { subject: { ...subject, id: clean(cleanAccount(subject.id)) } }),
      ...(members && { members: membersWithout(members, cleanAccount) }),
    },
    fraud_occurrences: Object.fromEntries(occurrences),
  };
}

// When the account is erased, the case stays under a pseudonym that leads to nobody.
export function pseudonymiseCase(found: CaseDocument, pseudonym: string, actor: { name: string; now: string }): Changed {
  const at = timeOfChange(found, actor.now);
  const document = {
    ...found,
    website_account_id: pseudonym,
    case_version: found.case_version + 1,
    updated_at: at,
  };
  const event: DomainEvent = {
    type: "case.pseudonymised",
    occurred_at: at,
    actor: actor.name,
    resource: { type: "case", id: document.case_id, version: document.case_version },
  };
  return { document, events: [event] };
}
