import { bytesOf, rangeOf, textOf } from "../domain/ip-range.ts";
import type { ListFacts, ListKind, ListType, ListedKey } from "../domain/list.ts";
import type { Source } from "../domain/source.ts";
import type { ListedEvent } from "./listed-event.ts";
import { isSubjectOf, listSubjects, type ListSubject, type ListView } from "./list-view.ts";
import { PartFinder } from "./part-finder.ts";
import { RadixTree } from "./radix-tree.ts";

// Finds values in one list. Keys are in their only spelling; values are as events have them.
type Matcher = {
  set: (key: string, untilMs: number) => void;
  delete: (key: string) => void;
  has: (value: string, nowMs: number) => boolean;
};

type CompiledList = ListFacts & { matcher: Matcher };

// A tenant's lists, compiled. Changes are applied to them, because building a list of a million entries takes seconds.
export class Lists {
  revision = 0;
  readonly #lists = new Map<string, CompiledList>();

  get isEmpty(): boolean {
    return this.#lists.size === 0;
  }

  // Sets which lists there are. The entries of known lists of the same type stay.
  define(definitions: readonly ListFacts[]): void {
    const before = new Map(this.#lists);
    // Filled again in the given order, so that every process names the lists of a hit in the same order.
    this.#lists.clear();
    for (const each of definitions) {
      const known = before.get(each.name);
      const matcher = known?.type === each.type ? known.matcher : matcherOf(each.type);
      this.#lists.set(each.name, { ...each, matcher });
    }
  }

  set({ list_name, key, expires_at }: ListedKey): void {
    this.#lists.get(list_name)?.matcher.set(key, expires_at === null ? Infinity : Date.parse(expires_at));
  }

  delete(listName: string, key: string): void {
    this.#lists.get(listName)?.matcher.delete(key);
  }

  // `keptIp` is the address as the tenant's ip_policy stores it, because an entry from a case holds it in that form.
  view(event: ListedEvent, nowMs: number): ListView {
    const hits: ListFacts[] = [];
    const isOn = (list: CompiledList, value: string | undefined) =>
      value !== undefined && isTrusted(list, event.source) && list.matcher.has(value, nowMs);
    for (const list of this.#lists.values()) {
      const { name, type, kind, label } = list;
      if (isOn(list, event.values[type]) || (type === "ip" && isOn(list, event.values.keptIp))) {
        hits.push({ name, type, kind, label });
      }
    }
    const names = new Set(hits.map(({ name }) => name));
    const found = (list: CompiledList | undefined, value: string | undefined): boolean => {
      const isFound = list !== undefined && isOn(list, value);
      if (isFound) names.add(list.name);
      return isFound;
    };
    return {
      revision: this.revision,
      hits,
      names,
      hasOwn: (name, subject) => {
        const list = this.#lists.get(name);
        if (!list || !isSubjectOf(subject, list.type)) return false;
        return found(list, event.values[subjectType(subject)]) || (subject === "event.ip" && found(list, event.values.keptIp));
      },
      has: (name, value) => {
        const list = this.#lists.get(name);
        // Whatever page sends an attribute chose it.
        if (list?.kind === "allow" && event.source !== "server") return false;
        return found(list, value);
      },
    };
  }
}

function subjectType(subject: ListSubject): ListType {
  return listSubjects[subject][0];
}

// What a page can say about itself and its place, and what its sender cannot choose. Only that may lower a score: an unverified
// page may name any account, device or e-mail address, and a verified one may still name any device.
const trustedForAllow: Record<Source, ReadonlySet<ListType> | "all"> = {
  page: new Set(["ip", "country", "asn"]),
  verified_session: new Set(["ip", "country", "asn", "account"]),
  server: "all",
};

function isTrusted({ kind, type }: { kind: ListKind; type: ListType }, source: Source): boolean {
  const trusted = kind === "allow" ? trustedForAllow[source] : "all";
  return trusted === "all" || trusted.has(type);
}

function matcherOf(type: ListType): Matcher {
  switch (type) {
    case "ip":
      return new AddressMatcher();
    case "email":
      return new ExactMatcher((value) => [value.toLowerCase()]);
    case "email_domain":
      return new ExactMatcher(domainsOf);
    case "user_agent":
      return new PartMatcher();
    default:
      return new ExactMatcher((value) => [value]);
  }
}

const emailCharactersMax = 512;

// `a.b.example`, `b.example`, `example`: an entry includes its subdomains.
function domainsOf(email: string): string[] {
  if (email.length > emailCharactersMax) return [];
  const labels = email
    .slice(email.lastIndexOf("@") + 1)
    .toLowerCase()
    .split(".");
  return labels.map((_, index) => labels.slice(index).join("."));
}

class ExactMatcher implements Matcher {
  readonly #until = new Map<string, number>();
  readonly #keysOf: (value: string) => string[];

  constructor(keysOf: (value: string) => string[]) {
    this.#keysOf = keysOf;
  }

  set(key: string, untilMs: number): void {
    this.#until.set(key, untilMs);
  }

  delete(key: string): void {
    this.#until.delete(key);
  }

  has(value: string, nowMs: number): boolean {
    return this.#keysOf(value).some((key) => (this.#until.get(key) ?? -Infinity) > nowMs);
  }
}

class PartMatcher implements Matcher {
  readonly #parts = new PartFinder();

  set(key: string, untilMs: number): void {
    this.#parts.set(key, untilMs);
  }

  delete(key: string): void {
    this.#parts.delete(key);
  }

  has(value: string, nowMs: number): boolean {
    return this.#parts.has(value.toLowerCase(), nowMs);
  }
}

// Single addresses are found by their text, blocks by the tree of their family. A hashed address is a text.
class AddressMatcher implements Matcher {
  readonly #single = new Map<string, number>();
  readonly #trees = { 4: new RadixTree(), 16: new RadixTree() };

  set(key: string, untilMs: number): void {
    const range = blockIn(key);
    if (range) this.#treeOf(range.bytes).set(range, untilMs);
    else this.#single.set(key, untilMs);
  }

  delete(key: string): void {
    const range = blockIn(key);
    if (range) this.#treeOf(range.bytes).delete(range);
    else this.#single.delete(key);
  }

  // A truncated address is a block. It is on the list if a listed block contains all of it.
  has(value: string, nowMs: number): boolean {
    const isPlain = !value.includes("/");
    const bytes = isPlain ? bytesOf(value) : null;
    const key = bytes ? textOf(bytes) : value;
    if ((this.#single.get(key) ?? -Infinity) > nowMs) return true;
    if (bytes) return this.#treeOf(bytes).has(bytes, nowMs);
    const block = isPlain ? null : blockIn(value);
    return block !== null && this.#treeOf(block.bytes).has(block.bytes, nowMs, block.bits);
  }

  #treeOf(bytes: Uint8Array): RadixTree {
    return this.#trees[bytes.length === 4 ? 4 : 16];
  }
}

function blockIn(text: string): { bytes: Uint8Array; bits: number } | null {
  const range = text.includes("/") ? rangeOf(text) : null;
  return range && "bytes" in range ? range : null;
}
