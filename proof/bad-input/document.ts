export type Schema = { [keyword: string]: unknown };
type Where = "path" | "query" | "header" | "body" | "form";
export type Path = (string | number)[];

// One rule of the document: a schema keyword at a place in a request.
export type Rule = { operation: DocumentOperation; where: Where; name: string; path: Path; keyword: string; schema: Schema };

type Parameter = { name: string; in: "path" | "query" | "header"; required: boolean; schema: Schema };

export type DocumentOperation = {
  id: string;
  method: string;
  path: string;
  isOfTenant: boolean;
  success: number;
  parameters: Parameter[];
  body: { schema: Schema; isRequired: boolean; isForm: boolean; example: unknown } | null;
};

type Content = Record<string, { schema: Schema; example?: unknown }>;
type Described = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, unknown>;
};
type Document = { paths: Record<string, Record<string, Described>>; components: { schemas: Record<string, Schema> } };

export function readDocument(text: string): DocumentOperation[] {
  // The service's own document. Anything missing shows in the counted rules.
  const document = JSON.parse(text) as Document;
  const whole = (schema: Schema): Schema => resolve(schema, document) as Schema;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody, responses }]): DocumentOperation => {
      const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        isOfTenant: path.startsWith("/v2/{tenant_slug}/"),
        success: Number(Object.keys(responses)[0]),
        parameters: parameters.map((each) => ({ ...each, schema: whole(each.schema) })),
        body: content
          ? {
              schema: whole(content.schema),
              isRequired: requestBody?.required === true,
              isForm: type !== "application/json",
              example: content.example,
            }
          : null,
      };
    }),
  );
}

function resolve(value: unknown, document: Document): unknown {
  if (Array.isArray(value)) return value.map((each) => resolve(each, document));
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value) return resolve(document.components.schemas[String(value.$ref).split("/").at(-1) ?? ""], document);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, document)]));
}

const annotations = new Set(["description", "title", "examples", "example", "default", "properties", "items"]);
// A member name for a map that accepts any name.
export const anyName = "any_name";

export function rulesOf(operation: DocumentOperation): Rule[] {
  const { parameters, body } = operation;
  const rules = parameters.flatMap((parameter): Rule[] => {
    const place = { operation, where: parameter.in, name: parameter.name, path: [] };
    const own = rulesOfSchema(parameter.schema, []).map((rule) => ({ ...place, ...rule }));
    const more = parameter.in === "query" ? ["once"] : parameter.required && parameter.in === "header" ? ["required"] : [];
    return [...own, ...more.map((keyword) => ({ ...place, keyword, schema: parameter.schema }))];
  });
  if (!body) return rules;
  const place = { operation, where: body.isForm ? ("form" as const) : ("body" as const), name: "body" };
  const whole = body.isRequired ? [{ ...place, path: [], keyword: "body", schema: body.schema }] : [];
  return [...rules, ...whole, ...rulesOfSchema(body.schema, []).map((rule) => ({ ...place, ...rule }))];
}

type SchemaRule = Pick<Rule, "path" | "keyword" | "schema">;

// Includes the implicit rule that a text can be stored.
function rulesOfSchema(schema: Schema, path: Path): SchemaRule[] {
  const own = Object.keys(schema)
    .filter((keyword) => !annotations.has(keyword))
    .flatMap((keyword) => keywordRules(schema, keyword, path));
  const storable = schema["type"] === "string" ? [{ path, keyword: "storable", schema }] : [];
  const members = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
  const items = schema["items"] === undefined ? [] : rulesOfSchema(schema["items"] as Schema, [...path, 0]);
  return [...own, ...storable, ...members.flatMap(([name, member]) => rulesOfSchema(member, [...path, name])), ...items];
}

function keywordRules(schema: Schema, keyword: string, path: Path): SchemaRule[] {
  const value = schema[keyword];
  if (keyword === "required") return (value as string[]).map((name) => ({ path: [...path, name], keyword, schema }));
  if (keyword === "additionalProperties" && value !== false) return rulesOfSchema(value as Schema, [...path, anyName]);
  if (keyword === "propertyNames")
    return Object.keys(value as Schema).map((each) => ({ path, keyword: `propertyNames.${each}`, schema: value as Schema }));
  if (keyword !== "anyOf") return [{ path, keyword, schema }];
  // A value of a branch's type that breaks the branch. A value of no branch's type breaks the whole.
  const branches = (value as Schema[]).flatMap((branch) => rulesOfSchema(branch, path).filter((rule) => rule.keyword !== "type"));
  return [{ path, keyword, schema }, ...branches];
}

export function nameOf({ operation, where, name, path, keyword }: Rule): string {
  return `${operation.id} ${where} ${where === "body" ? fieldOf(path) : name} ${keyword}`;
}

// The field name as responses use it.
export function fieldOf(path: Path): string {
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return text === "" ? "body" : text.replace(/^\./, "");
}
