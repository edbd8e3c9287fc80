import {
  newAccountFacts,
  newSessionFacts,
  newSharedFacts,
  type AccountFacts,
  type DeviceFacts,
  type Entity,
  type SharedFacts,
  type ValueFacts,
} from "../src/detection/entity.ts";
import { observe, type Observed } from "../src/detection/features.ts";
import { loginValues, suspectHeld } from "../src/detection/habits.ts";
import { Ring } from "../src/detection/ring.ts";
import {
  isOfItsSource,
  isPayment,
  kindOf,
  type AccountFlags,
  type EnrichedActivity,
  type Scene,
} from "../src/detection/scene.ts";
import { sparse } from "../src/detection/vector.ts";
import type { BrowserFacts, RecordedActivity } from "../src/domain/activity.ts";
import { blockOf } from "../src/domain/address.ts";
import { bumpFraud, newDays, type Days } from "../src/detection/days.ts";
import { labelledNames, sharedBy } from "../src/engine/names.ts";

type Enriched = Omit<EnrichedActivity, "activity" | "at" | "network">;
// An activity at the given minute of the world, with what its address and user agent say. `facts` are those of the browser.
export type Deed = Partial<Omit<RecordedActivity, "type" | "browser">> &
  Partial<Enriched> & { type: string; minute: number; facts?: BrowserFacts; known?: Known };
// What is known apart from the event.
type Known = Partial<AccountFlags> & {
  confirmed?: number;
  falsePositives?: number;
  onDevice?: number;
  tenantHasBrowser?: boolean;
};

const ringKey = "a small world";
const worldBegan = Date.UTC(2026, 4, 1);

// The engine's memory without a database: features are pure, and so are their tests.
export class SmallWorld {
  readonly #known = new Map<string, unknown>();
  readonly #logins = new Map<string, number>();
  #serverTells = 0;

  // Updates everything known about the account and the other entities.
  see({ known = {}, ...deed }: Deed): Observed {
    const event = enrich(deed);
    if (event.source === "server") this.#serverTells |= kindOf(deed.type);
    const observed = observe(this.#scene(event, known));
    if (observed.isShared) this.#learn(event);
    return observed;
  }

  // Returns the features that differ from zero after the last of them.
  seeAll(deeds: Deed[]): ReturnType<typeof sparse> {
    const last = deeds.map((deed) => this.see(deed)).at(-1);
    if (!last) throw new Error("nothing happened");
    return sparse(last.context);
  }

  #once<T>(name: string, make: () => T): T {
    if (!this.#known.has(name)) this.#known.set(name, make());
    // An entity of this kind was created under this name.
    return this.#known.get(name) as T;
  }

  #entity<F>(name: string, facts: F): Entity<F> {
    return this.#once(name, () => ({ ring: Ring.empty(), facts }));
  }

  // As the engine does for an activity that leads to a case.
  suspect(account: string, { known: _known, ...deed }: Deed): void {
    const event = enrich(deed);
    suspectHeld(this.#entity<AccountFacts>(`account:${account}`, newAccountFacts(event.at)).facts, event);
  }

  // Counts a fraud, as a label that becomes known later does.
  label({ known: _known, ...deed }: Deed, by: 1 | -1 = 1): void {
    const { activity, at } = enrich(deed);
    for (const [kind, name] of labelledNames(activity, ringKey)) {
      const known = this.#known.get(`${kind}:${name}`) as Entity<{ days?: Days }> | undefined;
      if (known) bumpFraud((known.facts.days ??= newDays()), at, by);
    }
  }

  #shared(kind: string, name: string | undefined, at: number): Entity<SharedFacts> | null {
    return name === undefined ? null : this.#entity(`${kind}:${name}`, newSharedFacts(at));
  }

