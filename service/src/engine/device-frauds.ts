import type { FraudOnDevice } from "../db/links.ts";

const recentMs = 90 * 24 * 60 * 60 * 1000;

type Frauds = { accounts: number; decided: Map<string, number> };

// Records which accounts on a batch's devices have a confirmed fraud, and how many accounts those devices have in all.
export class DeviceFrauds {
  readonly #devices = new Map<string, Frauds>();

  add({ device_id, website_account_id, decided_at, accounts }: FraudOnDevice): void {
    const known = this.#devices.get(device_id) ?? { accounts, decided: new Map() };
    known.decided.set(website_account_id, Date.parse(decided_at));
    this.#devices.set(device_id, known);
  }

  // Counts the accounts on the device with a confirmed fraud, excluding the given account. `accounts` is 0 if the device has no
  // confirmed fraud at all.
  of(
    device: string,
    account: string | undefined,
    at: number,
  ): { confirmed: number; confirmedRecently: number; accounts: number } {
    const known = this.#devices.get(device);
    const others = [...(known?.decided ?? [])].filter(([id]) => id !== account);
    return {
      confirmed: others.length,
      confirmedRecently: others.filter(([, decided]) => at - decided <= recentMs).length,
      accounts: known?.accounts ?? 0,
    };
  }
}
