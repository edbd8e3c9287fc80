import {
  newAccountFacts,
  newSessionFacts,
  type AccountFacts,
  type AddressFacts,
  type DeviceFacts,
  type Entity,
  type SessionFacts,
  type ValueFacts,
} from "../service/src/detection/entity.ts";
import { observe } from "../service/src/detection/features.ts";
import { loginValues } from "../service/src/detection/habits.ts";
import type { ValueKind } from "../service/src/detection/login-ratio.ts";
import { Ring } from "../service/src/detection/ring.ts";
import type { EnrichedActivity, Scene } from "../service/src/detection/scene.ts";
import { judge, type RuleSet, type Verdict } from "../service/src/detection/score.ts";
import type { RuleContext } from "../service/src/detection/vector.ts";
import { hostOf } from "../service/src/domain/address.ts";

const ringKey = "a benchmark";
const noFlags = { is_blocked: false, is_quarantined: false, is_fraudulent: false };
// As in the engine: a single address or device says little about everybody.
const sharedKinds: ValueKind[] = ["country", "asn", "os", "browser", "agent"];

// The engine's memory without its database, for millions of log-ins: the same features, ratio and rules, in one process.
export class LocalMemory {
  readonly #set: RuleSet;
  readonly #accounts = new Map<string, Entity<AccountFacts>>();
  readonly #devices = new Map<string, Entity<DeviceFacts>>();
  readonly #addresses = new Map<string, Entity<AddressFacts>>();
  readonly #networks = new Map<string, Entity<AddressFacts>>();
  readonly #sessions = new Map<string, SessionFacts>();
  readonly #pairs = new Set<string>();
  readonly #logins = new Map<string, number>();
  readonly #all: ValueFacts = { logins: 0 };
  #total = 0;
  tenantHasBrowser = false;

  constructor(set: RuleSet) {
    this.#set = set;
  }

  score(event: EnrichedActivity): { verdict: Verdict; context: RuleContext } {
    const { context, ratio, isShared } = observe(this.#scene(event));
    const verdict = judge(context, this.#set, ratio);
    // Learn after scoring, because a log-in must not vouch for itself.
    if (isShared) this.#learn(event);
    return { verdict, context };
  }

  #scene(event: EnrichedActivity): Scene {
    const { activity, at, network } = event;
    const { website_account_id: account, device_id: device, session_id: session, ip, type } = activity;
    const isLogin = type === "login_succeeded" || type === "login_failed";
    return {
      event,
      account:
        account === undefined
          ? null
          : { ...entityOf(this.#accounts, account, () => newAccountFacts(at)), flags: noFlags, confirmed: 0, falsePositives: 0 },
      device:
        device === undefined
          ? null
          : { ...entityOf(this.#devices, device, () => ({ first: at, accounts: 0 })), confirmed: 0, confirmedRecently: 0 },
      ip: ip === undefined ? null : entityOf(this.#addresses, hostOf(ip), () => null),
      network: isLogin && network !== "" ? entityOf(this.#networks, network, () => null) : null,
      session: session === undefined ? null : this.#session(session, at),
      block: null,
      signups: null,
      payment: null,
      logins: isLogin ? this.#all : null,
      mailbox: null,
      look: null,
      subnet: null,
      timeZone: "UTC",
      isNewPair: this.#isNewPair(event),
      tenantHasBrowser: this.tenantHasBrowser,
      serverTells: 0,
      ringKey,
      shares: { total: this.#total, of: (kind, value) => this.#logins.get(`${kind}:${value}`) ?? 0 },
    };
  }

  #session(id: string, at: number): SessionFacts {
    const known = this.#sessions.get(id) ?? newSessionFacts(at);
    this.#sessions.set(id, known);
    return known;
  }

  #isNewPair({ activity: { website_account_id: account, device_id: device, type } }: EnrichedActivity): boolean {
    if (account === undefined || device === undefined || type === "login_failed" || type === "fraud_report") return false;
    const pair = `${account}\0${device}`;
    const isNew = !this.#pairs.has(pair);
    this.#pairs.add(pair);
    return isNew;
  }

  #learn(event: EnrichedActivity): void {
    const values = loginValues(event);
    this.#total++;
    for (const kind of sharedKinds) {
      if (values[kind] === "") continue;
      const name = `${kind}:${values[kind]}`;
      this.#logins.set(name, (this.#logins.get(name) ?? 0) + 1);
    }
  }
}

function entityOf<F>(known: Map<string, Entity<F>>, name: string, make: () => F): Entity<F> {
  const found = known.get(name);
  if (found) return found;
  const entity = { ring: Ring.empty(), facts: make() };
  known.set(name, entity);
  return entity;
}
