import type { Queryable } from "../db/database.ts";
import { findConfirmedOnDevices, findLinks, findOutcomeCounts, saveLinks, type Link, type SeenLink } from "../db/links.ts";
import {
  entityKey,
  entityKinds,
  findSessions,
  findStates,
  saveSessions,
  saveStates,
  type EntityId,
  type EntityKind,
  type StoredSession,
  type StoredState,
} from "../db/states.ts";
import {
  newAccountFacts,
  newSessionFacts,
  type AccountFacts,
  type DeviceFacts,
  type Entity,
  type SessionFacts,
  type ValueFacts,
} from "../detection/entity.ts";
import { loginValues } from "../detection/features.ts";
import { valueKinds, type ValueKind } from "../detection/login-ratio.ts";
import { Ring } from "../detection/ring.ts";
import type { AccountFlags, EnrichedActivity, Scene } from "../detection/scene.ts";
import { accountSubject } from "../domain/activity.ts";
import { hostOf } from "../domain/address.ts";
import { DeviceFrauds } from "./device-frauds.ts";

const linkFreshMs = 60 * 60 * 1000;
const promptMs = 3 * 60 * 60 * 1000;
const totalName = "total";

type Known = { id: EntityId; entity: Entity<unknown> };
type Session = SessionFacts & { account: string | null; device: string | null };
type Setting = {
  tx: Queryable;
  tenantId: string;
  flags: Map<string, AccountFlags>;
  tenantHasBrowser: boolean;
  // The address as the tenant's policy keeps it.
  keepIp: (ip: string) => string;
};

