// Latencies in buckets 1 % wide, because storing and sorting a million of them would cost more than the requests.
const width = Math.log(1.01);
const shortestMs = 0.001;
const buckets = 2_000;

export class Latencies {
  readonly #counts = new Float64Array(buckets);
  #total = 0;

  add(ms: number): void {
    const bucket = ms <= shortestMs ? 0 : Math.min(buckets - 1, Math.floor(Math.log(ms / shortestMs) / width));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
  }

  // The middle of the bucket in which this share is reached.
  at(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.#total * share));
    let seen = 0;
    const bucket = this.#counts.findIndex((count) => (seen += count) >= wanted);
    return this.#total === 0 ? Number.NaN : shortestMs * Math.exp((bucket + 0.5) * width);
  }
}
