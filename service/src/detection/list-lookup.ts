import { listTypeFacts, type ListType } from "../domain/list.ts";
import { RuleFault } from "./fault.ts";
import { isListSubject, isSubjectOf, readOfList } from "./list-view.ts";
import { nameOf } from "./reading.ts";
import type { Syntax } from "./syntax.ts";
import { plainTypes, type Term } from "./term.ts";

// The types of a tenant's lists by name. Without them, a rule may name any list: it was checked when it was saved.
export type ListCatalogue = ReadonlyMap<string, ListType>;

// Returns the list's name if the syntax is `lists.<name>`.
export function listNamed(syntax: Syntax): string | null {
  const name = nameOf(syntax);
  return name?.startsWith("lists.") ? name.slice("lists.".length) : null;
}

type Lookup = { syntax: Syntax; receiver: Syntax; argument: Syntax; lists: ListCatalogue | undefined; reads: Set<string> };

// `lists.<name>.has(value)`: the value is one of the event's own, an attribute or, for a list of texts, any text.
export function lookUp(name: string, given: Lookup, compile: (syntax: Syntax) => Term): Term {
  const { syntax, receiver, argument, lists, reads } = given;
  const type = lists?.get(name);
  if (lists && !type) throw new RuleFault(`There is no list \`${name}\`.`, receiver, hintFor(lists));
  const read = readOfList(name);
  const subject = nameOf(argument);
  if (subject !== null && isListSubject(subject)) {
    if (type && !isSubjectOf(subject, type)) throw wrongValue(name, type, argument);
    reads.add(read);
    return { type: "boolean", syntax, run: ({ lists: view }) => view?.hasOwn(name, subject) ?? false };
  }
  const value = compile(argument);
  const isText = value.type === "attribute" || (value.type === "string" && (!type || type === "text"));
  if (!isText) {
    if (type) throw wrongValue(name, type, argument);
    throw new RuleFault(`\`has\` needs a value of the event, but this is ${plainTypes[value.type]}.`, argument);
  }
  reads.add(read);
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const found = value.run(context);
      const text = typeof found === "number" ? String(found) : found;
      return typeof text === "string" && (context.lists?.has(name, text) ?? false);
    },
  };
}

function wrongValue(name: string, type: ListType, argument: Syntax): RuleFault {
  const { noun, field } = listTypeFacts[type];
  const hint = field === null ? "Look up a text or an attribute." : `Look up \`${field}\` or an attribute.`;
  return new RuleFault(`\`lists.${name}\` is a list of type ${type} (${noun}), so this is never on it.`, argument, hint);
}

function hintFor(lists: ListCatalogue): string {
  const names = [...lists.keys()].toSorted().slice(0, 20);
  return names.length === 0 ? "The tenant has no lists yet." : `Lists: ${names.join(", ")}.`;
}
