import type { Together } from "../detection/crowd.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { blockOf, hostOf } from "../domain/address.ts";

// Counts the accounts that the pages of a batch named on each device, address and block, and the browsers on each address and
// block.
export class Gathering {
  readonly #onDevice = new Names();
  readonly #onAddress = new Names();
  readonly #onBlock = new Names();
  readonly #browsersOnAddress = new Names();
  readonly #browsersOnBlock = new Names();

  // Takes the events of unverified pages.
  constructor(events: EnrichedActivity[]) {
    for (const { activity } of events) {
      const { device_id: device, session_id: session, ip, website_account_id: claimed } = activity;
      if (claimed !== undefined && device !== undefined) this.#onDevice.add(device, claimed);
      if (ip === undefined) continue;
      const [host, block] = [hostOf(ip), blockOf(ip)];
      if (claimed !== undefined) {
        this.#onAddress.add(host, claimed);
        this.#onBlock.add(block, claimed);
      }
      // A page that sends no device id is counted by its session. Otherwise each of its sessions would be a case of its own.
      const browser = device ?? session;
      if (browser !== undefined) {
        this.#browsersOnAddress.add(host, browser);
        this.#browsersOnBlock.add(block, browser);
      }
    }
  }

  around({ activity }: EnrichedActivity): Together {
    const { device_id: device, ip } = activity;
    const [host, block] = ip === undefined ? [] : [hostOf(ip), blockOf(ip)];
    return {
      onDevice: this.#onDevice.count(device),
      onAddress: this.#onAddress.count(host),
      onBlock: this.#onBlock.count(block),
      browsersOnAddress: this.#browsersOnAddress.count(host),
      browsersOnBlock: this.#browsersOnBlock.count(block),
    };
  }
}

// The distinct names at each place.
class Names {
  readonly #names = new Map<string, Set<string>>();

  add(place: string, name: string): void {
    const names = this.#names.get(place);
    if (names) names.add(name);
    else this.#names.set(place, new Set([name]));
  }

  count(place: string | undefined): number {
    return place === undefined ? 0 : (this.#names.get(place)?.size ?? 0);
  }
}
