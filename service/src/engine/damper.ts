import { findTraitOutcomes, saveTraits, traitKey, type CaseTrait } from "../db/case-traits.ts";
import { dampedLead, rememberedMs, traitsOf, type PastOutcome } from "../detection/damping.ts";
import type { Found } from "../detection/finding.ts";
import type { Lead } from "../detection/leads.ts";
import type { EnrichedActivity } from "../detection/scene.ts";
import { isAccountSubject } from "../domain/activity.ts";
import type { Batch, CaseWork } from "./cases.ts";

export type TracedLead = Lead & { traits: string[] };

// Lowers the leads of a batch because of look-alikes that were closed as false positives.
export class Damper {
  readonly #key: string;
  readonly #isHistory: boolean;
  #past = new Map<string, PastOutcome[]>();

  // History is scored as it would have been on its own day, so outcomes that were decided later do not count.
  constructor(key: string, { isHistory = false } = {}) {
    this.#key = key;
    this.#isHistory = isHistory;
  }

  trace(lead: Lead, event: EnrichedActivity): TracedLead {
    return { ...lead, traits: traitsOf(lead, event).map((trait) => traitKey(this.#key, trait)) };
  }

  // Most batches have no lead that is strong enough for a case, and need no query.
  async load({ tx, tenantId, now }: Batch, leads: TracedLead[]): Promise<void> {
    const traits = [...new Set(leads.filter(isStrong).flatMap((lead) => lead.traits))];
    if (traits.length === 0) return;
    const since = new Date(Date.parse(now) - rememberedMs).toISOString();
    for (const { trait, rule_id, case_id, size, disposition, decided_at } of await findTraitOutcomes(tx, tenantId, {
      traits,
      since,
    })) {
      const key = `${trait} ${rule_id}`;
      const past = this.#past.get(key) ?? [];
      past.push({ case_id, isFraud: disposition === "CONFIRMED_FRAUD", decidedMs: Date.parse(decided_at), size });
      this.#past.set(key, past);
    }
  }

  damp(lead: TracedLead, at: number): TracedLead {
    if (!isStrong(lead) || this.#past.size === 0) return lead;
    const isKnown = ({ decidedMs }: PastOutcome) => !this.#isHistory || decidedMs <= at;
    const pastOf = (ruleId: string) => lead.traits.flatMap((trait) => this.#past.get(`${trait} ${ruleId}`) ?? []).filter(isKnown);
    return { ...lead, ...dampedLead(lead, pastOf, at) };
  }

  // Records the traits of a case's evidence. For a repeat, only its size is recorded.
  static async save({ tx, tenantId, now }: Batch, found: Found[], { made, caseOf }: CaseWork): Promise<void> {
    const rows = new Map<string, CaseTrait>();
    for (const each of found) {
      const case_id = caseOf.get(each.subject);
      const { record } = each;
      if (case_id === undefined || !record) continue;
      const isNew = made.has(each);
      if (!isNew && isAccountSubject(each.subject) && record.size === 0) continue;
      for (const trait of isNew ? record.traits : record.traits.slice(0, 1)) {
        for (const rule_id of record.rules) {
          const key = `${trait} ${case_id} ${rule_id}`;
          rows.set(key, { trait, rule_id, case_id, size: Math.max(record.size, rows.get(key)?.size ?? 0) });
        }
      }
    }
    await saveTraits(tx, tenantId, [...rows.values()], now);
  }
}

function isStrong({ verdict }: Lead): boolean {
  return verdict.score >= 3;
}