// What is known of everything that a batch touches: read once, changed by each event in turn, written once.
export class Memory {
  readonly #setting: Setting;
  // By kind and name: to join the two into one key took a tenth of the engine's time.
  readonly #entities: Record<EntityKind, Map<string, Known>> = {
    account: new Map(),
    device: new Map(),
    ip: new Map(),
    network: new Map(),
    value: new Map(),
  };
  readonly #sessions = new Map<string, Session>();
  readonly #links = new Map<string, SeenLink & { lastMs: number }>();
  readonly #linksToSave = new Map<string, SeenLink>();
  readonly #linked = new Map<string, { device_id: string | undefined; ip: string | undefined; at: number }>();
  #outcomes = new Map<string, { confirmed: number; false_positives: number }>();
  readonly #frauds = new DeviceFrauds();
  readonly started = new Map<string, string>();

  private constructor(setting: Setting) {
    this.#setting = setting;
  }

  static async load(setting: Setting, events: EnrichedActivity[]): Promise<Memory> {
    const memory = new Memory(setting);
    await Promise.all([memory.#loadStates(events), memory.#loadSessions(events), memory.#loadLinks(events)]);
    return memory;
  }

  // Everything that is known as this event is scored.
  scene(event: EnrichedActivity): Scene {
    const { activity, at } = event;
    const { website_account_id: account, device_id: device, ip } = activity;
    const isLogin = activity.type === "login_succeeded" || activity.type === "login_failed";
    const isNewPair = this.#seeLinks(event);
    const outcomes = account === undefined ? undefined : this.#outcomes.get(accountSubject(account));
    const { flags, tenantHasBrowser } = this.#setting;
    return {
      event,
      account:
        account === undefined
          ? null
          : {
              ...this.#entity<AccountFacts>("account", account, () => newAccountFacts(at)),
              flags: flags.get(account) ?? { is_blocked: false, is_quarantined: false, is_fraudulent: false },
              confirmed: outcomes?.confirmed ?? 0,
              falsePositives: outcomes?.false_positives ?? 0,
            },
      device: device === undefined ? null : this.#device(device, account, at),
      ip: ip === undefined ? null : this.#entity<null>("ip", hostOf(ip), () => null),
      network: !isLogin || event.network === "" ? null : this.#entity<null>("network", event.network, () => null),
      session: activity.session_id === undefined ? null : this.#session(activity.session_id, event),
      isNewPair,
      // Of what is told long afterwards no browser is heard, whatever the pages send now.
      tenantHasBrowser: tenantHasBrowser && Date.parse(activity.received_at) - at < promptMs,
      shares: {
        total: this.#loginsWith(totalName),
        of: (kind, value) => this.#loginsWith(`${kind}:${value}`),
      },
    };
  }

  // Everybody's log-ins, which an account's own are compared with. After the event was scored: it must not vouch for itself.
  learnLogin(event: EnrichedActivity): void {
    if (event.activity.type !== "login_succeeded") return;
    this.#value(totalName).logins++;
    for (const name of sharedNames(event)) this.#value(name).logins++;
  }

  async save(now: string): Promise<void> {
    const { tx, tenantId } = this.#setting;
    const states = Object.values(this.#entities)
      .flatMap((known) => [...known.values()])
      .map(({ id, entity }): StoredState => ({ ...id, ring: entity.ring.encode(), facts: JSON.stringify(entity.facts) }));
    await Promise.all([
      states.length > 0 && saveStates(tx, tenantId, { states, day: now.slice(0, 10) }),
      this.#sessions.size > 0 && saveSessions(tx, tenantId, [...this.#sessions].map(toStored)),
      this.#linksToSave.size > 0 && saveLinks(tx, tenantId, [...this.#linksToSave.values()]),
    ]);
  }

  async #loadStates(events: EnrichedActivity[]): Promise<void> {
    const wanted: Record<EntityKind, Set<string>> = {
      account: new Set(),
      device: new Set(),
      ip: new Set(),
      network: new Set(),
      value: new Set(),
    };
    const want = (kind: EntityKind, name: string | undefined) => {
      if (name !== undefined && name !== "") wanted[kind].add(name);
    };
    for (const event of events) {
      const { activity, network } = event;
      want("account", activity.website_account_id);
      want("device", activity.device_id);
      want("ip", activity.ip === undefined ? undefined : hostOf(activity.ip));
      if (activity.type === "login_succeeded" || activity.type === "login_failed") want("network", network);
      if (activity.type !== "login_succeeded") continue;
      want("value", totalName);
      for (const name of sharedNames(event)) want("value", name);
    }
    // A kind's name is part of what its key is made from, so keys alone tell them apart.
    const names = new Map<string, EntityId & { name: string }>();
    for (const kind of entityKinds) {
      for (const name of wanted[kind]) {
        const key = entityKey(kind, name);
        names.set(key, { kind, key, name });
      }
    }
    if (names.size === 0) return;
    for (const row of await findStates(this.#setting.tx, this.#setting.tenantId, [...names.values()])) {
      const { name, ...id } = names.get(row.key) ?? { ...row, name: "" };
      this.#entities[id.kind].set(name, { id, entity: { ring: Ring.decode(row.ring), facts: JSON.parse(row.facts) } });
    }
  }

  async #loadSessions(events: EnrichedActivity[]): Promise<void> {
    const ids = new Set(events.flatMap(({ activity }) => activity.session_id ?? []));
    if (ids.size === 0) return;
    for (const row of await findSessions(this.#setting.tx, this.#setting.tenantId, [...ids])) {
      // Written by `save` alone.
      const facts = JSON.parse(row.facts) as Partial<SessionFacts>;
      this.#sessions.set(row.session_id, {
        ...newSessionFacts(0),
        ...facts,
        account: row.website_account_id,
        device: row.device_id,
      });
    }
  }

  async #loadLinks(events: EnrichedActivity[]): Promise<void> {
    const { tx, tenantId } = this.#setting;
    const links = new Map(events.flatMap((event) => this.#linksOf(event)).map((link) => [linkKey(link), link]));
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

  // True where the account was never before active on the device. A link is written when it is new or its time is old.
  #seeLinks(event: EnrichedActivity): boolean {
    const { website_account_id: account, device_id, ip, type } = event.activity;
    if (type === "login_failed" || type === "fraud_report") return false;
    const before = this.#linked.get(account ?? "");
    // A visit's events come together, and link the same things.
    if (before && before.device_id === device_id && before.ip === ip && Math.abs(event.at - before.at) < linkFreshMs)
      return false;
    let isNewPair = false;
    for (const link of this.#linksOf(event)) {
      const key = linkKey(link);
      const known = this.#links.get(key);
      if (known && Math.abs(event.at - known.lastMs) < linkFreshMs) continue;
      isNewPair ||= !known && link.kind === "account-device";
      const at = new Date(event.at).toISOString();
      const seen = {
        ...link,
        first_seen: known && known.first_seen < at ? known.first_seen : at,
        last_seen: known && known.last_seen > at ? known.last_seen : at,
        lastMs: Math.max(known?.lastMs ?? event.at, event.at),
      };
      this.#links.set(key, seen);
      this.#linksToSave.set(key, seen);
    }
    if (account !== undefined) this.#linked.set(account, { device_id, ip, at: event.at });
    return isNewPair;
  }

  // A failed log-in links nobody to anything.
  #linksOf({ activity }: EnrichedActivity): Link[] {
    const { website_account_id: a, device_id: device, ip, type } = activity;
    if (a === undefined || type === "login_failed" || type === "fraud_report") return [];
    return [
      ...(device === undefined ? [] : [{ kind: "account-device" as const, a, b: device }]),
      ...(ip === undefined ? [] : [{ kind: "account-ip" as const, a, b: this.#setting.keepIp(ip) }]),
    ];
  }

  #entity<F>(kind: EntityKind, name: string, make: () => F): Entity<F> {
    const known = this.#entities[kind].get(name);
    // Under one name there is one kind of facts.
    if (known) return known.entity as Entity<F>;
    const entity = { ring: Ring.empty(), facts: make() };
    this.#entities[kind].set(name, { id: { kind, key: entityKey(kind, name) }, entity });
    return entity;
  }

  // The state of a device that was quiet may be gone, with how many accounts it has. Its links are kept longer.
  #device(name: string, account: string | undefined, at: number): NonNullable<Scene["device"]> {
    const entity = this.#entity<DeviceFacts>("device", name, () => ({ first: at, accounts: 0 }));
    const { accounts, ...frauds } = this.#frauds.of(name, account, at);
    entity.facts.accounts = Math.max(entity.facts.accounts, accounts);
    return { ...entity, ...frauds };
  }

  #value(name: string): ValueFacts {
    return this.#entity<ValueFacts>("value", name, () => ({ logins: 0 })).facts;
  }

  #loginsWith(name: string): number {
    return this.#entities.value.has(name) ? this.#value(name).logins : 0;
  }

  #session(id: string, { at, activity }: EnrichedActivity): SessionFacts {
    let session = this.#sessions.get(id);
    if (!session) {
      session = { ...newSessionFacts(at), account: null, device: null };
      this.#sessions.set(id, session);
      this.started.set(id, activity.occurred_at);
    }
    session.account = activity.website_account_id ?? session.account;
    session.device = activity.device_id ?? session.device;
    return session;
  }
}

// A single address or device says little of everybody: only what many share is counted for all.
const sharedKinds: ReadonlySet<ValueKind> = new Set(["country", "asn", "os", "browser", "agent"]);

function sharedNames(event: EnrichedActivity): string[] {
  const values = loginValues(event);
  return valueKinds.filter((kind) => sharedKinds.has(kind) && values[kind] !== "").map((kind) => `${kind}:${values[kind]}`);
}

function linkKey({ kind, a, b }: Link): string {
  return `${kind}\0${a}\0${b}`;
}

function toStored([session_id, { account, device, ...facts }]: [string, Session]): StoredSession {
  return {
    session_id,
    website_account_id: account,
    device_id: device,
    started_at: new Date(facts.started).toISOString(),
    last_at: new Date(facts.last).toISOString(),
    facts: JSON.stringify(Object.fromEntries(Object.entries(facts).filter(isUnusual))),
  };
}

// Most members of a session never leave what they begin with.
function isUnusual([, value]: [string, unknown]): boolean {
  return value !== 0 && value !== false && value !== null && !(Array.isArray(value) && value.length === 0);
}
