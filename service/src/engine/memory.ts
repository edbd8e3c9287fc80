import type { Queryable } from "../db/postgres/database.ts";
import { findSessions, saveSessions, saveStates } from "../db/states.ts";
import { crowdedSource, isFlooded } from "../detection/crowd.ts";
import {
  newAccountFacts,
  newSessionFacts,
  newSharedFacts,
  tieKey,
  type AccountFacts,
  type AddressFacts,
  type DeviceFacts,
  type Entity,
  type SessionFacts,
  type SharedFacts,
  type ValueFacts,
} from "../detection/entity.ts";
import { suspectHeld } from "../detection/habits.ts";
import {
  believedTime,
  isOfItsAccount,
  isPayment,
  type AccountFlags,
  type EnrichedActivity,
  type Scene,
} from "../detection/scene.ts";
import { blockOf, hostOf } from "../domain/address.ts";
import { EntityStore } from "./entity-store.ts";
import { Gathering } from "./gathering.ts";
import { LinkMemory } from "./link-memory.ts";
import {
  hasBlock,
  hasClaim,
  hasNetwork,
  hasSignups,
  isServerLogin,
  namesIn,
  paymentsName,
  sharedBy,
  sharedNames,
  sourcesIn,
  totalName,
  type SharedNames,
} from "./names.ts";
import { sessionIn, toStored, type Session } from "./stored-sessions.ts";
import { claimOnly, noteTies, sourced, type Known as Witness, type Trust } from "./vouching.ts";

const promptMs = 3 * 60 * 60 * 1000;

type Setting = {
  tx: Queryable;
  tenantId: string;
  tenantHasBrowser: boolean;
  serverTells: number;
  // The address as it is stored under the tenant's ip_policy.
  keepIp: (ip: string) => string;
  ringKey: string;
  timeZone: string;
};
// The state of a session when it was loaded.
type Before = { isTied: boolean; isHeard: boolean; claims: ReadonlySet<string> };

// Everything known about the entities that a batch touches: loaded once, updated by each event in turn, saved once.
export class Memory {
  readonly #setting: Setting;
  readonly #entities: EntityStore;
  readonly #shared = new Map<EnrichedActivity, SharedNames>();
  readonly #sessions = new Map<string, Session>();
  readonly #before = new Map<string, Before>();
  readonly #links: LinkMemory;
  #flags = new Map<string, AccountFlags>();
  readonly started = new Map<string, string>();

  private constructor(setting: Setting) {
    this.#setting = setting;
    this.#entities = new EntityStore(setting);
    this.#links = new LinkMemory(setting);
  }

  // Loads the sessions and the sources, which determine how far each event is trusted. If all of them are trusted, loads the rest
  // too, because every round trip makes the sender of an assessment wait.
  static async open(setting: Setting, events: EnrichedActivity[], areTrusted: boolean): Promise<Memory> {
    const memory = new Memory(setting);
    const names = areTrusted ? namesIn(events, (event) => sharedBy(event, setting.ringKey, event.activity.browser)) : {};
    await Promise.all([
      memory.#entities.load({ ...sourcesIn(events), ...names }),
      memory.#loadSessions(events),
      areTrusted && memory.#links.load(events),
    ]);
    return memory;
  }

  setFlags(flags: Map<string, AccountFlags>): void {
    this.#flags = flags;
  }

  // Call it if what was learned about some accounts was deleted after it was loaded.
  forgetAccounts(): void {
    this.#entities.forgetAccounts();
    this.#links.forget();
  }

