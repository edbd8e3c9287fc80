import type { Random } from "@casehound/simulator/random";
import { closeCases, misuse, putAccount, putCase, reportFraud, type Errand } from "./errands.ts";
import { registerOf } from "./history.ts";
import type { Reading, Recorder } from "./recorder.ts";
import { readAccount, readCase, readList, type ListItem } from "./sights.ts";
import type { Answer, Wire } from "./wire.ts";
import type { KnownCase, World } from "./world.ts";

// One connection to each service, with a token that the service issued.
export type ApiConnection = { wire: Wire; token: string };
export type Identity = { name: string; actor: string; base: string; lines: [ApiConnection, ApiConnection] };

const shares = {
  readCase: 34,
  listOfAccount: 4,
  listOpen: 7,
  listLatest: 5,
  readAccount: 8,
  changeAccount: 8,
  changeCase: 22,
  closeMany: 4,
  report: 3,
  repeat: 5,
  misuse: 2,
  race: 2,
};
type Step = keyof typeof shares;

const rememberedMax = 40;
const cutShare = 0.06;
const flagNames = ["is_blocked", "is_quarantined", "is_fraudulent"];

// A client that does one thing after another, whatever the outcome. It resends a request without a response under the same key.
export class Client {
  readonly #identity: Identity;
  readonly #random: Random;
  readonly #world: World;
  readonly #recorder: Recorder;
  readonly #bound: Errand[] = [];
  readonly #open: Errand[] = [];
  #made = 0;

  constructor(identity: Identity, random: Random, world: World, recorder: Recorder) {
    this.#identity = identity;
    this.#random = random;
    this.#world = world;
    this.#recorder = recorder;
  }

  async work(): Promise<void> {
    while (!this.#recorder.isComplete) {
      if (this.#open.length > 0 && this.#random.chance(0.3)) await this.#resolve();
      else await this[this.#random.pickShare<Step>(shares)]();
    }
    while (this.#open.length > 0) await this.#resolve();
  }

  async makeAccount(account: string): Promise<boolean> {
    const errand = putAccount(this.#marker(), { account, actor: this.#identity.actor, flags: {} }, true);
    return (await this.#send(errand, this.#line())) === "bound";
  }

  async report(account = this.#random.pick(this.#world.accounts)): Promise<void> {
    if (this.#world.isWorn(account)) return this.#renew(account);
    if (!this.#world.mayReport(account)) return;
    await this.#attempt(reportFraud(this.#marker(), account, new Date().toISOString()));
  }

  async readCase(id = this.#target()?.case_id): Promise<string> {
    if (id === undefined) return "";
    const answer = await this.#read(`GET ${id}`, `/cases/${id}`, ({ text }) => {
      const { seen, sights } = readCase(text);
      this.#world.see(seen);
      return { sights };
    });
    return answer?.text ?? "";
  }

  async listOfAccount(account = this.#random.pick(this.#world.accounts)): Promise<string[]> {
    let ids: string[] = [];
    await this.#list(`website_account_id=${account}`, (items) => {
      ids = items.map(({ case_id }) => case_id);
      return { sights: [], listed: { account, cases: new Set(ids) } };
    });
    return ids;
  }

  async listOpen(): Promise<void> {
    const account = this.#random.pick(this.#world.accounts);
    await this.#list(`website_account_id=${account}&status=OPEN`, ([first, ...others]) => ({
      sights: [{ register: registerOf.openCase(account), value: first?.case_id ?? null }],
      ...(others.length > 0 && { fault: "two open cases" }),
    }));
  }

  async listLatest(): Promise<void> {
    await this.#list(`sort=-updated_at&limit=${this.#random.whole(2, 10)}`, () => ({ sights: [] }));
  }

  async readAccount(): Promise<void> {
    const account = this.#random.pick(this.#world.accounts);
    await this.#read(`ACCOUNT-GET ${account}`, `/enduseraccounts/${account}`, ({ text }) => ({ sights: readAccount(text) }));
  }

