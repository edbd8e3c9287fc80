const name = "casehound_http_request_seconds";
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

// Requests by duration: one count for each bound, not cumulative, and a last one for everything longer.
export type Series = { operation: string; method: string; status: number; counts: number[]; sum: number };

// Request durations as a Prometheus histogram. The client library's histogram checks the label names on every request, which cost
// a read as much as its authorization.
export class RequestTimes {
  readonly #series = new Map<string, Map<number, Series>>();

  observe(operation: string, method: string, status: number, seconds: number): void {
    const series = this.#find(operation, method, status);
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? 0)) at++;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += seconds;
  }

  series(): Series[] {
    return [...this.#series.values()].flatMap((byStatus) => [...byStatus.values()]);
  }

  // Adds what another process observed.
  add(others: Series[]): void {
    for (const { operation, method, status, counts, sum } of others) {
      const series = this.#find(operation, method, status);
      for (const [at, count] of counts.entries()) series.counts[at] = (series.counts[at] ?? 0) + count;
      series.sum += sum;
    }
  }

  // An operation has one method, except "none", which stands for requests that match no operation.
  #find(operation: string, method: string, status: number): Series {
    const name = operation === "none" ? method : operation;
    const byStatus = this.#series.get(name) ?? new Map<number, Series>();
    const found = byStatus.get(status);
    if (found) return found;
    const added = { operation, method, status, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
    this.#series.set(name, byStatus.set(status, added));
    return added;
  }

  text(): string {
    const all = this.series();
    return `# HELP ${name} Time to answer a request\n# TYPE ${name} histogram\n${all.map(linesOf).join("")}`;
  }
}

function linesOf({ operation, method, status, counts, sum }: Series): string {
  const labels = `operation="${operation}",method="${method}",status="${status}"`;
  let count = 0;
  const buckets = counts.map((each, at) => {
    count += each;
    return `${name}_bucket{le="${bounds[at] ?? "+Inf"}",${labels}} ${count}\n`;
  });
  return `${buckets.join("")}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`;
}
