const prefix = "casehound.note.";

// Like the draft of a close, it survives leaving the screen and a reload, but not the tab or a sign-out.
export function readNoteDraft(caseId: string): string {
  return sessionStorage.getItem(prefix + caseId) ?? "";
}

export function saveNoteDraft(caseId: string, text: string): void {
  if (text === "") sessionStorage.removeItem(prefix + caseId);
  else sessionStorage.setItem(prefix + caseId, text);
}
