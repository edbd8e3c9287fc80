import { scopesOf, type Operation } from "../service/src/api/operation.ts";
import { operations as all } from "../service/src/api/operations.ts";
import { problems } from "../service/src/api/http/problem.ts";
import type { Schema } from "../service/src/api/http/validate.ts";
import { scopes } from "../service/src/domain/scope.ts";
import { factsSource } from "./client-facts.ts";

// A stream is not a call with one response. The client has a separate method for it. Directories have SCIM clients of their own.
const operations = all.filter((operation) => operation.isStream !== true && operation.isScim !== true);

// Each of their items is stored once, however often it is sent.
const repeatable = new Set([
  "createActivities",
  "createAssessment",
  "createLabels",
  "importActivities",
  "startImport",
  "addListEntries",
  "removeListEntries",
  "importList",
  "previewListValues",
]);

type Named = Schema & { $id?: string; patternProperties?: Record<string, Schema> };

// Keyed by file name in client/src.
export function clientSources(): Record<string, string> {
  const named = new Map<string, string>();
  const operationsText = operationsSource(named);
  return {
    "operations.ts": operationsText,
    "types.ts": typesSource(named),
    "routes.ts": routesSource(),
    "case-methods.ts": methodsSource("CaseMethods", null, operations.filter(isOfCases)),
    "methods.ts": methodsSource(
      "OperationMethods",
      "CaseMethods",
      operations.filter((each) => !isOfCases(each)),
    ),
    "facts.ts": factsSource(),
  };
}

const banner = "// Generated from the service's table of operations by `npm run generate`. Do not edit.";

// Adds the types that it uses to `named`.
function operationsSource(named: Map<string, string>): string {
  const entries = operations.map((operation) => `  ${operation.id}: ${signature(operation, named)};`);
  const words = new Set(entries.join(" ").match(/\w+/g));
  const used = [...named.keys()].filter((name) => words.has(name));
  return `${banner}
import type { ${used.join(", ")} } from "./types.ts";

export type Operations = {
${entries.join("\n")}
};
`;
}

// How each operation is called.
function routesSource(): string {
  const table = operations.map(({ id, method, path, ...rest }) => {
    const isRepeatable = method === "GET" || method === "PUT" || rest.wantsKey === true || repeatable.has(id);
    const items = itemsOf(rest.success.schema);
    const flags = `wantsKey: ${rest.wantsKey === true}, isRepeatable: ${isRepeatable}${items === null ? "" : `, items: "${items}"`}`;
    return `  ${id}: { method: ${JSON.stringify(method)}, path: ${JSON.stringify(path)}, ${flags} },`;
  });
  return `${banner}

// \`isRepeatable\`: sending the request twice has the same effect as sending it once, so it may be retried. \`items\`: the member
// that holds the entries of a list.
export const operations = {
${table.join("\n")}
} as const;
`;
}

function typesSource(named: Map<string, string>): string {
  return `${banner}

export type Scope = ${union(scopes)};

export type ProblemType = ${union(Object.keys(problems))};

${[...named].map(([name, text]) => `export type ${name} = ${text};\n`).join("")}`;
}

const isOfCases = ({ tag }: Operation) => tag === "Cases";

// Two classes, so that no file is too long to read.
function methodsSource(name: string, base: string | null, own: Operation[]): string {
  const text = own.map(methodText).join("\n");
  const all = ["Answer", "Body", "CallOptions", "Query"].filter((type) => text.includes(type));
  if (base !== null)
    return `${banner}
import type { ${all.join(", ")} } from "./call.ts";
import { ${base} } from "./case-methods.ts";

export abstract class ${name} extends ${base} {
${text}
}
`;
  return `${banner}
import type { ${[...all, "Input", "OperationId"].toSorted().join(", ")} } from "./call.ts";

export abstract class ${name} {
  abstract call<Id extends OperationId>(id: Id, input: Input<Id>): Answer<Id>;
${text}
}
`;
}

const union = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(" | ");

// First the path parameters, then the body or query, then the options.
function methodText({ id, method, path, summary, query, body, ...required }: Operation): string {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const typed = [
    ...params.map((name) => `${name}: string`),
    ...(body ? [`body: Body<"${id}">`] : []),
    ...(query ? [`query: Query<"${id}"> = {}`] : []),
    "options: CallOptions = {}",
  ];
  const given = [
    ...(params.length === 0 ? [] : [`params: { ${params.join(", ")} }`]),
    ...(body ? ["body"] : []),
    ...(query ? ["query"] : []),
    "...options",
  ];
  return `  /** ${summary}. ${method} ${path}, scope ${scopesOf(required).join(" and ")}. */
  ${id}(${typed.join(", ")}): Answer<"${id}"> { return this.call("${id}", { ${given.join(", ")} }); }`;
}

// A page has one list of items and the cursor of the next page.
function itemsOf(schema: Named | undefined): string | null {
  const members = Object.entries(schema?.properties ?? {});
  if (!members.some(([name]) => name === "next_cursor")) return null;
  return members.find(([, member]) => member.type === "array")?.[0] ?? null;
}

function signature(operation: Operation, named: Map<string, string>): string {
  const params = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`);
  const parts = [
    `params: ${params.length === 0 ? "undefined" : `{ ${params.join("; ")} }`}`,
    `query: ${operation.query ? typeText(operation.query, named) : "undefined"}`,
    `body: ${operation.body ? typeText(operation.body, named) : "undefined"}`,
    `data: ${operation.success.schema ? typeText(operation.success.schema, named) : "undefined"}`,
  ];
  return `{ ${parts.join("; ")} }`;
}

function typeText(given: object, named: Map<string, string>): string {
  // TypeBox schemas are JSON Schemas.
  const schema = given as Named;
  const { $id: name } = schema;
  if (name === undefined) return plainText(schema, named);
  if (!named.has(name)) {
    named.set(name, "");
    named.set(name, plainText(schema, named));
  }
  return name;
}

function plainText(schema: Named, named: Map<string, string>): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((each) => typeText(each, named)).join(" | ");
  const record = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
  switch (schema.type) {
    case "array":
      return `(${typeText(schema.items ?? {}, named)})[]`;
    case "integer":
      return "number";
    case "object":
      return typeof record === "object" ? `Record<string, ${typeText(record, named)}>` : objectText(schema, named);
    default:
      return schema.type ?? "unknown";
  }
}

function objectText(schema: Named, named: Map<string, string>): string {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const mark = schema.required?.includes(name) ? "" : "?";
    return `${name}${mark}: ${typeText(member, named)}`;
  });
  return `{ ${members.join("; ")} }`;
}
