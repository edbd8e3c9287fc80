import { Failure } from "../../domain/failure.ts";
import type { Operation } from "../operation.ts";
import { PathTree } from "./path-tree.ts";
import type { Target } from "./path.ts";
import type { SystemCall, SystemOperation } from "./system-operation.ts";

export type Match =
  | { kind: "tenant"; operation: Operation; slug: string; params: Record<string, string>; query: string }
  | { kind: "system"; operation: SystemOperation; call: SystemCall };

type Matcher = (params: Record<string, string>, query: string) => Match;

export class Router {
  readonly #tree = new PathTree<Matcher>();

  constructor(operations: readonly Operation[], system: readonly SystemOperation[]) {
    for (const operation of operations)
      this.#tree.add(operation.method, `/v2/{tenant_slug}${operation.path}`, ({ tenant_slug: slug = "", ...params }, query) => {
        return { kind: "tenant", operation, slug, params, query };
      });
    for (const operation of system)
      this.#tree.add(operation.method, operation.path, (params, query) => {
        return { kind: "system", operation, call: { params, query } };
      });
  }

  route(method: string, target: Target | null): Match {
    const { segments, query } = target ?? { segments: [], query: "" };
    const found = this.#tree.find(method, segments);
    if (found) return found.value(found.params, query);
    const allow = this.#tree.methodsAt(segments).join(", ");
    if (allow === "") throw new Failure("item-not-found", "There is nothing at this path.");
    throw new Failure("method-not-allowed", `This path supports ${allow}.`, { headers: { allow } });
  }
}