  #scene(event: EnrichedActivity, given: Known): Scene {
    const { website_account_id: account, device_id: device, ip, session_id: session, type } = event.activity;
    const isLinked = isOfItsSource(event.activity) && account !== undefined && device !== undefined;
    const pair = `pair:${account}:${device}`;
    const isNewPair = isLinked && !this.#known.has(pair);
    if (isLinked) this.#known.set(pair, true);
    const { confirmed = 0, falsePositives = 0, onDevice = 0, tenantHasBrowser = false, ...flags } = given;
    const inSession = session === undefined ? null : this.#once(`session:${session}`, () => newSessionFacts(event.at));
    const named = sharedBy(event, ringKey, inSession?.client ?? event.activity.browser);
    const noFlags = { is_blocked: false, is_quarantined: false, is_fraudulent: false };
    return {
      event,
      account:
        account === undefined
          ? null
          : {
              ...this.#entity<AccountFacts>(`account:${account}`, newAccountFacts(event.at)),
              flags: { ...noFlags, ...flags },
              confirmed,
              falsePositives,
            },
      device:
        device === undefined
          ? null
          : {
              ...this.#entity<DeviceFacts>(`device:${device}`, { first: event.at, accounts: 0 }),
              confirmed: onDevice,
              confirmedRecently: onDevice,
            },
      ip: ip === undefined ? null : this.#entity(`ip:${ip}`, null),
      network: type.startsWith("login_") && event.network !== "" ? this.#entity(`network:${event.network}`, null) : null,
      session: inSession,
      payment: isPayment(event)
        ? {
            payee: this.#shared("payee", named.payee, event.at),
            instrument: this.#shared("instrument", named.instrument, event.at),
            totals: this.#entity<ValueFacts>("value:payments", { logins: 0 }).facts,
          }
        : null,
      logins:
        type.startsWith("login_") && event.source === "server"
          ? this.#entity<ValueFacts>("value:total", { logins: 0 }).facts
          : null,
      mailbox: this.#shared("mailbox", named.mailbox, event.at),
      look: this.#shared("look", named.look, event.at),
      subnet: this.#shared("block", named.block, event.at),
      timeZone: "Europe/Berlin",
      block: null,
      signups: type === "signup" && ip?.includes(":") ? this.#entity(`signups:${blockOf(ip)}`, null) : null,
      isNewPair,
      tenantHasBrowser,
      serverTells: this.#serverTells,
      ringKey,
      shares: {
        total: this.#logins.get("total") ?? 0,
        of: (kind, value) => this.#logins.get(`${kind}:${value}`) ?? 0,
      },
    };
  }

  #learn(event: EnrichedActivity): void {
    const { ip: _ip, device: _device, ...shared } = loginValues(event);
    for (const name of ["total", ...Object.entries(shared).map(([kind, value]) => `${kind}:${value}`)]) {
      this.#logins.set(name, (this.#logins.get(name) ?? 0) + 1);
    }
  }
}

function enrich({ minute, facts, ...deed }: Omit<Deed, "known">): EnrichedActivity {
  const { country = "", asn = 0, lat = null, lon = null, value = deed.amount ?? 0, os = "", browser = "", ...rest } = deed;
  const { isBotAgent = false, isDisposableEmail = false, source: _source, claimed: _claimed, ...sent } = rest;
  const at = worldBegan + Math.round(minute * 60_000);
  const time = new Date(at).toISOString();
  const told = { activity_id: "any", origin: "server" as const, occurred_at: time, received_at: time, ...sent };
  const activity: RecordedActivity = facts ? { ...told, browser: facts } : told;
  const network = asn !== 0 ? `AS${asn}` : activity.ip === undefined ? "" : `${activity.ip}/24`;
  // By default a browser's user is confirmed.
  const source = deed.source ?? (activity.origin === "server" ? "server" : "verified_session");
  return {
    activity,
    source,
    ...(deed.claimed !== undefined && { claimed: deed.claimed }),
    at,
    country,
    asn,
    lat,
    lon,
    network,
    browser,
    os,
    isBotAgent,
    isDisposableEmail,
    value,
  };
}
