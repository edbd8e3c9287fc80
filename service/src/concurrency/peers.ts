export type TopicCounts = { topic: string; counts: [key: string, units: number][] };
type Topic = { least: number; onCount: (key: string, units: number) => void; unsent: Map<string, number> };

const unsentMax = 20_000;

// The processes of one service send each other their counts, so that a limit applies to all of them together, whichever process a
// connection leads to. A single process sends nothing.
export class Peers {
  // The same for all processes, or null if there is only one.
  salt: string | null = null;
  readonly #topics = new Map<string, Topic>();

  // Called before anything joins.
  open(salt: string): void {
    this.salt = salt;
  }

  // Returns a function that counts units to send to the others, or null if there are no others. Counts of a key below `least` are not
  // sent yet, so that callers who use little cause no messages.
  join(topic: string, { least, onCount }: Omit<Topic, "unsent">): ((key: string, units: number) => void) | null {
    if (this.salt === null) return null;
    const unsent = new Map<string, number>();
    this.#topics.set(topic, { least, onCount, unsent });
    return (key, units) => {
      if (unsent.size >= unsentMax) forgetFew(unsent, least);
      unsent.set(key, (unsent.get(key) ?? 0) + units);
    };
  }

  // What was counted since the last call.
  takeUnsent(): TopicCounts[] {
    const taken: TopicCounts[] = [];
    for (const [topic, { least, unsent }] of this.#topics) {
      const counts = [...unsent].filter(([, units]) => units >= least);
      for (const [key] of counts) unsent.delete(key);
      if (counts.length > 0) taken.push({ topic, counts });
    }
    return taken;
  }

  receive(received: TopicCounts[]): void {
    for (const { topic, counts } of received) for (const [key, units] of counts) this.#topics.get(topic)?.onCount(key, units);
  }
}

// Too many callers: forgets those who use little. Usually there is nobody else.
function forgetFew(unsent: Map<string, number>, least: number): void {
  for (const [key, units] of unsent) if (units < least) unsent.delete(key);
  if (unsent.size >= unsentMax) unsent.clear();
}

export const peers = new Peers();
