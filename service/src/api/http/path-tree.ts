import { isDotSegment } from "./path.ts";

type Parameter = { at: number; name: string };
type Leaf<T> = { value: T; parameters: Parameter[] };
type Branch<T> = { literals: Map<string, Branch<T>>; parameter: Branch<T> | null; leaves: Map<string, Leaf<T>> };

// Finds what belongs to a path and a method, one segment after the other, so the cost does not grow with the number of paths.
// Compares raw segments exactly. A literal segment takes precedence over a parameter.
export class PathTree<T> {
  readonly #root = branch<T>();

  add(method: string, path: string, value: T): void {
    const parameters: Parameter[] = [];
    let place = this.#root;
    for (const [at, text] of path.slice(1).split("/").entries()) {
      if (text.startsWith("{")) {
        parameters.push({ at, name: text.slice(1, -1) });
        place = place.parameter ??= branch();
      } else {
        const next = place.literals.get(text) ?? branch();
        place.literals.set(text, next);
        place = next;
      }
    }
    place.leaves.set(method, { value, parameters });
  }

  // Returns the parameters as sent, still escaped.
  find(method: string, segments: string[]): { value: T; params: Record<string, string> } | null {
    const leaf = leafAt(this.#root, method, segments, 0);
    if (!leaf) return null;
    const params: Record<string, string> = {};
    for (const { at, name } of leaf.parameters) params[name] = segments[at] ?? "";
    return { value: leaf.value, params };
  }

  methodsAt(segments: string[]): string[] {
    return [...new Set(methodsAt(this.#root, segments, 0))].toSorted();
  }
}

function branch<T>(): Branch<T> {
  return { literals: new Map(), parameter: null, leaves: new Map() };
}

function leafAt<T>(place: Branch<T>, method: string, segments: string[], at: number): Leaf<T> | undefined {
  const text = segments[at];
  if (text === undefined) return place.leaves.get(method);
  const literal = place.literals.get(text);
  const leaf = literal && leafAt(literal, method, segments, at + 1);
  if (leaf || !place.parameter || !isParameter(text)) return leaf;
  return leafAt(place.parameter, method, segments, at + 1);
}

function methodsAt<T>(place: Branch<T>, segments: string[], at: number): string[] {
  const text = segments[at];
  if (text === undefined) return [...place.leaves.keys()];
  const literal = place.literals.get(text);
  const parameter = isParameter(text) ? place.parameter : null;
  return [literal, parameter].flatMap((next) => (next ? methodsAt(next, segments, at + 1) : []));
}

function isParameter(text: string): boolean {
  return text !== "" && !isDotSegment(text);
}
