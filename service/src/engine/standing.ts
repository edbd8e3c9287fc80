import type { Turn } from "../db/activities.ts";
import { kindBits, kindOf, type EnrichedActivity } from "../detection/scene.ts";
import { isStillTold } from "../domain/source.ts";
import type { Trust } from "./vouching.ts";

const browserFreshMs = 24 * 60 * 60 * 1000;
// Fewer sessions than the minimum are too few to judge by. Above the maximum, all counts are halved, so older sessions weigh
// less.
const tiedSessionsMin = 10;
const tiedSessionsMax = 200;

// The kinds of activity that a tenant's servers report, each with the last day on which they reported it.
type LastReports = Record<string, string>;

const bits: Record<string, number> = {
  login: kindBits.login,
  failed: kindBits.failed,
  signup: kindBits.signup,
  sensitive: kindBits.sensitive,
  value: kindBits.value,
};

// What a tenant's servers and pages have sent so far, including this batch.
export class Standing {
  readonly #turn: Turn;
  readonly #now: string;
  readonly #told: LastReports;
  readonly #isNewlyTold: boolean;

  constructor(turn: Turn, events: EnrichedActivity[], now: string) {
    this.#turn = turn;
    this.#now = now;
    const today = now.slice(0, 10);
    const kinds = new Set(events.flatMap(kindsTold));
    this.#isNewlyTold = [...kinds].some((kind) => turn.told[kind] !== today);
    this.#told = { ...turn.told, ...Object.fromEntries([...kinds].map((kind) => [kind, today])) };
  }

  get trust(): Trust {
    const { identity_verification: verification } = this.#turn;
    return {
      isSignatureRequired: verification === "required",
      isSnippetOnly: verification === "off" && !this.#tells("any"),
    };
  }

  get serverTells(): number {
    return Object.entries(bits).reduce((all, [kind, bit]) => (this.#tells(kind) ? all | bit : all), 0);
  }

  // Whether browsers send events in most of the sessions that the servers report. If not, a session without browser events is not
  // suspicious.
  get hasBrowser(): boolean {
    const { browser_at: at, tied_sessions: tied, heard_sessions: heard } = this.#turn;
    const isFresh = at !== null && Date.parse(this.#now) - Date.parse(at) < browserFreshMs;
    return isFresh && tied >= tiedSessionsMin && 2 * heard >= tied;
  }

  // Returns the turn as it is after the batch, or null if nothing in it changed.
  after({
    tied,
    heard,
  }: {
    tied: number;
    heard: number;
  }): Pick<Turn, "told" | "tied_sessions" | "heard_sessions" | "browser_at"> | null {
    if (tied === 0 && heard === 0 && !this.#isNewlyTold) return null;
    const { tied_sessions: before, heard_sessions: heardBefore, browser_at: at } = this.#turn;
    const half = before + tied > tiedSessionsMax ? 0.5 : 1;
    return {
      told: this.#told,
      tied_sessions: (before + tied) * half,
      heard_sessions: (heardBefore + heard) * half,
      browser_at: heard > 0 ? this.#now : at,
    };
  }

  #tells(kind: string): boolean {
    return isStillTold(this.#told[kind], this.#now);
  }
}

// A log-in without a device does not count as reported, because then only the pages know the device.
function kindsTold({ activity }: EnrichedActivity): string[] {
  const { origin, type, website_account_id: account, device_id: device } = activity;
  if (origin !== "server" || account === undefined) return [];
  const bit = kindOf(type);
  const kind = Object.keys(bits).find((name) => bits[name] === bit);
  return kind === undefined || (kind === "login" && device === undefined) ? ["any"] : ["any", kind];
}
