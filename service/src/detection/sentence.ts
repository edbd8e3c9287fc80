import { firstCharacters } from "../domain/text.ts";
import { never, zeroOf, type FeatureValue } from "./catalogue.ts";
import { RuleFault } from "./fault.ts";
import { findField, hintFor } from "./field-name.ts";
import { findPlace, type RuleContext } from "./vector.ts";

type Sentence = { reads: string[]; render: (context: RuleContext) => string };
type Part = (context: RuleContext) => string;

const textCharactersShown = 100;

// Types of activities are shown in words.
const wordsOf: Record<string, Map<FeatureValue, string>> = {
  "event.type": new Map([
    ["login_succeeded", "log-in"],
    ["login_failed", "failed log-in"],
    ["signup", "sign-up"],
    ["password_changed", "change of password"],
    ["email_changed", "change of e-mail address"],
    ["mfa_changed", "change of second factor"],
    ["payee_added", "new payee"],
    ["page_view", "page view"],
    ["logout", "log-out"],
    ["fraud_report", "fraud report"],
  ]),
  "account.last_sensitive_change": new Map([
    ["", "a sensitive change"],
    ["password_changed", "the password was changed"],
    ["email_changed", "the e-mail address was changed"],
    ["mfa_changed", "the second factor was changed"],
    ["payee_added", "a payee was added"],
  ]),
};
const forPeople = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2, signDisplay: "negative" });

// If this field is 0, it does not apply, so the part of the sentence about it is left out.
const isAbsent = ({ ip }: RuleContext) => ip["block_signups_1h"] === 0;
const absentClause = / ?[^.{}]*\{ip\.block_signups_1h\}[^.{}]*\./;

// `{device.accounts_1h}` stands for that field's value. Throws RuleFault.
export function compileSentence(template: string): Sentence {
  const whole = compileWhole(template);
  const rest = template.replace(absentClause, "");
  if (rest === template || rest === "") return whole;
  const shorter = compileWhole(rest);
  return { reads: whole.reads, render: (context) => (isAbsent(context) ? shorter : whole).render(context) };
}

function compileWhole(template: string): Sentence {
  const reads = new Set<string>();
  const parts: Part[] = [];
  let from = 0;
  for (const { 0: text, 1: name, index } of template.matchAll(/\{([^{}]*)\}|[{}]/g)) {
    if (name === undefined) {
      throw new RuleFault(
        `\`${text}\` has no matching brace.`,
        { input: template, start: index },
        "Write a field in braces, for example `{event.country}`.",
      );
    }
    const before = template.slice(from, index);
    const value = valuePart(name, { input: template, start: index + 1 });
    from = index + text.length;
    const unit = unitOf(name, template.slice(from));
    if (unit) from += unit.text.length;
    parts.push(() => before, unit ? (context) => unit.show(value(context)) : value);
    reads.add(name);
  }
  const rest = template.slice(from);
  return { reads: [...reads], render: (context) => parts.map((part) => part(context)).join("") + rest };
}

function valuePart(name: string, place: { input: string; start: number }): Part {
  const field = findField(name);
  if (!field) throw new RuleFault(`There is no field \`${name}\`.`, place, hintFor(name));
  const at = findPlace(name);
  // A sentence stays in its case when the account is erased, and attributes may identify a person.
  if (!at) throw new RuleFault("Attributes cannot be shown in a sentence.", place);
  const { group, key } = at;
  const mayBeNever = zeroOf(field) === never;
  const words = wordsOf[name];
  return (context) => {
    const value = context[group][key];
    if (value === undefined || typeof value === "object") return "unknown";
    return words?.get(value) ?? (mayBeNever && value === never ? "never" : shown(value));
  };
}

const minutes = " minutes";

// Some values are shown together with the text after them.
function unitOf(name: string, rest: string): { text: string; show: (value: string) => string } | null {
  if (rest.startsWith(minutes)) return { text: minutes, show: minutesShown };
  // An amount without a currency is shown as a bare number.
  const isCurrency = name === "event.currency" && rest.startsWith(" ");
  return isCurrency ? { text: " ", show: (value) => (value === "unknown" ? "" : `${value} `) } : null;
}

function minutesShown(value: string): string {
  if (value === "0") return "less than a minute";
  return value === "1" ? "1 minute" : `${value}${minutes}`;
}

function shown(value: FeatureValue): string {
  if (typeof value === "number") return forPeople.format(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === "" ? "unknown" : firstCharacters(value, textCharactersShown);
}
