import type { Together } from "../detection/crowd.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { blockOf, hostOf } from "../domain/address.ts";

// Counts the accounts that the pages of a batch named on each device, address and block, and the browsers on each address and
// block.
export class Gathering {
  readonly #names = new Map<string, Set<string>>();

  // Takes the events of unverified pages.
  constructor(events: EnrichedActivity[]) {
    for (const { activity } of events) {
      const { device_id: device, session_id: session, ip, website_account_id: claimed } = activity;
      if (claimed !== undefined && device !== undefined) this.#add(`device ${device}`, claimed);
      if (claimed !== undefined && ip !== undefined) {
        this.#add(`ip ${hostOf(ip)}`, claimed);
        this.#add(`block ${blockOf(ip)}`, claimed);
      }
      // A page that sends no device id is counted by its session. Otherwise each of its sessions would be a case of its own.
      const browser = device ?? session;
      if (browser !== undefined && ip !== undefined) {
        this.#add(`browsers ${hostOf(ip)}`, browser);
        this.#add(`browsers ${blockOf(ip)}`, browser);
      }
    }
  }

  around({ activity }: EnrichedActivity): Together {
    const { device_id: device, ip } = activity;
    const count = (name: string) => this.#names.get(name)?.size ?? 0;
    return {
      onDevice: device === undefined ? 0 : count(`device ${device}`),
      onAddress: ip === undefined ? 0 : count(`ip ${hostOf(ip)}`),
      onBlock: ip === undefined ? 0 : count(`block ${blockOf(ip)}`),
      browsersOnAddress: ip === undefined ? 0 : count(`browsers ${hostOf(ip)}`),
      browsersOnBlock: ip === undefined ? 0 : count(`browsers ${blockOf(ip)}`),
    };
  }

  #add(place: string, name: string): void {
    const names = this.#names.get(place);
    if (names) names.add(name);
    else this.#names.set(place, new Set([name]));
  }
}
