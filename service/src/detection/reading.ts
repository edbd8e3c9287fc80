import { RuleFault } from "./fault.ts";
import { findField, hintFor, isGroup } from "./field-name.ts";
import { isListSubject } from "./list-view.ts";
import type { Syntax } from "./syntax.ts";
import { plainTypes, type Run, type Term } from "./term.ts";
import { findPlace } from "./vector.ts";

type Step = { name: string; start: number };

export function read(syntax: Syntax, reads: Set<string>): Term {
  const { input } = syntax;
  const [group, key, part, tooDeep] = stepsOf(syntax);
  if (!group) throw new RuleFault("Only a group of fields, such as `device`, can be followed by a dot or a bracket.", syntax);
  const name = key ? `${group.name}.${key.name}` : group.name;
  const field = findField(name);
  if (!field) {
    const start = key && isGroup(group.name) ? key.start : group.start;
    throw new RuleFault(`There is no field \`${name}\`.`, { input, start }, listHint(name) ?? hintFor(name));
  }
  reads.add(name);
  const { type, isRing = false } = field;
  const isMap = type === "map";
  const wrong = isMap ? tooDeep : part;
  if (wrong) throw new RuleFault(`${isMap ? "An attribute" : `\`${name}\``} has no members.`, { input, start: wrong.start });
  if (part) return { type: "attribute", syntax, run: attributeReader(part.name) };
  return { type, syntax, isRing, name, run: fieldReader(name) };
}

// Some values are only looked up in lists, because decisions do not store them.
function listHint(name: string): string | null {
  if (name === "lists" || name.startsWith("lists.")) return "Look a value up in a list, for example `lists.vip.has(event.ip)`.";
  return isListSubject(name) ? `It can only be looked up in a list: \`lists.<name>.has(${name})\`.` : null;
}

// Returns `a.b` if the syntax is exactly that.
export function nameOf(syntax: Syntax): string | null {
  if (syntax.op !== ".") return null;
  const [group, name] = syntax.args;
  return group.op === "id" ? `${group.args}.${name}` : null;
}

// True if the event has the attribute. All other fields always have a value.
export function has(syntax: Syntax, reads: Set<string>): Term {
  const [, , attribute] = stepsOf(syntax);
  const { type } = read(syntax, reads);
  if (type !== "attribute" || !attribute) {
    const hint = "Every field has a value on every event. Use `has` for attributes, for example `has(event.attributes.plan)`.";
    throw new RuleFault(`\`has\` needs an attribute, but this is ${plainTypes[type]}.`, syntax, hint);
  }
  return { type: "boolean", syntax, run: ({ event }) => Object.hasOwn(event.attributes, attribute.name) };
}

// Splits `a.b["c"]` into its three names. Returns none if it does not begin with a name.
function stepsOf(syntax: Syntax): Step[] {
  if (syntax.op === "id") return [{ name: syntax.args, start: syntax.start }];
  if (syntax.op !== "." && syntax.op !== "[]") return [];
  const steps = stepsOf(syntax.args[0]);
  if (steps.length === 0) return [];
  if (syntax.op === ".") return [...steps, { name: syntax.args[1], start: syntax.pos }];
  const key = syntax.args[1];
  if (key.op !== "value" || typeof key.args !== "string") throw new RuleFault("Only a name in quotes can be inside `[ ]`.", key);
  return [...steps, { name: key.args, start: key.start }];
}

// Own properties only: `constructor` and `__proto__` exist only if the event has attributes with these names.
function attributeReader(name: string): Run {
  return ({ event }) => (Object.hasOwn(event.attributes, name) ? event.attributes[name] : undefined);
}

// The map of attributes has no place and no value of its own. `in` and `size` read it themselves.
function fieldReader(name: string): Run {
  const place = findPlace(name);
  if (!place) return () => undefined;
  const { group, key } = place;
  return (context) => {
    const value = context[group][key];
    return typeof value === "object" ? undefined : value;
  };
}
