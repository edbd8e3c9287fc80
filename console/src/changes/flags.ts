import { ProblemError, type EndUserAccount, type EndUserAccountChange } from "@casehound/client";
import type { Desk } from "./desk.ts";

export type Flag = "is_blocked" | "is_quarantined" | "is_fraudulent";
export type Flags = Pick<EndUserAccount, Flag>;
export type FlagChange = { websiteAccountId: string; flag: Flag; value: boolean; isUndo: boolean };
// `needsApproval`: the service refused the change only because it needs a second person.
export type FlagRefusal = { websiteAccountId: string; flag: Flag; words: string; needsApproval: boolean };

type Shelf = {
  // Shows the expected flags of an account on every screen.
  show: (websiteAccountId: string, flags: Flags) => void;
  // Called when the service has accepted the change.
  tell: (change: FlagChange) => void;
  refuse: (refusal: FlagRefusal) => void;
};

type Shown = Flags & { website_account_id: string };
type Press = { flag: Flag; value: boolean; isUndo: boolean };
// The flags the service last returned, and the presses since then in order.
type Account = { known: Flags; presses: Press[]; running: Promise<void> };

// Flags change on screen at once and revert to the service's last value if it rejects the change. Changes to one account are sent
// one after another, so the last press wins.
export class FlagBoard {
  readonly #desk: Desk;
  readonly #shelf: Shelf;
  readonly #accounts = new Map<string, Account>();

  constructor(desk: Desk, shelf: Shelf) {
    this.#desk = desk;
    this.#shelf = shelf;
  }

  // `shown` is what the person saw when pressing. The promise resolves when the service has answered.
  toggle(shown: Shown, flag: Flag): Promise<void> {
    const account = this.#accounts.get(shown.website_account_id);
    const value = !(account ? believed(account) : shown)[flag];
    return this.#press(shown, { flag, value, isUndo: false });
  }

  // Undoes a change.
  putBack(shown: Shown, { flag, value }: Pick<Press, "flag" | "value">): Promise<void> {
    return this.#press(shown, { flag, value, isUndo: true });
  }

  #press(shown: Shown, press: Press): Promise<void> {
    const id = shown.website_account_id;
    const account = this.#accounts.get(id) ?? { known: flagsOf(shown), presses: [], running: Promise.resolve() };
    this.#accounts.set(id, account);
    account.presses.push(press);
    this.#shelf.show(id, believed(account));
    account.running = account.running.then(() => this.#send(id, account, press));
    return account.running;
  }

  async #send(id: string, account: Account, { flag, value, isUndo }: Press): Promise<void> {
    const { client, outbox } = this.#desk;
    const body: EndUserAccountChange = { [flag]: value };
    const params = { website_account_id: id };
    let refused: unknown = null;
    try {
      account.known = flagsOf(
        await outbox.deliver("Changing a flag", () => client.call("updateEndUserAccount", { params, body })),
      );
    } catch (error) {
      refused = error;
    }
    account.presses.shift();
    if (account.presses.length === 0) this.#accounts.delete(id);
    this.#shelf.show(id, believed(account));
    if (refused === null) return this.#shelf.tell({ websiteAccountId: id, flag, value, isUndo });
    const words = refused instanceof ProblemError ? refused.detail : "The service did not answer.";
    const isDenied = refused instanceof ProblemError && refused.type === "access-denied";
    this.#shelf.refuse({
      websiteAccountId: id,
      flag,
      words,
      needsApproval: isDenied && (await this.#needsApproval(id, { [flag]: value })),
    });
  }

  // A refusal has the same type whatever its cause, so the service is asked. It also refuses this question if approval cannot help,
  // for example because the person lacks a scope.
  async #needsApproval(id: string, account: Partial<Flags>): Promise<boolean> {
    const body = { website_account_id: id, account };
    return this.#desk.client.call("checkApproval", { body }).then(
      ({ needs_approval }) => needs_approval,
      () => false,
    );
  }
}

function believed({ known, presses }: Account): Flags {
  return presses.reduce((flags, { flag, value }) => ({ ...flags, [flag]: value }), known);
}

function flagsOf({ is_blocked, is_quarantined, is_fraudulent }: Flags): Flags {
  return { is_blocked, is_quarantined, is_fraudulent };
}
