import { ProblemError } from "@casehound/client";
import type { ConsoleClient } from "../data/client.ts";
import { readSession, type Session } from "./session.ts";

type Waiting = { goOn: () => void; giveUp: () => void };

export type Watch = {
  // It has ended; the person is to be asked to sign in again.
  onLost: () => void;
  // In this browser somebody else is signed in by now.
  onOther: (session: Session) => void;
};

export function isSamePerson(a: Session, b: Session): boolean {
  return a.user.user_id === b.user.user_id && a.tenant.tenant_id === b.tenant.tenant_id;
}

// One person's session for as long as the page is open. Where it ends on the way, what was being sent waits for the same
// person to sign in again, and then goes on, the same bytes under the same key. It never goes out in another one's name.
export class SessionKeeper {
  readonly #watch: Watch;
  readonly #waiting = new Set<Waiting>();
  #session: Session;

  constructor(session: Session, watch: Watch) {
    this.#session = session;
    this.#watch = watch;
  }

  current = (): Session => this.#session;

  renew(session: Session): void {
    this.#session = session;
    for (const { goOn } of this.#waiting) goOn();
    this.#waiting.clear();
  }

  // What waits is refused, in the words that it was refused with.
  giveUp(): void {
    for (const { giveUp } of this.#waiting) giveUp();
    this.#waiting.clear();
  }

  // Whether there still is a session, for what cannot tell by itself why it was refused.
  async check(): Promise<void> {
    const now = await readSession();
    if (now) this.#compare(now);
    else this.#watch.onLost();
  }

  // Whether what was refused may be sent again. `since` is the session that it was sent with.
  async mayRepeat(since: Session, refusal: ProblemError): Promise<boolean> {
    if (refusal.status !== 401 && refusal.status !== 403) return false;
    if (this.#session !== since) return true;
    if (refusal.status === 401) return this.#wait(refusal);
    // Another tab may have signed in anew, which makes another token.
    const now = await readSession();
    return now ? this.#compare(now) : this.#wait(refusal);
  }

  #compare(now: Session): boolean {
    if (now.csrf_token === this.#session.csrf_token) return false;
    if (isSamePerson(now, this.#session)) {
      this.renew(now);
      return true;
    }
    this.#watch.onOther(now);
    return false;
  }

  #wait(refusal: ProblemError): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.add({ goOn: () => resolve(true), giveUp: () => reject(refusal) });
    this.#watch.onLost();
    return promise;
  }
}

// A client whose calls outlive the session.
export function keepSignedIn(client: ConsoleClient, keeper: SessionKeeper): ConsoleClient {
  const call: ConsoleClient["call"] = async (id, input) => {
    for (;;) {
      const since = keeper.current();
      try {
        return await client.call(id, input);
      } catch (error) {
        if (!(error instanceof ProblemError) || !(await keeper.mayRepeat(since, error))) throw error;
      }
    }
  };
  return { call };
}
