const hourMs = 60 * 60 * 1000;
// A campaign ends after this time without a finding. So one rule starts at most two campaigns a day.
const quietMs = 12 * hourMs;

// Only this many targets are remembered. A target that returns after this many others is counted again.
const recentMax = 64;

// By rule: when the campaign began, its latest finding, the number of its targets, and the hashes of those seen last.
export type StoredCampaigns = Record<string, [began: number, last: number, targets: number, recent?: number[]]>;
export type Campaign = { subject: string; size: number };

// One attack from many sources: the findings of one rule that follow each other without a long pause.
export class Campaigns {
  readonly #stored: StoredCampaigns;
  #isChanged = false;

  constructor(stored: StoredCampaigns) {
    this.#stored = { ...stored };
  }

  // Counts a finding of the rule, and returns the campaign that it belongs to. `target` is a hash of the card that was tried, or
  // else of the account; 0 if there is neither. The size of a campaign is the number of its targets, not of its findings.
  // Otherwise somebody could make a campaign of any size with one account of their own, and once it was closed as a false
  // positive, an attack of up to twice that size would be damped.
  see(ruleId: string, at: number, target: number): Campaign {
    const known = this.#find(ruleId);
    // An event that was reported very late does not belong to the current campaign.
    if (known && at < known[0] - quietMs) return { subject: `campaign:${ruleId}:${dayOf(at)}`, size: 0 };
    const isNew = known === undefined || at > known[1] + quietMs;
    const [began, last, targets, recent = []] = isNew ? ([at, at, 0] as const) : known;
    const others = recent.filter((each) => each !== target);
    const size = others.length < recent.length ? targets : targets + 1;
    const seen = target === 0 ? recent : [...others, target].slice(-recentMax);
    const next: StoredCampaigns[string] = [began, Math.max(last, at), size, [...seen]];
    this.#stored[ruleId] = next;
    this.#isChanged = true;
    return { subject: subjectOf(ruleId, next[0]), size: next[2] };
  }

  // The campaign that a finding would belong to, without counting it.
  peek(ruleId: string, at: number): string {
    const known = this.#find(ruleId);
    const isUnderWay = known && at >= known[0] - quietMs && at <= known[1] + quietMs;
    return isUnderWay ? subjectOf(ruleId, known[0]) : `campaign:${ruleId}:${dayOf(at)}`;
  }

  // A rule's id may be `constructor`, a name that every object inherits.
  #find(ruleId: string): StoredCampaigns[string] | undefined {
    return Object.hasOwn(this.#stored, ruleId) ? this.#stored[ruleId] : undefined;
  }

  // Returns null if nothing changed.
  changed(): StoredCampaigns | null {
    return this.#isChanged ? this.#stored : null;
  }
}

function subjectOf(ruleId: string, began: number): string {
  return `campaign:${ruleId}:${new Date(began).toISOString().slice(0, 16)}Z`;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
