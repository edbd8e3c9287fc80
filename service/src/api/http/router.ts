import { Failure } from "../../domain/failure.ts";
import type { Operation } from "../operation.ts";
import { isDotSegment, type Target } from "./path.ts";
import type { SystemCall, SystemOperation } from "./system-operation.ts";

export type Match =
  | { kind: "tenant"; operation: Operation; slug: string; params: Record<string, string>; query: string }
  | { kind: "system"; operation: SystemOperation; call: SystemCall };

type Segment = { at: number; text: string };
// A parsed path: the literal segments that must match, and the names of the parameters.
export type Pattern = { length: number; literals: Segment[]; parameters: Segment[] };
type Route = Pattern & { method: string; match: (params: Record<string, string>, query: string) => Match };

// Compares raw segments exactly. A literal segment takes precedence over a parameter.
export class Router {
  readonly #routes = new Map<number, Route[]>();

  constructor(operations: readonly Operation[], system: readonly SystemOperation[]) {
    for (const operation of operations) {
      const match = ({ tenant_slug: slug = "", ...params }: Record<string, string>, query: string): Match => {
        return { kind: "tenant", operation, slug, params, query };
      };
      this.#add({ ...parsePath(`/v2/{tenant_slug}${operation.path}`), method: operation.method, match });
    }
    for (const operation of system) {
      const match = (params: Record<string, string>, query: string): Match => {
        return { kind: "system", operation, call: { params, query } };
      };
      this.#add({ ...parsePath(operation.path), method: operation.method, match });
    }
    for (const routes of this.#routes.values()) routes.sort((a, b) => a.parameters.length - b.parameters.length);
  }

  route(method: string, target: Target | null): Match {
    const { segments, query } = target ?? { segments: [], query: "" };
    const routes = this.#routes.get(segments.length) ?? [];
    for (const route of routes) {
      if (route.method === method && fits(route, segments)) return route.match(paramsOf(route, segments), query);
    }
    const others = routes.filter((route) => fits(route, segments));
    if (others.length === 0) throw new Failure("item-not-found", "There is nothing at this path.");
    const allow = [...new Set(others.map((each) => each.method))].toSorted().join(", ");
    throw new Failure("method-not-allowed", `This path supports ${allow}.`, { headers: { allow } });
  }

  #add(route: Route): void {
    const routes = this.#routes.get(route.length) ?? [];
    routes.push(route);
    this.#routes.set(route.length, routes);
  }
}

export function parsePath(path: string): Pattern {
  const segments = path
    .slice(1)
    .split("/")
    .map((text, at) => ({ at, text }));
  const parameters = segments.filter(({ text }) => text.startsWith("{")).map(({ at, text }) => ({ at, text: text.slice(1, -1) }));
  return { length: segments.length, literals: segments.filter(({ text }) => !text.startsWith("{")), parameters };
}

// The literals come first because they rule out most routes and cost the least.
export function fits({ literals, parameters }: Pattern, raw: string[]): boolean {
  for (const { at, text } of literals) if (text !== raw[at]) return false;
  for (const { at } of parameters) if (raw[at] === "" || isDotSegment(raw[at] ?? "")) return false;
  return true;
}

// Returns the parameters as sent, still escaped.
function paramsOf({ parameters }: Pattern, raw: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const { at, text } of parameters) params[text] = raw[at] ?? "";
  return params;
}
