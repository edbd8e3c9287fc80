export type Told = { topic: string; counts: [key: string, units: number][] };
type Topic = { least: number; hear: (key: string, units: number) => void; untold: Map<string, number> };

const untoldMax = 20_000;

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
  join(topic: string, { least, hear }: Omit<Topic, "untold">): ((key: string, units: number) => void) | null {
    if (this.salt === null) return null;
    const untold = new Map<string, number>();
    this.#topics.set(topic, { least, hear, untold });
    return (key, units) => {
      if (untold.size >= untoldMax) untold.clear();
      untold.set(key, (untold.get(key) ?? 0) + units);
    };
  }

  // What was counted since the last call.
  takeUntold(): Told[] {
    const told: Told[] = [];
    for (const [topic, { least, untold }] of this.#topics) {
      const counts = [...untold].filter(([, units]) => units >= least);
      for (const [key] of counts) untold.delete(key);
      if (counts.length > 0) told.push({ topic, counts });
    }
    return told;
  }

  hear(told: Told[]): void {
    for (const { topic, counts } of told) for (const [key, units] of counts) this.#topics.get(topic)?.hear(key, units);
  }
}

export const peers = new Peers();
