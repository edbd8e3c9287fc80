import { Type } from "typebox";
import { caseSorts, filterParameters } from "../db/case-filters.ts";
import { textOption, type Command, type Option, type Options } from "./command.ts";

// An option for each filter of the list, under the filter's own name.
const parameters = { ...filterParameters, sort: Type.Enum([...caseSorts]) };
const names = Object.keys(parameters);
const optionOf = (name: string) => name.replaceAll("_", "-");

function describe(name: string): Option {
  const { enum: values, format, description } = parameters[name as keyof typeof parameters] as Facts;
  const hint = values?.join(", ") ?? (format === "date-time" ? "a UTC time, such as 2026-11-01T00:00:00Z" : description);
  return { type: "string", describe: hint ?? `as the parameter ${name} of the API`, ...(values && { values }) };
}

// The members of a JSON Schema that say what may be given.
type Facts = { enum?: string[]; format?: string; description?: string };

export const caseListOptions: Command["options"] = Object.fromEntries(names.map((name) => [optionOf(name), describe(name)]));

// The service checks the values, so that there is only one place that knows them.
export function caseListQuery(options: Options): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = textOption(options, optionOf(name));
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

// The same as members of a JSON object. A value that does not fit stays a text, which the service rejects.
export function caseListMembers(options: Options): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(caseListQuery(options)).map(([name, text]) => {
      const { type } = parameters[name as keyof typeof parameters] as { type?: string };
      if (type === "integer" && /^\d+$/.test(text)) return [name, Number(text)];
      return [name, type === "boolean" && /^(true|false)$/.test(text) ? text === "true" : text];
    }),
  );
}
