import type { Activity } from "@casehound/client";
import { acceptLanguage, userAgentAt } from "./agents.ts";
import type { AttackKind, BrowserRequest, FraudNote, SessionTruth, TruthNote } from "./delivery.ts";
import { storageOf, type Device } from "./device.ts";
import { fraudIn, type Told } from "./known.ts";
import type { Item, Page } from "./pages.ts";
import { isMoney, type Payment, type Till } from "./payments.ts";
import type { Random } from "./random.ts";
import type { SiteSettings } from "./sdk-request.ts";
import { SdkSession, type Attributes, type Storage } from "./sdk.ts";
import { hasServers } from "./voice.ts";

// An account as the shop knows it. `logins` counts those that the shop has reported.
export type Account = { id: string; email: string; logins: number };

// How long this visitor takes for something that takes a typical person this long.
export type Rhythm = (typicalMs: number) => number;

export function humanRhythm(random: Random, { sigma, speed }: { sigma: number; speed: number }): Rhythm {
  return (typicalMs) => Math.min(12 * 60_000, 150 + random.logNormal(typicalMs / speed, sigma));
}

// A program waits as long as configured, plus network latency and the given jitter.
export function machineRhythm(random: Random, { meanMs, jitter }: { meanMs: number; jitter: number }): Rhythm {
  return () => Math.max(5, meanMs * (1 + jitter * random.between(-1, 1)) + random.exponential(8));
}

// Where a visit's requests, reports and notes go.
export type Outlet = {
  settings: SiteSettings;
  hasBrowsers: boolean;
  till: Till | null;
  notesFrauds: boolean;
  post(request: BrowserRequest): void;
  tell(atMs: number, activity: Activity): void;
  note(note: TruthNote | FraudNote): void;
};

export type Visitor = {
  random: Random;
  device: Device;
  ip: string;
  zoneMinutes: number;
  account: Account | null;
  rhythm: Rhythm;
  // The user agent that a program sends instead of the device's own browser.
  userAgent?: string;
  // False for a program that talks to the shop's servers and has no browser to run the SDK.
  hasBrowser?: boolean;
  scrolls?: number;
  // A visit in which an attacker only prepares an attack. Nobody will report it.
  isPrelude?: boolean;
  truth: { kind: "genuine" } | { kind: AttackKind; attack_id: string };
};

const sensitive = new Set(["password_changed", "email_changed", "mfa_changed", "payee_added"]);

// One visit and everything it produces: the browser's requests, the servers' reports, and the ground truth.
export class Visit {
  readonly random: Random;
  readonly ip: string;
  readonly sessionId: string;
  readonly deviceId: string | undefined;
  readonly #outlet: Outlet;
  readonly #visitor: Visitor;
  readonly #userAgent: string;
  readonly #storage: Storage | null;
  readonly #sdk: SdkSession | null;
  readonly #truth: SessionTruth;
  #nowMs: number;
  #isOpen = true;
  #isOnPage = false;
  readonly #told: Told[] = [];

