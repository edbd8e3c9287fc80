import type { Answer } from "../db/assessments.ts";

// The requests of this process that wait for answers to their assessments.
export class Verdicts {
  readonly #waiting = new Map<string, Map<string, Set<(reply: string) => void>>>();

  // Calls `answer` once with the stored answer. Returns a function that stops waiting.
  wait(tenantId: string, id_key: string, answer: (reply: string) => void): () => void {
    const tenant = this.#waiting.get(tenantId) ?? new Map<string, Set<(reply: string) => void>>();
    this.#waiting.set(tenantId, tenant);
    const waiting = tenant.get(id_key) ?? new Set();
    tenant.set(id_key, waiting.add(answer));
    return () => {
      waiting.delete(answer);
      if (waiting.size === 0 && tenant.get(id_key) === waiting) tenant.delete(id_key);
      if (tenant.size === 0 && this.#waiting.get(tenantId) === tenant) this.#waiting.delete(tenantId);
    };
  }

  isWaiting(tenantId: string, id_key: string): boolean {
    return this.#waiting.get(tenantId)?.has(id_key) ?? false;
  }

  // The tenants with waiting requests, and the keys of the activities that a tenant's requests wait for.
  tenants(): string[] {
    return [...this.#waiting.keys()];
  }

  keysOf(tenantId: string): string[] {
    return [...(this.#waiting.get(tenantId)?.keys() ?? [])];
  }

  deliver(tenantId: string, answers: Answer[]): void {
    for (const { id_key, reply } of answers) {
      for (const answer of this.#waiting.get(tenantId)?.get(id_key) ?? []) answer(reply);
    }
  }
}
