import { createHmac } from "node:crypto";
import type { LabelledActivity } from "../db/label-work.ts";
import { loginValues } from "../detection/habits.ts";
import { valueKinds, type ValueKind } from "../detection/login-ratio.ts";
import { isEntry, isPayment, type EnrichedActivity } from "../detection/scene.ts";
import type { EntityKind, EntityNames } from "../db/states.ts";
import type { BrowserFacts, Payment, RecordedActivity } from "../domain/activity.ts";
import { blockOf, hostOf } from "../domain/address.ts";
import { instrumentIdOf } from "../domain/instrument.ts";
import { mailboxShape } from "../domain/mailbox.ts";

// Names of the entities that events refer to.
export const totalName = "total";
export const paymentsName = "payments";

const isLogin = ({ type }: RecordedActivity) => type === "login_succeeded" || type === "login_failed";
export const hasNetwork = ({ activity, network }: EnrichedActivity) => isLogin(activity) && network !== "";
export const isServerLogin = ({ activity, source }: EnrichedActivity) => isLogin(activity) && source === "server";
// Somebody with an IPv6 /48 can sign up from a new /64 each time, so the sign-ups of the /48 are counted together.
export const hasSignups = ({ activity: { type, ip } }: EnrichedActivity) => type === "signup" && ip?.includes(":") === true;
export const hasBlock = ({ source }: EnrichedActivity) => source === "page";
export const hasClaim = ({ activity, source, claimed }: EnrichedActivity) =>
  source === "page" && (claimed ?? activity.website_account_id) !== undefined;

export function sourcesIn(events: EnrichedActivity[]): Record<"device" | "ip" | "network", Set<string>> {
  const names = { device: new Set<string>(), ip: new Set<string>(), network: new Set<string>() };
  for (const event of events) {
    const { device_id: device, ip } = event.activity;
    if (device !== undefined) names.device.add(device);
    if (ip !== undefined) names.ip.add(hostOf(ip));
    if (ip !== undefined && hasSignups(event)) names.ip.add(blockOf(ip));
    if (hasNetwork(event)) names.network.add(event.network);
    if (ip !== undefined && hasBlock(event)) names.network.add(blockOf(ip));
  }
  return names;
}

// The entities that an event names besides its account and its source. Names that could be guessed are hashed with the tenant's
// key.
export type SharedNames = Partial<Record<"payee" | "instrument" | "mailbox" | "look" | "block", string>>;

export function namesIn(events: EnrichedActivity[], sharedBy: (event: EnrichedActivity) => SharedNames): EntityNames {
  const names = new Map<EntityKind, Set<string>>();
  const add = (kind: EntityKind, name: string) => names.set(kind, (names.get(kind) ?? new Set()).add(name));
  for (const event of events) {
    const { website_account_id: account, type } = event.activity;
    if (account !== undefined) add("account", account);
    if (isPayment(event)) add("value", paymentsName);
    if (isServerLogin(event)) add("value", totalName);
    for (const [kind, name] of Object.entries(sharedBy(event))) add(kind as EntityKind, name);
    if (type !== "login_succeeded") continue;
    for (const name of [totalName, ...sharedNames(event)]) add("value", name);
  }
  return Object.fromEntries(names);
}

type Client = Partial<BrowserFacts> | null | undefined;

// `client` is what the browser of the event's session said about itself.
export function sharedBy(event: EnrichedActivity, key: string, client: Client): SharedNames {
  const { activity } = event;
  if (isPayment(event)) return given({ payee: activity.payee_id, instrument: instrumentName(activity, key) });
  if (!isEntry(event)) return {};
  const { email } = activity.attributes ?? {};
  const shape = activity.type === "signup" && typeof email === "string" ? mailboxShape(email) : null;
  return given({
    mailbox: shape === null ? undefined : keyed(shape, key),
    look: lookName(event, client),
    block: activity.ip === undefined ? undefined : blockOf(activity.ip),
  });
}

// The entities whose known frauds change with a label of the activity.
export function labelledNames(activity: LabelledActivity, key: string): [kind: EntityKind, name: string][] {
  const { website_account_id: account, device_id: device, payee_id: payee, origin } = activity;
  const isCounted = isPayment({ activity, source: origin === "server" ? "server" : "page" });
  const names: [EntityKind, string | undefined][] = [
    ["account", account],
    ["device", device],
    ["payee", isCounted ? payee : undefined],
    ["instrument", isCounted ? instrumentName(activity, key) : undefined],
    ["value", isCounted ? paymentsName : undefined],
  ];
  return names.flatMap(([kind, name]) => (name === undefined ? [] : [[kind, name]]));
}

function instrumentName(activity: Payment, key: string): string | undefined {
  const id = instrumentIdOf(activity);
  return id === undefined ? undefined : keyed(id, key);
}

// The kind of browser. Versions are left out. Otherwise every browser would become a new kind after an update. A browser that
// says nothing about itself has no kind.
function lookName({ browser, os }: EnrichedActivity, client: Client): string | undefined {
  const { screen, zone_offset_minutes: zone, locale } = client ?? {};
  return screen === undefined ? undefined : JSON.stringify([screen, zone, locale, browser, os]);
}

function keyed(name: string, key: string): string {
  return createHmac("sha256", key).update(name).digest("base64url");
}

function given(names: Record<string, string | undefined>): SharedNames {
  return Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined));
}

// A single address or device says little about everybody, so only widely shared values are counted across accounts.
const sharedKinds: ReadonlySet<ValueKind> = new Set(["country", "asn", "os", "browser", "agent"]);

export function sharedNames(event: EnrichedActivity): string[] {
  const values = loginValues(event);
  return valueKinds.filter((kind) => sharedKinds.has(kind) && values[kind] !== "").map((kind) => `${kind}:${values[kind]}`);
}
