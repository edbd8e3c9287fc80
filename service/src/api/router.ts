import { Failure } from "../domain/failure.ts";
import type { Operation } from "./operation.ts";
import { isDotSegment, type Target } from "./path.ts";
import type { SystemCall, SystemOperation } from "./system.ts";

export type Match =
  | { kind: "tenant"; operation: Operation; slug: string; params: Record<string, string>; query: string }
  | { kind: "system"; operation: SystemOperation; call: SystemCall };

type Route = { segments: string[]; method: string; match: (raw: string[], query: string) => Match };

// Compares raw segments, letter by letter. A literal segment goes before a parameter.
export class Router {
  readonly #routes = new Map<number, Route[]>();

  constructor(operations: readonly Operation[], system: readonly SystemOperation[]) {
    for (const operation of operations) {
      const segments = ["v2", "{tenant_slug}", ...operation.path.slice(1).split("/")];
      this.#add({ segments, method: operation.method, match: (raw, query) => tenantMatch(operation, segments, raw, query) });
    }
    for (const operation of system) {
      const segments = operation.path.slice(1).split("/");
      const match = (raw: string[], query: string): Match => {
        return { kind: "system", operation, call: { params: paramsOf(segments, raw), query } };
      };
      this.#add({ segments, method: operation.method, match });
    }
    for (const routes of this.#routes.values()) routes.sort((a, b) => parametersOf(a) - parametersOf(b));
  }

  route(method: string, target: Target | null): Match {
    const { segments, query } = target ?? { segments: [], query: "" };
    const found = (this.#routes.get(segments.length) ?? []).filter((route) => fits(route.segments, segments));
    if (found.length === 0) throw new Failure("item-not-found", "There is nothing at this path.");
    const route = found.find((each) => each.method === method);
    if (!route) {
      const allow = [...new Set(found.map((each) => each.method))].toSorted().join(", ");
      throw new Failure("method-not-allowed", `This path takes ${allow}.`, { headers: { allow } });
    }
    return route.match(segments, query);
  }

  #add(route: Route): void {
    const routes = this.#routes.get(route.segments.length) ?? [];
    routes.push(route);
    this.#routes.set(route.segments.length, routes);
  }
}

function parametersOf(route: Route): number {
  return route.segments.filter((segment) => segment.startsWith("{")).length;
}

function fits(wanted: string[], raw: string[]): boolean {
  return wanted.every((segment, index) => {
    const given = raw[index] ?? "";
    return segment.startsWith("{") ? given !== "" && !isDotSegment(given) : segment === given;
  });
}

function tenantMatch(operation: Operation, segments: string[], raw: string[], query: string): Match {
  const { tenant_slug: slug = "", ...params } = paramsOf(segments, raw);
  return { kind: "tenant", operation, slug, params, query };
}

// As they stand in the path, escapes and all.
function paramsOf(segments: string[], raw: string[]): Record<string, string> {
  const given = segments.map((segment, index) => [segment, raw[index] ?? ""] as const);
  return Object.fromEntries(
    given.filter(([segment]) => segment.startsWith("{")).map(([segment, value]) => [segment.slice(1, -1), value]),
  );
}
