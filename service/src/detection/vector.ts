import { fields, zeroOf, type FeatureValue, type Features, type Field } from "./catalogue.ts";
import type { ListView } from "./list-view.ts";

const groups = [
  "event",
  "account",
  "device",
  "ip",
  "network",
  "session",
  "login",
  "tenant",
  "payee",
  "instrument",
  "mailbox",
  "look",
  "block",
] as const;
type Group = (typeof groups)[number];

export type Attributes = Record<string, FeatureValue>;
type Values = Record<string, FeatureValue | Attributes>;
// What a rule reads: every field of the catalogue by group, the event's own attributes, and the tenant's lists if it has any.
export type RuleContext = Record<Group, Values> & { event: { attributes: Attributes }; lists?: ListView };

export type FieldSlot = { name: string; code: string; group: Group; key: string; zero: FeatureValue };

// Sorted by group, then in the order of the fields.
export function placesOf(given: readonly Field[]): FieldSlot[] {
  refuseDuplicates(given.map(({ code }) => code));
  refuseDuplicates(given.map(({ name }) => name));
  return groups.flatMap((group) =>
    given
      .filter(({ name, type }) => name.startsWith(`${group}.`) && type !== "map")
      .map((field) => ({
        name: field.name,
        code: field.code,
        group,
        key: field.name.slice(group.length + 1),
        zero: zeroOf(field),
      })),
  );
}

function refuseDuplicates(given: string[]): void {
  const twice = given.find((each, index) => given.indexOf(each) < index);
  if (twice !== undefined) throw new Error(`the catalogue has two fields with ${twice}`);
}

const places = placesOf(fields);
const placeByName = new Map(places.map((place) => [place.name, place]));
const placeByCode = new Map(places.map((place) => [place.code, place]));

const slotsByGroup = groups.map((group) => ({ group, slots: places.filter((place) => place.group === group) }));

const zerosOf = (group: Group) =>
  Object.fromEntries(places.filter((place) => place.group === group).map(({ key, zero }) => [key, zero]));
const zeros = {
  event: zerosOf("event"),
  account: zerosOf("account"),
  device: zerosOf("device"),
  ip: zerosOf("ip"),
  network: zerosOf("network"),
  session: zerosOf("session"),
  login: zerosOf("login"),
  tenant: zerosOf("tenant"),
  payee: zerosOf("payee"),
  instrument: zerosOf("instrument"),
  mailbox: zerosOf("mailbox"),
  look: zerosOf("look"),
  block: zerosOf("block"),
};

// Most events have none of these, so their zeros are shared until a value is set.
const seldomGroups = ["payee", "instrument", "mailbox", "look", "block"] as const;
type SeldomGroup = (typeof seldomGroups)[number];
for (const group of seldomGroups) Object.freeze(zeros[group]);

// Returns the group's values, to be set.
export function valuesToSet(context: RuleContext, group: SeldomGroup): Values {
  if (context[group] === zeros[group]) context[group] = { ...zeros[group] };
  return context[group];
}

function isSeldom(group: Group): group is SeldomGroup {
  return seldomGroups.some((each) => each === group);
}

export function findPlace(name: string): FieldSlot | undefined {
  return placeByName.get(name);
}

export function findPlaceOf(code: string): FieldSlot | undefined {
  return placeByCode.get(code);
}

// The fields that a model can learn from. A text has no order.
export const numericCodes: readonly string[] = places.filter(({ zero }) => typeof zero !== "string").map(({ code }) => code);

// Runs for every event. Names that the catalogue no longer has are ignored, because stored vectors outlive their fields.
export function contextOf(features: Features, attributes: Attributes): RuleContext {
  const context: RuleContext = {
    event: { ...zeros.event, attributes },
    account: { ...zeros.account },
    device: { ...zeros.device },
    ip: { ...zeros.ip },
    network: { ...zeros.network },
    session: { ...zeros.session },
    login: { ...zeros.login },
    tenant: { ...zeros.tenant },
    payee: zeros.payee,
    instrument: zeros.instrument,
    mailbox: zeros.mailbox,
    look: zeros.look,
    block: zeros.block,
  };
  for (const name of Object.keys(features)) {
    const place = placeByName.get(name);
    const value = features[name];
    if (!place || value === undefined) continue;
    const values = isSeldom(place.group) ? valuesToSet(context, place.group) : context[place.group];
    values[place.key] = value;
  }
  return context;
}

