import type { LabelledActivity } from "../db/label-work.ts";
import type { EntityKind } from "../db/states.ts";
import { loginValues } from "../detection/habits.ts";
import { valueKinds, type ValueKind } from "../detection/login-ratio.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import type { RecordedActivity } from "../domain/activity.ts";
import { blockOf, hostOf } from "../domain/address.ts";

// Names of the entities that events refer to.
export const totalName = "total";

const isLogin = ({ type }: RecordedActivity) => type === "login_succeeded" || type === "login_failed";
export const hasNetwork = ({ activity, network }: EnrichedActivity) => isLogin(activity) && network !== "";
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

export function namesIn(events: EnrichedActivity[]): Record<"account" | "value", Set<string>> {
  const names = { account: new Set<string>(), value: new Set<string>() };
  for (const event of events) {
    const { website_account_id: account, type } = event.activity;
    if (account !== undefined) names.account.add(account);
    if (type !== "login_succeeded") continue;
    for (const name of [totalName, ...sharedNames(event)]) names.value.add(name);
  }
  return names;
}

// A single address or device says little about everybody, so only widely shared values are counted across accounts.
const sharedKinds: ReadonlySet<ValueKind> = new Set(["country", "asn", "os", "browser", "agent"]);

export function sharedNames(event: EnrichedActivity): string[] {
  const values = loginValues(event);
  return valueKinds.filter((kind) => sharedKinds.has(kind) && values[kind] !== "").map((kind) => `${kind}:${values[kind]}`);
}

// The entities whose known frauds change with a label of the activity.
export function labelledNames(activity: LabelledActivity, _key: string): [kind: EntityKind, name: string][] {
  const { website_account_id: account, device_id: device } = activity;
  const names: [EntityKind, string | undefined][] = [
    ["account", account],
    ["device", device],
  ];
  return names.flatMap(([kind, name]) => (name === undefined ? [] : [[kind, name]]));
}
