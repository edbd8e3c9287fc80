import type { Random } from "@casehound/simulator/random";
import { factsOfAccount, flagsText, type Flags } from "./accounts.ts";
import { factsOfCase } from "./chain.ts";
import { registerOf, type Call, type Deed, type FinalCase, type History, type LogEntry, type Sight } from "./history.ts";

type Moment = { begin: number; end: number };
const timeOf = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

// A minimal service without errors. It produces a correct history, which a test can then corrupt.
export class MadeHistory implements History {
  readonly calls: Call[] = [];
  readonly log: LogEntry[] = [];
  readonly cases = new Map<string, FinalCase>();
  readonly #accounts = new Map<string, { marker: string; flags: Flags; at: string }>();
  readonly #kept = new Map<string, Call & { deed: Deed }>();
  readonly #random: Random | null;
  #now = 0;

  // With a random stream, calls begin some time before they take effect and end some time after, so they overlap.
  constructor(random: Random | null = null) {
    this.#random = random;
  }

  makeAccount(account: string, marker = `made-${account}`): Call {
    this.#accounts.set(account, { marker, at: "", flags: { is_blocked: false, is_quarantined: false, is_fraudulent: false } });
    return this.changeAccount(account, marker, {}, "account.created");
  }

  changeAccount(account: string, marker: string, change: Partial<Flags>, type = "account.updated"): Call {
    const moment = this.#moment();
    const known = this.#accounts.get(account);
    if (!known) throw new Error(`no account ${account}`);
    Object.assign(known, { marker, flags: { ...known.flags, ...change }, at: timeOf(this.#now) });
    this.#append({ type, actor: "someone", resource: { type: "end_user_account", id: account }, data: change });
    const deed = { ...this.#deed("account", marker), account: { account, actor: "someone", flags: flagsText(change) } };
    return this.#add({ ...moment, what: `ACCOUNT ${account}`, sights: this.#sightsOfAccount(account), deed });
  }

  report(account: string, marker: string): Call {
    const moment = this.#moment();
    const open = this.#openCase(account);
    const id = open ?? `case-${this.cases.size + 1}`;
    if (open === null) this.cases.set(id, { account, states: [] });
    this.#advance(id, open === null ? "case.opened" : "case.evidence_added", { status: "OPEN", by: "system", marker });
    return this.#add({ ...moment, what: `REPORT ${account}`, sights: [], deed: this.#deed("report", marker) });
  }

  // Closes or reopens the case, or is rejected as the service would reject it.
  put(id: string, marker: string, { status, version }: { status: string; version: number }): Call & { deed: Deed } {
    const moment = this.#moment();
    const { account, states } = this.#case(id);
    const isRefused = version !== states.length || (status === "OPEN" && (this.#openCase(account) ?? id) !== id);
    const isChange = !isRefused && states.at(-1)?.status !== status;
    if (isChange) this.#advance(id, status === "OPEN" ? "case.reopened" : "case.closed", { status, by: "someone", marker });
    const made = isChange ? [{ case_id: id, version: states.length }] : [];
    const sights = isRefused ? [{ register: registerOf.case(id), value: states.length }] : this.#sightsOfCase(id);
    const call = { ...moment, what: `PUT ${id}`, sights, deed: { ...this.#deed("case", marker), made } };
    this.#kept.set(marker, call);
    this.#add(call);
    return call;
  }

  closeMany(ids: string[], marker: string, outcome: Partial<Deed> = {}): Call & { deed: Deed } {
    const moment = this.#moment();
    const open = ids.filter((id) => this.#case(id).states.at(-1)?.status === "OPEN");
    for (const id of open) this.#advance(id, "case.closed", { status: "CLOSED", by: "someone", marker });
    const made = open.map((id) => ({ case_id: id, version: this.#case(id).states.length }));
    const sights = ids.map((id) => ({ register: registerOf.case(id), value: this.#case(id).states.length }));
    const call = { ...moment, what: "BULK", sights, deed: { ...this.#deed("case", marker), isBulk: true, made, ...outcome } };
    this.#add(call);
    return call;
  }

  replay(marker: string): Call {
    const kept = this.#kept.get(marker);
    if (!kept) throw new Error(`nothing was done under ${marker}`);
    return this.#add({ ...kept, ...this.#moment(), deed: { ...kept.deed, isReplay: true } });
  }

  read(id: string): Call {
    const moment = this.#moment();
    return this.#add({ ...moment, what: `GET ${id}`, sights: this.#sightsOfCase(id) });
  }

  list(account: string): Call {
    const moment = this.#moment();
    const own = [...this.cases].filter(([, each]) => each.account === account).map(([id]) => id);
    const open = { register: registerOf.openCase(account), value: this.#openCase(account) };
    const sights = [...own.flatMap((id) => this.#sightsOfCase(id)), open];
    return this.#add({ ...moment, what: `LIST ${account}`, sights, listed: { account, cases: new Set(own) } });
  }

  readAccount(account: string): Call {
    const moment = this.#moment();
    return this.#add({ ...moment, what: `ACCOUNT-GET ${account}`, sights: this.#sightsOfAccount(account) });
  }

  refuse(marker: string): Call {
    const deed: Deed = { ...this.#deed("case", marker), outcome: "refused" };
    return this.#add({ ...this.#moment(), what: "PUT refused", sights: [], deed });
  }

  #moment(): Moment {
    this.#now += 10;
    const spread = () => (this.#random ? this.#random.between(1, 60) : 1);
    return { begin: this.#now - spread(), end: this.#now + spread() };
  }

  #add<T extends Call>(call: T): T {
    this.calls.push(call);
    return call;
  }

  #deed(kind: Deed["kind"], marker: string): Deed {
    return { kind, marker, outcome: "bound", made: [], isReplay: false, bytes: `answer to ${marker}` };
  }

  #advance(id: string, type: string, state: { status: string; by: string; marker: string }): void {
    const { states } = this.#case(id);
    states.push({ ...state, at: timeOf(this.#now) });
    this.#append({ type, actor: state.by, resource: { type: "case", id, version: states.length } });
  }

  #append(entry: Omit<LogEntry, "event_id" | "occurred_at">): void {
    this.log.push({ ...entry, event_id: this.log.length + 1, occurred_at: timeOf(this.#now) });
  }

  #case(id: string): FinalCase {
    const found = this.cases.get(id);
    if (!found) throw new Error(`no case ${id}`);
    return found;
  }

  #openCase(account: string): string | null {
    const isOpen = ([, each]: [string, FinalCase]) => each.account === account && each.states.at(-1)?.status === "OPEN";
    return [...this.cases].find(isOpen)?.[0] ?? null;
  }

  #sightsOfCase(id: string): Sight[] {
    const { account, states } = this.#case(id);
    const { status = "", at = "" } = states.at(-1) ?? {};
    const isBlocked = this.#accounts.get(account)?.flags.is_blocked ?? false;
    const hash = `case ${id} at ${states.length}`;
    return [
      { register: registerOf.case(id), value: states.length, facts: factsOfCase(status, at), hash },
      { register: registerOf.isBlocked(account), value: isBlocked },
    ];
  }

  #sightsOfAccount(account: string): Sight[] {
    const known = this.#accounts.get(account);
    if (!known) throw new Error(`no account ${account}`);
    const { marker, flags, at } = known;
    return [
      { register: registerOf.account(account), value: marker, facts: factsOfAccount(flags, at), hash: marker },
      { register: registerOf.isBlocked(account), value: flags.is_blocked },
    ];
  }
}

export function got<T>(found: T | undefined): T {
  if (found === undefined) throw new Error("the story of this test has changed");
  return found;
}

export function move(call: Call, begin: number): Call {
  return Object.assign(call, { begin, end: begin + 1 });
}
