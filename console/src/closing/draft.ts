import type { Disposition } from "../changes/desk.ts";

// The own disposition always counts as the disposition.
export type Draft = { disposition: Disposition | null; own_disposition?: string; reason: string };

const prefix = "casehound.draft.";
const empty: Draft = { disposition: null, reason: "" };

// A draft survives closing the dialog, leaving the screen and a reload. It does not survive the tab or a sign-out.
export function readDraft(caseId: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(prefix + caseId) ?? "null");
    // Only saveDraft writes this entry.
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
