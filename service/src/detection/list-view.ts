import type { ListFacts, ListType } from "../domain/list.ts";

// A tenant's lists, seen from one event. Rules look values up in it.
export type ListView = {
  // The tenant's lists_revision.
  revision: number;
  // The lists that contain a value of the event itself.
  hits: readonly ListFacts[];
  // The names of these lists, and of those in which a rule found something.
  names: Set<string>;
  // Looks up the event's own value of the list's type.
  hasOwn: (name: string, subject: ListSubject) => boolean;
  // Looks up a value that a rule gives, such as an attribute.
  has: (name: string, value: string) => boolean;
};

// The event's own values by the names that rules use. They are only looked up in lists, and never stored with a decision.
export const listSubjects = {
  "event.website_account_id": ["account"],
  "event.device_id": ["device"],
  "event.ip": ["ip"],
  "event.country": ["country"],
  "event.asn": ["asn"],
  "event.email": ["email", "email_domain"],
  "event.payee_id": ["payee"],
  "event.instrument": ["instrument"],
  "event.user_agent": ["user_agent"],
} as const satisfies Record<string, readonly ListType[]>;
export type ListSubject = keyof typeof listSubjects;

export function isListSubject(name: string): name is ListSubject {
  return Object.hasOwn(listSubjects, name);
}

// Whether the subject may be looked up in a list of the type. A list of texts may hold anything.
export function isSubjectOf(subject: ListSubject, type: ListType): boolean {
  const types: readonly ListType[] = listSubjects[subject];
  return type === "text" || types.includes(type);
}

const listRead = "lists.";

// The name under which a rule's lookup counts among the fields that it reads.
export function readOfList(name: string): string {
  return `${listRead}${name}`;
}

// Returns the list's name, or null if the rule read a field.
export function listOfRead(read: string): string | null {
  return read.startsWith(listRead) ? read.slice(listRead.length) : null;
}
