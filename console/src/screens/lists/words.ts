import { listKinds, listTypeFacts, type List, type ListPreview } from "@casehound/client";

export type ListKind = List["kind"];
export type ListType = List["type"];

export const kindFacts: Record<ListKind, { name: string; means: string; look: string }> = {
  allow: { name: "Allow", means: "lowers the score to 1, but never hides a fraud report", look: "bg-good-soft text-good" },
  block: { name: "Block", means: "gives score 5 and opens a case", look: "bg-bad-soft text-bad" },
  watch: { name: "Watch", means: "is mentioned in the case", look: "bg-warn-soft text-warn" },
  custom: { name: "Custom", means: "only counts in rules and policies", look: "bg-sunken text-soft" },
};

export const typeNames: Record<ListType, string> = {
  account: "Accounts",
  device: "Devices",
  ip: "Addresses and blocks",
  country: "Countries",
  asn: "Networks (AS numbers)",
  email: "E-mail addresses",
  email_domain: "E-mail domains",
  payee: "Payees",
  instrument: "Payment instruments",
  user_agent: "Parts of user agents",
  text: "Texts, for rules",
};

export const examples: Record<ListType, string> = {
  account: "customer-4711",
  device: "d-8c1f",
  ip: "203.0.113.7 or 203.0.113.0/24",
  country: "DE",
  asn: "64500",
  email: "ann@example.com",
  email_domain: "example.com, with its subdomains",
  payee: "shop-7",
  instrument: "fp_1f2e, or 424242 4242",
  user_agent: "HeadlessChrome",
  text: "gold",
};

// The kinds that a list of the type can have. Every visitor can choose a user agent, and only rules look up texts.
export function kindsOf(type: ListType): ListKind[] {
  return listKinds.filter((each) => (type === "text" ? each === "custom" : !(type === "user_agent" && each === "allow")));
}

export function nounOf(type: ListType): string {
  return listTypeFacts[type].noun;
}

// What a rule writes to look a value up in the list.
export function lookupOf({ name, type }: Pick<List, "name" | "type">): string {
  return `lists.${name}.has(${listTypeFacts[type].field ?? "event.attributes.plan"})`;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });

// Says in one sentence what a value would have hit.
export function hitWords({ activities, accounts, is_complete, from }: ListPreview): string {
  const since = is_complete ? "in the last 30 days" : `since ${day.format(new Date(from))}, as far as could be searched`;
  if (activities === 0) return `It would have hit nothing ${since}.`;
  return `It would have hit ${counted(activities, "activity", "activities")} of ${counted(accounts, "account")} ${since}.`;
}

// What an investigator should know before adding the value.
export function detailWords(preview: ListPreview, kind: ListKind): string[] {
  const { suspicious, cases, confirmed_frauds: frauds, honest, from_pages: pages, activities, is_exact } = preview;
  const all = activities - suspicious;
  return [
    ...(kind === "allow" && suspicious > 0
      ? [`${counted(suspicious, "of them was", "of them were")} suspicious, and would have had score 1.`]
      : []),
    ...(kind === "block" && all > 0
      ? [`${counted(all, "of them was", "of them were")} not suspicious, and would have opened cases.`]
      : []),
    ...(frauds > 0 ? [`${counted(frauds, "is a known fraud", "are known frauds")}.`] : []),
    ...(honest > 0 ? [`${counted(honest, "is known as honest", "are known as honest")}.`] : []),
    ...(cases > 0 ? [`In ${counted(cases, "case")} so far.`] : []),
    ...(pages > 0 ? [`${counted(pages, "was only claimed", "were only claimed")} by a page, which can name anything.`] : []),
    ...(is_exact ? [] : ["Addresses are not stored exactly, so this is an estimate."]),
  ];
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
