import type { Disposition } from "../changes/desk.ts";

export type Draft = { disposition: Disposition | null; reason: string };

const prefix = "casehound.draft.";
const empty: Draft = { disposition: null, reason: "" };

// What somebody began to write about a case outlives the dialog, the screen and a reload; not the tab, and not the sign-out.
export function readDraft(caseId: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(prefix + caseId) ?? "null");
    // Written by saveDraft alone.
    return stored === null ? empty : (stored as Draft);
  } catch {
    return empty;
  }
}

export function saveDraft(caseId: string, draft: Draft): void {
  if (draft.disposition === null && draft.reason === "") dropDraft(caseId);
  else sessionStorage.setItem(prefix + caseId, JSON.stringify(draft));
}

export function dropDraft(caseId: string): void {
  sessionStorage.removeItem(prefix + caseId);
}
