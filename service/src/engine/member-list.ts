import type { SavedMember } from "../db/case-members.ts";
import type { CaseDocument } from "../domain/case.ts";
import type { MemberChange } from "../domain/member.ts";

// The members that a batch adds to cases, each only once.
export class MemberList {
  readonly #now: string;
  readonly #members = new Map<string, SavedMember>();

  constructor(now: string) {
    this.#now = now;
  }

  add(caseId: string, changes: MemberChange[]): void {
    for (const { account, state } of changes)
      this.#set({ case_id: caseId, account, state, seen_at: this.#now, own_case_id: null });
  }

  // Links an account's case to the case of the attack that opened it. A case that was opened for another reason is not linked,
  // because closing the attack's case with its members must not close it.
  link({ case_id, website_account_id: account, details }: CaseDocument): void {
    const { campaign_case_id: campaign } = details;
    if (campaign === undefined) return;
    this.#set({ case_id: campaign, account, state: "entered", seen_at: this.#now, own_case_id: case_id });
  }

  all(): SavedMember[] {
    return [...this.#members.values()];
  }

  #set(member: SavedMember): void {
    this.#members.set(`${member.case_id} ${member.account}`, member);
  }
}
