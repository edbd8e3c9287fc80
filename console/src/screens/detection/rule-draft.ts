import type { RuleVersion } from "@casehound/client";
import { changedMembers, definitionOf, members, type Member, type RuleDefinition } from "../../changes/rules.ts";

// What a person writes, and the version it is based on. Version 0 means that the rule does not exist yet.
type Base = RuleDefinition & { rule_version: number };
export type RuleDraft = { rule_id: string; base: Base; wanted: RuleDefinition };

const prefix = "casehound.rule-draft.";
const newName = "+new";

const blank: RuleDefinition = {
  name: "",
  expression: "",
  sentence: "",
  label: "Account Takeover",
  weight: 1,
  about: "account",
  state: "shadow",
};

export function newDraft(): RuleDraft {
  return { rule_id: "", base: { ...blank, rule_version: 0 }, wanted: blank };
}

export function draftOf(rule: RuleVersion): RuleDraft {
  const base = { ...definitionOf(rule), rule_version: rule.rule_version };
  return { rule_id: rule.rule_id, base, wanted: definitionOf(rule) };
}

// A draft survives leaving the screen and a reload. It does not survive the tab or a sign-out.
export function readRuleDraft(ruleId: string | null): RuleDraft | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(prefix + (ruleId ?? newName)) ?? "null");
    // Only saveRuleDraft writes this entry.
    return stored === null ? null : (stored as RuleDraft);
  } catch {
    return null;
  }
}

export function saveRuleDraft(ruleId: string | null, draft: RuleDraft): void {
  sessionStorage.setItem(prefix + (ruleId ?? newName), JSON.stringify(draft));
}

export function dropRuleDraft(ruleId: string | null): void {
  sessionStorage.removeItem(prefix + (ruleId ?? newName));
}

export function isTouched({ base, wanted, rule_id }: RuleDraft): boolean {
  return changedMembers(base, wanted).length > 0 || (base.rule_version === 0 && rule_id !== "");
}

// What others changed since the draft was started, and where the draft differs from both.
export type Meeting = { member: Member; from: string; to: string; yours: string | null };

export function meetingsOf({ base, wanted }: RuleDraft, now: RuleDefinition): Meeting[] {
  return changedMembers(base, now).map((member) => {
    const isMine = wanted[member] !== base[member] && wanted[member] !== now[member];
    return { member, from: String(base[member]), to: String(now[member]), yours: isMine ? String(wanted[member]) : null };
  });
}

// Rebases the draft onto the current version. It keeps what the person changed and takes the rest from that version, so
// continuing does not silently undo a colleague's work.
export function carryOver({ rule_id, base, wanted }: RuleDraft, now: RuleVersion): RuleDraft {
  const mine = members.filter((member) => wanted[member] !== base[member]);
  const kept = Object.fromEntries(mine.map((member) => [member, wanted[member]]));
  const next = definitionOf(now);
  return { rule_id, base: { ...next, rule_version: now.rule_version }, wanted: { ...next, ...kept } };
}