  // Returns the events in the same order, each with its source. An event keeps its account only if it counts for that account.
  believe(events: EnrichedActivity[], trust: Trust, isSpokenFor: (account: string) => boolean): EnrichedActivity[] {
    const known: Witness = {
      session: (event) => this.#session(event),
      device: (event) => this.#device(event)?.facts ?? null,
      crowdAround: (event, isClaimHeard) =>
        crowdedSource({ ...this.#source(event), event, together: gathering.around(event), isClaimHeard }),
      isSpokenFor,
    };
    noteTies(events, known);
    const sourcedEvents = events.map((event) => sourced(event, known, trust));
    const gathering = new Gathering(sourcedEvents.filter(({ source }) => source === "page"));
    return sourcedEvents.map((event) => (event.source === "page" ? claimOnly(event, known, trust) : event));
  }

  // Loads everything that is known about what the events name, and that is not loaded yet.
  async complete(events: EnrichedActivity[]): Promise<void> {
    this.#nameShared(events);
    const names = namesIn(events, (event) => this.#shared.get(event) ?? {});
    await Promise.all([this.#entities.load(names), this.#links.load(events)]);
  }

  // Uses what the session's browser said first. Its first event may be in this batch.
  #nameShared(events: EnrichedActivity[]): void {
    const clients = new Map<string, SessionFacts["client"]>();
    for (const event of events) {
      const { session_id: id = "", browser } = event.activity;
      const client = this.#sessions.get(id)?.client ?? clients.get(id) ?? browser;
      if (client && id !== "") clients.set(id, client);
      const names = sharedBy(event, this.#setting.ringKey, client);
      if (Object.keys(names).length > 0) this.#shared.set(event, names);
    }
  }

  // Returns everything that is known at the moment when this event is scored.
  scene(event: EnrichedActivity): Scene {
    const { activity, at } = event;
    const { website_account_id: account, device_id: device } = activity;
    const isNewPair = this.#links.see(event);
    const { tenantHasBrowser, serverTells, ringKey, timeZone } = this.#setting;
    const session = this.#session(event);
    const { device: onDevice, block, ...source } = this.#source(event);
    const names = this.#shared.get(event);
    const shared = (kind: keyof SharedNames) => {
      const name = names?.[kind];
      return name === undefined ? null : this.#entities.get<SharedFacts>(kind, name, () => newSharedFacts(at));
    };
    if (session) {
      if (isOfItsAccount(activity)) session.account = account ?? session.account;
      session.device = device ?? session.device;
    }
    return {
      event,
      account:
        account === undefined
          ? null
          : {
              ...this.#account(account, event),
              flags: this.#flags.get(account) ?? { is_blocked: false, is_quarantined: false, is_fraudulent: false },
              ...this.#links.outcomesOf(account),
            },
      ...source,
      block: hasClaim(event) ? block : null,
      signups: hasSignups(event) ? this.#entities.get<AddressFacts>("ip", blockOf(activity.ip ?? ""), () => null) : null,
      device: onDevice && this.#withFrauds(onDevice, event),
      network: hasNetwork(event) ? this.#entities.get<AddressFacts>("network", event.network, () => null) : null,
      session,
      payment: isPayment(event)
        ? { payee: shared("payee"), instrument: shared("instrument"), totals: this.#value(paymentsName) }
        : null,
      logins: isServerLogin(event) ? this.#value(totalName) : null,
      mailbox: shared("mailbox"),
      look: shared("look"),
      subnet: shared("block"),
      isNewPair,
      // An event that was reported long afterwards says nothing about whether browsers send events now. Neither does one from a
      // flooded address, because events of its honest visitors may have been dropped.
      tenantHasBrowser: tenantHasBrowser && Date.parse(activity.received_at) - at < promptMs && !isFlooded(source.ip, at),
      serverTells,
      ringKey,
      timeZone,
      shares: {
        total: this.#loginsWith(totalName),
        of: (kind, value) => this.#loginsWith(`${kind}:${value}`),
      },
    };
  }

  // Counts log-ins across all accounts, with which an account's own log-ins are compared. Call it after the event is scored,
  // because an event must not vouch for itself.
  learnLogin(event: EnrichedActivity): void {
    this.#value(totalName).logins++;
    for (const name of sharedNames(event)) this.#value(name).logins++;
  }

  // Call it for an event that scored high enough for a case.
  suspectHeld(event: EnrichedActivity): void {
    const { website_account_id: account } = event.activity;
    if (account === undefined || !isOfItsAccount(event.activity)) return;
    suspectHeld(this.#account(account, event).facts, event);
  }

  async save(now: string): Promise<void> {
    const { tx, tenantId } = this.#setting;
    const states = this.#entities.listChanged();
    await Promise.all([
      states.length > 0 && saveStates(tx, tenantId, { states, day: now.slice(0, 10) }),
      this.#sessions.size > 0 && saveSessions(tx, tenantId, [...this.#sessions].map(toStored)),
      this.#links.save(),
    ]);
  }

  // Counts the sessions that this batch tied to an account, and the tied sessions in which it saw the first browser event.
  countTied(): { tied: number; heard: number } {
    const counts = { tied: 0, heard: 0 };
    for (const [id, { ties, heard }] of this.#sessions) {
      const before = this.#before.get(id);
      if (ties.length === 0) continue;
      if (before?.isTied !== true) counts.tied++;
      if (heard > 0 && !(before?.isTied === true && before.isHeard)) counts.heard++;
    }
    return counts;
  }

  // Lists the sessions in which an unverified page had named an account, and which have been tied to that account since.
  listProved(): { session_id: string; account: string; heard: number }[] {
    return [...this.#sessions].flatMap(([session_id, { account, claims, ties, signed, heard }]) => {
      if (account === null) return [];
      const key = tieKey(account);
      const isProved = this.#before.get(session_id)?.claims.has(key) === true && [...ties, ...signed].includes(key);
      if (isProved) claims.splice(claims.indexOf(key), 1);
      return isProved ? [{ session_id, account, heard }] : [];
    });
  }

  async #loadSessions(events: EnrichedActivity[]): Promise<void> {
    const ids = new Set(events.flatMap(({ activity }) => activity.session_id ?? []));
    if (ids.size === 0) return;
    for (const row of await findSessions(this.#setting.tx, this.#setting.tenantId, [...ids])) {
      const session = sessionIn(row);
      this.#sessions.set(row.session_id, session);
      this.#before.set(row.session_id, {
        isTied: session.ties.length > 0,
        isHeard: session.heard > 0,
        claims: new Set(session.claims),
      });
    }
  }

  #account(id: string, event: EnrichedActivity): Entity<AccountFacts> {
    return this.#entities.get<AccountFacts>("account", id, () => newAccountFacts(believedTime(event)));
  }

  #device(event: EnrichedActivity): Entity<DeviceFacts> | null {
    const { device_id: device } = event.activity;
    if (device === undefined) return null;
    return this.#entities.get<DeviceFacts>("device", device, () => ({ first: believedTime(event), accounts: 0 }));
  }

  // A quiet device's state may have been removed, and with it the number of its accounts. Its links are kept longer.
  #withFrauds(device: Entity<DeviceFacts>, { activity, at }: EnrichedActivity): NonNullable<Scene["device"]> {
    const { accounts, ...frauds } = this.#links.fraudsOn(activity.device_id ?? "", activity.website_account_id, at);
    device.facts.accounts = Math.max(device.facts.accounts, accounts);
    return { ...device, ...frauds };
  }

  #source(event: EnrichedActivity) {
    const { ip } = event.activity;
    return {
      device: this.#device(event),
      ip: ip === undefined ? null : this.#entities.get<AddressFacts>("ip", hostOf(ip), () => null),
      block: ip === undefined || !hasBlock(event) ? null : this.#entities.get<AddressFacts>("network", blockOf(ip), () => null),
    };
  }

  #value(name: string): ValueFacts {
    return this.#entities.get<ValueFacts>("value", name, () => ({ logins: 0 })).facts;
  }

  #loginsWith(name: string): number {
    return this.#entities.has("value", name) ? this.#value(name).logins : 0;
  }

  #session({ at, activity }: EnrichedActivity): Session | null {
    const id = activity.session_id;
    if (id === undefined) return null;
    let session = this.#sessions.get(id);
    if (!session) {
      session = { ...newSessionFacts(at), account: null, device: null };
      this.#sessions.set(id, session);
      this.started.set(id, activity.occurred_at);
    }
    return session;
  }
}
