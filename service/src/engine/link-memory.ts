import type { Queryable } from "../db/postgres/database.ts";
import { findConfirmedOnDevices, findLinks, findOutcomeCounts, saveLinks, type Link, type SeenLink } from "../db/links.ts";
import { believedTime, isOfItsSource, type EnrichedActivity } from "../detection/scene.ts";
import { accountSubject } from "../domain/activity.ts";
import { DeviceFrauds } from "./device-frauds.ts";

const linkFreshMs = 60 * 60 * 1000;
const emailCharactersMax = 320;

type Setting = {
  tx: Queryable;
  tenantId: string;
  // The address as it is stored under the tenant's ip_policy.
  keepIp: (ip: string) => string;
};

// Tracks which accounts were active on which devices and addresses, and what investigators decided about them.
export class LinkMemory {
  readonly #setting: Setting;
  readonly #links = new Map<string, SeenLink & { lastMs: number }>();
  readonly #toSave = new Map<string, SeenLink>();
  readonly #linked = new Map<string, { device_id: string | undefined; ip: string | undefined; at: number }>();
  #outcomes = new Map<string, { confirmed: number; false_positives: number }>();
  #frauds = new DeviceFrauds();
  #isLoaded = false;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  forget(): void {
    this.#links.clear();
    this.#frauds = new DeviceFrauds();
    this.#isLoaded = false;
  }

  async load(events: EnrichedActivity[]): Promise<void> {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    const { tx, tenantId } = this.#setting;
    const named = events.flatMap((event) => [...this.#linksOf(event), ...namedLinks(event)]);
    const links = new Map(named.map((link) => [linkKey(link), link]));
    const accounts = new Set(events.flatMap(({ activity }) => activity.website_account_id ?? []));
    const devices = new Set(events.flatMap(({ activity }) => activity.device_id ?? []));
    const [found, outcomes, confirmed] = await Promise.all([
      links.size === 0 ? [] : findLinks(tx, tenantId, [...links.values()]),
      accounts.size === 0 ? this.#outcomes : findOutcomeCounts(tx, tenantId, [...accounts].map(accountSubject)),
      devices.size === 0 ? [] : findConfirmedOnDevices(tx, tenantId, [...devices]),
    ]);
    for (const link of found) this.#links.set(linkKey(link), { ...link, lastMs: Date.parse(link.last_seen) });
    this.#outcomes = outcomes;
    for (const fraud of confirmed) this.#frauds.add(fraud);
  }

  async save(): Promise<void> {
    const { tx, tenantId } = this.#setting;
    if (this.#toSave.size > 0) await saveLinks(tx, tenantId, [...this.#toSave.values()]);
  }

  outcomesOf(account: string): { confirmed: number; falsePositives: number } {
    const outcomes = this.#outcomes.get(accountSubject(account));
    return { confirmed: outcomes?.confirmed ?? 0, falsePositives: outcomes?.false_positives ?? 0 };
  }

  fraudsOn(device: string, account: string | undefined, at: number): ReturnType<DeviceFrauds["of"]> {
    const link = this.#links.get(linkKey({ kind: "account-device", a: account ?? "", b: device }));
    return this.#frauds.of(device, { account, since: link?.first_seen }, at);
  }

  // Returns true if the account was never active on the device before. A link is written only if it is new or was last written
  // long ago.
  see(event: EnrichedActivity): boolean {
    const { website_account_id: account, device_id, ip } = event.activity;
    if (!isOfItsSource(event.activity)) return false;
    const atMs = believedTime(event);
    for (const link of namedLinks(event)) this.#note(link, atMs);
    const before = this.#linked.get(account ?? "");
    // The events of a visit arrive together and have the same links.
    if (before && before.device_id === device_id && before.ip === ip && Math.abs(atMs - before.at) < linkFreshMs) return false;
    let isNewPair = false;
    for (const link of this.#linksOf(event)) {
      const isNew = this.#note(link, atMs);
      isNewPair ||= isNew && link.kind === "account-device";
    }
    if (account !== undefined) this.#linked.set(account, { device_id, ip, at: atMs });
    return isNewPair;
  }

  // Returns whether the link is new.
  #note(link: Link, atMs: number): boolean {
    const key = linkKey(link);
    const known = this.#links.get(key);
    if (known && Math.abs(atMs - known.lastMs) < linkFreshMs) return false;
    const at = new Date(atMs).toISOString();
    const seen = {
      ...link,
      first_seen: known && known.first_seen < at ? known.first_seen : at,
      last_seen: known && known.last_seen > at ? known.last_seen : at,
      lastMs: Math.max(known?.lastMs ?? atMs, atMs),
    };
    this.#links.set(key, seen);
    this.#toSave.set(key, seen);
    return !known;
  }

  // Activity that anybody can cause creates no links.
  #linksOf({ activity }: EnrichedActivity): Link[] {
    const { website_account_id: a, device_id: device, ip } = activity;
    if (a === undefined || !isOfItsSource(activity)) return [];
    return [
      ...(device === undefined ? [] : [{ kind: "account-device" as const, a, b: device }]),
      ...(ip === undefined ? [] : [{ kind: "account-ip" as const, a, b: this.#setting.keepIp(ip) }]),
    ];
  }
}

// What search finds an account by. Only what a server says: a page could name anybody's e-mail address.
function namedLinks({ activity }: EnrichedActivity): Link[] {
  const { website_account_id: a, payee_id: payee, attributes } = activity;
  if (a === undefined || activity.origin !== "server" || !isOfItsSource(activity)) return [];
  const email = attributes?.["email"];
  const isEmail = typeof email === "string" && email.includes("@") && email.length <= emailCharactersMax;
  return [
    ...(isEmail ? [{ kind: "account-email" as const, a, b: email.trim().toLowerCase() }] : []),
    ...(payee === undefined ? [] : [{ kind: "account-payee" as const, a, b: payee }]),
  ];
}

function linkKey({ kind, a, b }: Link): string {
  return `${kind}\0${a}\0${b}`;
}
