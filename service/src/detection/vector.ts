import { fields, zeroOf, type FeatureValue, type Features } from "./catalogue.ts";

const groups = ["event", "account", "device", "ip", "network", "session", "login", "tenant"] as const;
type Group = (typeof groups)[number];

export type Attributes = Record<string, FeatureValue>;
type Values = Record<string, FeatureValue | Attributes>;
// What a rule reads: every field of the catalogue by its group, and the event's own attributes.
export type RuleContext = Record<Group, Values> & { event: { attributes: Attributes } };

type Place = { name: string; code: string; group: Group; key: string; zero: FeatureValue };

const places: Place[] = groups.flatMap((group) =>
  fields.flatMap((field, index) =>
    field.name.startsWith(`${group}.`) && field.type !== "map"
      ? [
          {
            name: field.name,
            code: index.toString(36).padStart(2, "0"),
            group,
            key: field.name.slice(group.length + 1),
            zero: zeroOf(field),
          },
        ]
      : [],
  ),
);
// By name, and by the short form in which a decision is stored. It begins with a digit, which no other member of one does.
const placeOf = new Map(places.flatMap((place) => [[place.name, place] as const, [place.code, place] as const]));

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
};

export function findPlace(name: string): Place | undefined {
  return placeOf.get(name);
}

// Runs for every event. Names that the catalogue no longer has are passed over: stored vectors outlive their fields.
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
  };
  for (const name of Object.keys(features)) {
    const place = placeOf.get(name);
    const value = features[name];
    // What is true is stored as 1.
    if (place && value !== undefined) context[place.group][place.key] = value === 1 && place.zero === false ? true : value;
  }
  return context;
}

// What is stored with a decision, as JSON: names would be two thirds of an activity's bytes.
export function packed(context: RuleContext): string {
  const parts: string[] = [];
  for (const { code, group, key, zero } of places) {
    const value = context[group][key];
    if (value === undefined || value === zero || typeof value === "object") continue;
    parts.push(`"${code}":${typeof value === "string" ? JSON.stringify(value) : Number(value)}`);
  }
  return `{${parts.join(",")}}`;
}

// What was stored, by name, in the catalogue's order.
export function unpack(stored: Features): Features {
  return sparse(contextOf(stored, {}));
}

// Only what differs from its zero, and no attributes, which the event holds.
export function sparse(context: RuleContext): Features {
  const features: Features = {};
  for (const { name, group, key, zero } of places) {
    const value = context[group][key];
    if (value !== undefined && typeof value !== "object" && value !== zero) features[name] = value;
  }
  return features;
}