  constructor(outlet: Outlet, visitor: Visitor, startMs: number) {
    const { random, device, ip, account } = visitor;
    this.#outlet = outlet;
    this.#visitor = visitor;
    this.#nowMs = startMs;
    this.random = random;
    this.ip = ip;
    this.#userAgent = visitor.userAgent ?? userAgentAt(device.agent, startMs);
    const runsSdk = visitor.hasBrowser !== false && device.blocking !== "script";
    this.#storage = runsSdk ? storageOf(device, random, startMs) : null;
    this.#sdk = this.#storage === null ? null : this.#startSdk(this.#storage, startMs);
    // Without the SDK, the shop knows only its servers' own session.
    this.sessionId = this.#sdk?.id ?? random.hex(4);
    this.deviceId = this.#storage?.deviceId;
    this.#truth = {
      ...visitor.truth,
      session_id: this.sessionId,
      ...(this.deviceId === undefined ? {} : { device_id: this.deviceId }),
      ip,
      first_ms: Math.round(startMs),
      last_ms: Math.round(startMs),
      logins_before: account?.logins ?? 0,
      has_login: false,
      has_sensitive_change: false,
      has_value: false,
    };
    if (this.isKnown) this.#name();
  }

  // Whether the browser still identifies the account, so that no log-in is needed.
  get isKnown(): boolean {
    const { account } = this.#visitor;
    return account !== null && this.#storage?.user?.id === account.id;
  }

  // Whether the shop's servers report what happens. Otherwise its pages do.
  get #hasServers(): boolean {
    return hasServers(this.#outlet.settings.voice);
  }

  // The shop still recognizes the visitor, who need not log in.
  stayLoggedIn(): this {
    this.#sdk?.stayLoggedIn();
    return this;
  }

  // From here on the shop knows whose visit it is.
  #name(): void {
    const { account } = this.#visitor;
    if (account !== null) this.#truth.website_account_id = account.id;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  #startSdk(storage: Storage, startMs: number): SdkSession {
    const { device, random, ip, zoneMinutes } = this.#visitor;
    const { settings, hasBrowsers } = this.#outlet;
    const isHeard = device.blocking === "none" && (hasBrowsers || !this.#hasServers);
    const client = {
      userAgent: this.#userAgent,
      acceptLanguage: acceptLanguage(device.locale),
      locale: device.locale,
      zoneOffsetMs: zoneMinutes * 60_000,
      clockOffsetMs: device.clockOffsetMs,
      screen: device.agent.screen,
      viewport: device.agent.viewport,
      ip,
    };
    const post = isHeard ? (request: BrowserRequest): void => this.#outlet.post(request) : null;
    return new SdkSession({ storage, client, settings, random, isBrief: !hasBrowsers }, startMs, post);
  }

  // The visitor first spends about this long on the current page.
  to(page: Page, typicalMs = 14_000): this {
    const { rhythm, scrolls = 0.45 } = this.#visitor;
    if (this.#isOnPage) {
      const stayMs = rhythm(typicalMs);
      if (this.random.chance(scrolls)) this.#scroll(stayMs * this.random.between(0.2, 0.9), stayMs);
      this.#nowMs += stayMs;
    }
    this.#isOnPage = true;
    this.#sdk?.open(page, this.#nowMs);
    return this;
  }

  #scroll(afterMs: number, stayMs: number): void {
    this.#sdk?.event("_scroll", this.#nowMs + afterMs, { _engagement_time_msec: Math.round(Math.min(afterMs, stayMs)) });
  }

  // A custom event that the browser reports.
  act(name: string, typicalMs: number, attributes: Attributes = {}, items: readonly Item[] = []): this {
    this.#nowMs += this.#visitor.rhythm(typicalMs);
    this.#sdk?.event(name, this.#nowMs, attributes, items);
    return this;
  }

  pause(typicalMs: number): this {
    this.#nowMs += this.#visitor.rhythm(typicalMs);
    return this;
  }

  // Reports something through the shop's servers or, if they are silent, through its pages.
  report(type: string, attributes: Attributes = {}, payment: Payment = {}): this {
    const accountId = this.#visitor.account?.id ?? null;
    if (this.#hasServers && this.#outlet.till !== null && isMoney(type)) this.#pay(this.#outlet.till, type, attributes, payment);
    else if (this.#hasServers) this.#tell(type, attributes, payment);
    else this.#sdk?.report(type, this.#nowMs, { attributes, accountId });
    this.#name();
    if (sensitive.has(type)) this.#truth.has_sensitive_change = true;
    if (type === "payment" || type === "transfer") this.#truth.has_value = true;
    return this;
  }

  #pay(till: Till, type: string, attributes: Attributes, given: Payment): void {
    const { account, truth } = this.#visitor;
    const payer = { id: account?.id ?? this.sessionId, isKnown: account !== null };
    const isOwner = truth.kind === "genuine" || truth.kind === "friendly_fraud" || truth.kind === "refund_abuse";
    const taker = isOwner ? payer : { id: truth.attack_id, isKnown: true };
    for (const { afterMs, payment, rest } of till.attempts({ type, payer, taker, attributes, given })) {
      this.#nowMs += afterMs;
      this.#tell(type, rest, payment);
    }
  }

  #tell(type: string, attributes: Attributes, payment: Payment): void {
    const { account } = this.#visitor;
    const activity: Activity = {
      activity_id: this.random.uuid(),
      type,
      occurred_at: new Date(this.#nowMs).toISOString(),
      ...(account === null ? {} : { website_account_id: account.id }),
      session_id: this.sessionId,
      ...(this.deviceId === undefined ? {} : { device_id: this.deviceId }),
      ip: this.ip,
      user_agent: this.#userAgent,
      ...payment,
      ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    };
    const { order_id } = payment;
    this.#told.push({ activity_id: activity.activity_id, type, ...(order_id === undefined ? {} : { order_id }) });
    this.#outlet.tell(this.#nowMs + this.random.between(15, 250), activity);
  }

  failLogIn(typicalMs = 6000): this {
    return this.pause(typicalMs).report("login_failed", { method: "password" });
  }

  logIn(typicalMs = 9000): this {
    this.#truth.has_login = true;
    return this.pause(typicalMs).#enter("login_succeeded", { method: "password" });
  }

  signUp(): this {
    const { account } = this.#visitor;
    return this.pause(30_000).#enter("signup", { email: account?.email ?? "", method: "password" });
  }

  // A server reports it at once. A page reports it as soon as it knows its user, with the token that the page contains.
  #enter(type: string, attributes: Attributes): this {
    const { account } = this.#visitor;
    if (this.#hasServers) this.report(type, attributes);
    if (account !== null) {
      if (this.#truth.has_login && (this.#hasServers || this.#sdk?.isHeard === true)) account.logins++;
      this.#nowMs += 40;
      this.#sdk?.setUser(account.id, this.#nowMs);
    }
    return this.#hasServers ? this : this.report(type, attributes);
  }

  logOut(): this {
    this.pause(4000).report("logout");
    this.#sdk?.setUser(null, this.#nowMs);
    return this;
  }

  // Returns the time at which the visit ended.
  end(): number {
    if (!this.#isOpen) throw new Error("A visit ends once");
    this.#isOpen = false;
    if (this.#isOnPage && this.#sdk !== null) this.#nowMs += this.#visitor.rhythm(6000);
    this.#sdk?.close(this.#nowMs);
    this.#truth.last_ms = Math.round(this.#nowMs);
    this.#outlet.note({ kind: "truth", at_ms: this.#truth.last_ms, session: this.#truth });
    const { truth, isPrelude = false } = this.#visitor;
    // The owner's own report says when a friendly fraud becomes known.
    if (!isPrelude && truth.kind !== "friendly_fraud") this.noteFraud();
    return this.#nowMs;
  }

  // Notes what was fraud in this visit. The default is a time that is typical of the kind of attack.
  noteFraud(knownMs?: number): void {
    if (!this.#outlet.notesFrauds) return;
    const fraud = fraudIn(this.#truth, this.#told, this.random.fork(`known ${this.sessionId}`), knownMs);
    if (fraud !== null) this.#outlet.note({ kind: "fraud", at_ms: this.#truth.last_ms, fraud });
  }
}