  async changeAccount(): Promise<void> {
    const names = flagNames.filter(() => this.#random.chance(0.5));
    const flags = Object.fromEntries(names.map((name) => [name, this.#random.chance(0.5)]));
    const change = { account: this.#random.pick(this.#world.accounts), actor: this.#identity.actor, flags };
    await this.#send(putAccount(this.#marker(), change), this.#line(), this.#cut());
  }

  async changeCase(): Promise<void> {
    const errand = this.#put();
    if (errand) await this.#attempt(errand);
  }

  async closeMany(): Promise<void> {
    const chosen = this.#world.active.filter(() => this.#random.chance(0.6));
    if (chosen.length === 0) return;
    const cases = chosen.map((known) => ({ case_id: known.case_id, case_version: this.#version(known) }));
    await this.#attempt(closeCases(this.#marker(), cases, (closed) => this.#world.seeClosed(closed)));
  }

  async repeat(): Promise<void> {
    if (this.#bound.length > 0) await this.#send(this.#random.pick(this.#bound), this.#line());
  }

  async misuse(): Promise<void> {
    const errand = this.#bound.findLast(({ request }) => request.method === "PUT" && request.key !== undefined);
    if (!errand) return;
    const { key = "", body = "" } = errand.request;
    const other = JSON.stringify({ ...(JSON.parse(body) as object), reason: `${key}~` });
    await this.#send(misuse(key, errand, other), this.#line());
  }

  // Sends the same request to both services at once.
  async race(): Promise<void> {
    const errand = this.#put();
    if (!errand) return;
    const sent = await Promise.all(this.#identity.lines.map((line) => this.#send(errand, line, this.#cut())));
    this.#keep(errand, sent);
  }

  async #renew(account: string): Promise<void> {
    const fresh = this.#world.nameNext();
    if (await this.makeAccount(fresh)) this.#world.replace(account, fresh);
  }

  #put(): Errand | null {
    const known = this.#targetOfPut();
    if (!known) return null;
    const isRetired = known.version >= known.retiresAt;
    const isOpen = known.status === "OPEN";
    const status = isRetired || isOpen !== this.#random.chance(0.1) ? "CLOSED" : "OPEN";
    const disposition = status === "CLOSED" && this.#random.chance(0.5) && { disposition: "FALSE_POSITIVE" };
    const { case_id, account } = known;
    const put = { case_id, account, case_version: this.#version(known), status, ...disposition };
    return putCase(this.#marker(), put, (seen) => this.#world.see(seen));
  }

  #target(): KnownCase | undefined {
    const { active } = this.#world;
    return active.length === 0 ? undefined : this.#random.pick(active);
  }

  // Mostly avoids a reopen that would be rejected because of another open case.
  #targetOfPut(): KnownCase | undefined {
    const target = this.#target();
    if (target?.status !== "CLOSED" || this.#random.chance(0.2)) return target;
    return this.#world.openCaseOf(target.account) ?? target;
  }

  // Mostly the known version, otherwise an old one, or one that somebody may be creating now.
  #version({ version }: KnownCase): number {
    if (this.#random.chance(0.75)) return version;
    return this.#random.chance(0.5) ? version + 1 : version - this.#random.whole(1, 3);
  }

  #marker(): string {
    this.#made += 1;
    return `${this.#identity.name}-${this.#made}`;
  }

  #line(): ApiConnection {
    return this.#identity.lines[this.#random.chance(0.5) ? 0 : 1];
  }

  #cut(): number | undefined {
    return this.#random.chance(cutShare) ? this.#random.whole(0, 12) : undefined;
  }

  async #attempt(errand: Errand): Promise<void> {
    this.#keep(errand, [await this.#send(errand, this.#line(), this.#cut())]);
  }

  async #resolve(): Promise<void> {
    const errand = this.#open.shift();
    if (!errand) return;
    const outcome = await this.#send(errand, this.#line());
    // A temporary rejection says nothing about the earlier call.
    this.#keep(errand, [outcome === "bound" ? outcome : "unknown"]);
  }

  #keep(errand: Errand, outcomes: (string | undefined)[]): void {
    if (outcomes.includes("bound")) this.#bound.push(errand);
    else if (outcomes.includes("unknown") || outcomes.includes("partial")) this.#open.push(errand);
    if (this.#bound.length > rememberedMax) this.#bound.shift();
  }

  async #send({ what, request, read }: Errand, { wire, token }: ApiConnection, cutAfterMs?: number): Promise<string | undefined> {
    const whole = { ...request, path: `${this.#identity.base}${request.path}`, token };
    let outcome: string | undefined;
    await this.#recorder.call(
      what,
      () => wire.send(whole, cutAfterMs),
      (answer) => {
        const reading = read(answer);
        outcome = reading.deed?.outcome;
        return reading;
      },
    );
    return outcome;
  }

  #read(what: string, path: string, read: (answer: Answer) => Reading): Promise<Answer | null> {
    const { wire, token } = this.#line();
    const request = { method: "GET", path: `${this.#identity.base}${path}`, token };
    return this.#recorder.call(
      what,
      () => wire.send(request),
      (answer) => (answer?.status === 200 ? read(answer) : { sights: [], fault: "not in the contract" }),
    );
  }

  #list(query: string, read: (items: ListItem[]) => Reading): Promise<Answer | null> {
    return this.#read(`LIST ${query}`, `/cases?${query}`, ({ text }) => {
      const { data } = JSON.parse(text) as { data: { cases: ListItem[] } };
      const { seen, sights } = readList(data.cases);
      for (const each of seen) this.#world.see(each);
      const reading = read(data.cases);
      return { ...reading, sights: [...sights, ...reading.sights] };
    });
  }
}