const codeCharacters = 2;
// Characters that would end a value, or the JSON text around it.
const notPlain = /[^ -~]|[%,"\\]/;

// The parts of the text that is being packed. A text that grows by concatenation is a tree of small objects, and the garbage
// collector would copy the trees of a whole batch again and again.
const ones: string[] = [];
const others: string[] = [];

// The form stored with a decision: first the codes of all values that are 1 or true, which most are, then for each other value a
// comma, its code and the value. As JSON with names it would be two thirds of an activity's bytes.
export function packed(context: RuleContext): string {
  ones.length = 0;
  others.length = 0;
  for (const { group, slots } of slotsByGroup) {
    if (context[group] === zeros[group]) continue;
    // A group is a copy of its zeros, so its values are in the order of the slots. Reading them by name takes more than twice as
    // long.
    const values = Object.values(context[group]);
    for (let index = 0; index < slots.length; index++) {
      const value = values[index];
      const { code, zero } = slots[index] as FieldSlot;
      if (value === undefined || value === zero || typeof value === "object") continue;
      if (value === 1 || value === true) ones.push(code);
      else if (typeof value !== "string") others.push(code + Number(value));
      else others.push(code + (notPlain.test(value) ? encodeURIComponent(value.toWellFormed()) : value));
    }
  }
  if (others.length === 0) return ones.join("");
  return `${ones.join("")},${others.join(",")}`;
}

// Returns the stored values by name, in the catalogue's order.
export function unpack(stored: string): Features {
  return sparse(contextOf(valuesIn(stored), {}));
}

function valuesIn(stored: string): Features {
  const [ones = "", ...others] = stored.split(",");
  const features: Features = {};
  for (let at = 0; at < ones.length; at += codeCharacters) {
    const place = placeByCode.get(ones.slice(at, at + codeCharacters));
    if (place) features[place.name] = oneOf(place);
  }
  for (const other of others) {
    const place = placeByCode.get(other.slice(0, codeCharacters));
    if (place) features[place.name] = valueOf(place, other.slice(codeCharacters));
  }
  return features;
}

function oneOf({ zero }: FieldSlot): FeatureValue {
  return zero === false ? true : 1;
}

function valueOf({ zero }: FieldSlot, text: string): FeatureValue {
  if (typeof zero !== "string") return Number(text);
  return text.includes("%") ? decodeURIComponent(text) : text;
}

// Reads one stored value, at a fraction of the cost of unpacking all.
export function valueIn(stored: string, place: FieldSlot): FeatureValue {
  const comma = stored.indexOf(",");
  const onesEnd = comma === -1 ? stored.length : comma;
  const [first, second] = [place.code.charCodeAt(0), place.code.charCodeAt(1)];
  for (let at = 0; at < onesEnd; at += codeCharacters) {
    if (stored.charCodeAt(at) === first && stored.charCodeAt(at + 1) === second) return oneOf(place);
  }
  const at = stored.indexOf(`,${place.code}`, onesEnd);
  if (at === -1) return place.zero;
  const from = at + 1 + codeCharacters;
  const end = stored.indexOf(",", from);
  return valueOf(place, stored.slice(from, end === -1 ? stored.length : end));
}

// Returns only the values that differ from their zero. Attributes are left out, because the event holds them.
export function sparse(context: RuleContext): Features {
  const features: Features = {};
  for (const { name, group, key, zero } of places) {
    const value = context[group][key];
    if (value !== undefined && typeof value !== "object" && value !== zero) features[name] = value;
  }
  return features;
}
