import type { FraudOnDevice } from "../db/links.ts";

const dayMs = 24 * 60 * 60 * 1000;
const recentMs = 90 * dayMs;
// An account that was on the device this long before the fraudster is not accused. Otherwise somebody who knows the id of
// another's device could name it in a fraud of his own.
const settledMs = 30 * dayMs;

type Fraud = { decidedAt: number; from: number; isFraudsters: boolean };
type Frauds = { accounts: number; decided: Map<string, Fraud> };
// The account that is active on the device, and since when it has used it.
type User = { account: string | undefined; since: string | undefined };

// Records which accounts on a batch's devices have a confirmed fraud, and how many accounts those devices have in all.
export class DeviceFrauds {
  readonly #devices = new Map<string, Frauds>();

  add({ device_id, website_account_id, decided_at, first_seen, is_fraudsters, accounts }: FraudOnDevice): void {
    const known = this.#devices.get(device_id) ?? { accounts, decided: new Map() };
    const [decidedAt, from] = [Date.parse(decided_at), Date.parse(first_seen)];
    known.decided.set(website_account_id, { decidedAt, from, isFraudsters: is_fraudsters });
    this.#devices.set(device_id, known);
  }

  // Counts the accounts on the device with a confirmed fraud, excluding the given account. A fraud counts against accounts that
  // came to the device with the fraudster or later. If the device may belong to an honest household, it counts only against
  // accounts that came after it was confirmed. `accounts` is 0 if the device has no confirmed fraud at all.
  of(device: string, { account, since }: User, at: number): { confirmed: number; confirmedRecently: number; accounts: number } {
    const known = this.#devices.get(device);
    const sinceMs = since === undefined ? Infinity : Date.parse(since);
    const others = [...(known?.decided ?? [])].flatMap(([id, { decidedAt, from, isFraudsters }]) =>
      id !== account && sinceMs > (isFraudsters ? from - settledMs : decidedAt) ? [decidedAt] : [],
    );
    return {
      confirmed: others.length,
      confirmedRecently: others.filter((decidedAt) => at - decidedAt <= recentMs).length,
      accounts: known?.accounts ?? 0,
    };
  }
}
