export type Told = { topic: string; counts: [key: string, units: number][] };
type Topic = { least: number; hear: (key: string, units: number) => void; untold: Map<string, number> };

const untoldMax = 20_000;

// The processes of one service tell each other what they have counted, so that a limit is one limit for all of them, whichever
// process a connection leads to. A process on its own counts for nobody else.
export class Peers {
  // The same for all processes, or null without others.
  salt: string | null = null;
  readonly #topics = new Map<string, Topic>();

  // Called before anything joins.
  open(salt: string): void {
    this.salt = salt;
  }

  // Returns a function that counts what the others should hear of, or null if there are no others. Less than `least` units of a key
  // are not told yet, so that callers who use little cause no messages.
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
