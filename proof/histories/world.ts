import type { Random } from "@casehound/simulator/random";
import type { MadeVersion } from "./history.ts";
import type { SeenCase } from "./sights.ts";

export type KnownCase = SeenCase & { retiresAt: number };

const activePerAccount = 3;
const casesPerAccount = 10;

// What all clients know together. A case is sent whole and grows with every change. So clients abandon it after some tens of
// versions, closed, and reports open new ones. An account's flag is written to all of its cases, so clients replace an account
// after some cases.
export class World {
  readonly accounts: string[];
  readonly everyAccount: string[];
  readonly #random: Random;
  readonly #known = new Map<string, KnownCase>();
  readonly #active = new Map<string, KnownCase>();
  readonly #caseCounts = new Map<string, number>();
  #named = 0;

  constructor(random: Random, accounts: string[]) {
    this.#random = random;
    this.accounts = [...accounts];
    this.everyAccount = [...accounts];
  }

  get active(): KnownCase[] {
    return [...this.#active.values()];
  }

  see(seen: SeenCase): void {
    if (!this.#known.has(seen.case_id)) this.#caseCounts.set(seen.account, (this.#caseCounts.get(seen.account) ?? 0) + 1);
    const known = this.#known.get(seen.case_id) ?? { ...seen, version: 0, retiresAt: this.#random.whole(15, 50) };
    if (seen.version < known.version) return;
    Object.assign(known, seen);
    this.#known.set(seen.case_id, known);
    if (known.version >= known.retiresAt && known.status === "CLOSED") this.#active.delete(known.case_id);
    else this.#active.set(known.case_id, known);
  }

  seeClosed({ case_id, version }: MadeVersion): void {
    const known = this.#known.get(case_id);
    if (known) this.see({ case_id, account: known.account, status: "CLOSED", version });
  }

  openCaseOf(account: string): KnownCase | undefined {
    return this.active.find((each) => each.account === account && each.status === "OPEN");
  }

  isWorn(account: string): boolean {
    return (this.#caseCounts.get(account) ?? 0) >= casesPerAccount;
  }

  nameNext(): string {
    this.#named += 1;
    return `account-${this.#named}`;
  }

  replace(worn: string, fresh: string): void {
    const index = this.accounts.indexOf(worn);
    if (index === -1) return;
    this.accounts[index] = fresh;
    this.everyAccount.push(fresh);
  }

  // A report opens a new case only if none is open, so avoid that once there are enough cases.
  mayReport(account: string): boolean {
    const own = this.active.filter((each) => each.account === account);
    return own.length < activePerAccount || this.openCaseOf(account) !== undefined;
  }
}
