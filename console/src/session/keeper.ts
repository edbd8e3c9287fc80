import { ProblemError } from "@casehound/client";
import type { ConsoleClient } from "../data/client.ts";
import { readSession, type Session } from "./session.ts";

type Waiting = { goOn: () => void; giveUp: () => void };

export type SessionEvents = {
  // The session has ended. The person must sign in again.
  onLost: () => void;
  // Somebody else has signed in in this browser, or this person must add a second factor first.
  onOther: (session: Session) => void;
};

export function isSamePerson(a: Session, b: Session): boolean {
  return a.user.user_id === b.user.user_id && a.tenant.tenant_id === b.tenant.tenant_id;
}

// One person's session while the page is open. If it ends, pending requests wait until the same person signs in again and are
// then resent: the same bytes, under the same key. They are never sent in another person's name.
export class SessionKeeper {
  readonly #watch: SessionEvents;
  readonly #waiting = new Set<Waiting>();
  #session: Session;

  constructor(session: Session, watch: SessionEvents) {
    this.#session = session;
    this.#watch = watch;
  }

  current = (): Session => this.#session;

  renew(session: Session): void {
    this.#session = session;
    for (const { goOn } of this.#waiting) goOn();
    this.#waiting.clear();
  }

  // Pending requests fail with their original error.
  giveUp(): void {
    for (const { giveUp } of this.#waiting) giveUp();
    this.#waiting.clear();
  }

  // Checks whether the session still exists, for callers that do not learn why they were rejected.
  async check(): Promise<void> {
    const now = await readSession();
    if (now?.must_add_second_factor) this.#watch.onOther(now);
    else if (now) this.#compare(now);
    else this.#watch.onLost();
  }

  // Whether a rejected request may be resent. `since` is the session it was sent with.
  async mayRepeat(since: Session, refusal: ProblemError): Promise<boolean> {
    if (refusal.status !== 401 && refusal.status !== 403) return false;
    if (this.#session !== since) return true;
    if (refusal.status === 401) return this.#wait(refusal, this.#watch.onLost);
    // Another tab may have signed in again, which creates a new CSRF token.
    const now = await readSession();
    if (now?.must_add_second_factor) return this.#wait(refusal, () => this.#watch.onOther(now));
    return now ? this.#compare(now) : this.#wait(refusal, this.#watch.onLost);
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

  #wait(refusal: ProblemError, tell: () => void): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    this.#waiting.add({ goOn: () => resolve(true), giveUp: () => reject(refusal) });
    tell();
    return promise;
  }
}

// A client whose calls survive the end of a session.
export function keepSignedIn(client: ConsoleClient, keeper: SessionKeeper): ConsoleClient {
  const surviving = async <T>(attempt: () => Promise<T>): Promise<T> => {
    for (;;) {
      const since = keeper.current();
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof ProblemError) || !(await keeper.mayRepeat(since, error))) throw error;
      }
    }
  };
  return {
    call: (id, input) => surviving(() => client.call(id, input)),
    exportCsv: (id, input) => surviving(() => client.exportCsv(id, input)),
  };
}
