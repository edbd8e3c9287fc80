import { openapiDocument } from "../service/src/api/documents/openapi.ts";

// The API as request collections for Postman and Bruno. Both are generated from the OpenAPI document and hold the same.
type Parameter = { name: string; in: "path" | "query" | "header"; required?: boolean; description?: string; schema: Schema };
type Schema = { description?: string; enum?: unknown[]; default?: unknown; examples?: unknown[] };
type Content = Record<string, { example?: unknown }>;
type Described = {
  operationId: string;
  summary: string;
  description?: string;
  tags: [string];
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
};
type Document = { info: { description: string }; tags: { name: string; description: string }[]; paths: Record<string, Methods> };
type Methods = Record<string, Described>;

type Query = { name: string; value: string; description: string };
export type Request = {
  id: string;
  name: string;
  method: string;
  // The path with the client's variables in it.
  path: string;
  docs: string;
  query: Query[];
  wantsKey: boolean;
  wantsToken: boolean;
  body: string | null;
};
export type Folder = { name: string; description: string; requests: Request[] };
export type Variable = { name: string; value: string; isSecret: boolean };
export type Collection = { description: string; variables: Variable[]; token: Request; folders: Folder[] };

const tokenId = "getToken";
// The address of the demo, as npm start prints it.
const baseUrl = "http://127.0.0.1:8080";
const given = [
  { name: "base_url", value: baseUrl, isSecret: false },
  { name: "tenant", value: "demo", isSecret: false },
  { name: "client_id", value: "", isSecret: false },
  { name: "client_secret", value: "", isSecret: true },
  { name: "access_token", value: "", isSecret: true },
];

export function readCollection(): Collection {
  // Our own code builds the document in this shape.
  const document = openapiDocument(baseUrl) as unknown as Document;
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      tag: described.tags[0],
      request: toRequest(method, path, described),
    })),
  );
  const token = all.find(({ request }) => request.id === tokenId)?.request;
  if (!token) throw new Error(`there is no operation ${tokenId}`);
  const told = new Map(document.tags.map(({ name, description }) => [name, description]));
  const names = [...new Set([...told.keys(), ...all.map(({ tag }) => tag)])];
  const folders = names.map((name) => ({
    name,
    description: told.get(name) ?? "",
    requests: all.flatMap(({ tag, request }) => (tag === name && request !== token ? [request] : [])),
  }));
  const ids = [
    ...new Set(all.flatMap(({ request }) => [...request.path.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ""]) => name))),
  ];
  const own = ids.filter((name) => given.every((each) => each.name !== name));
  const variables = [...given, ...own.map((name) => ({ name, value: "", isSecret: false }))];
  return { description: document.info.description, variables, token, folders };
}

function toRequest(method: string, path: string, described: Described): Request {
  const { operationId: id, summary, description, parameters = [], security, requestBody } = described;
  const query = parameters.filter((each) => each.in === "query");
  // Query parameters are included but disabled, so users can enable those they want.
  const required = query.find((each) => each.required);
  if (required) throw new Error(`${id}: ${required.name} is required but would be disabled`);
  return {
    id,
    name: summary,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `{{${variableOf(name)}}}`),
    docs: description ?? "",
    query: query.map(toQuery),
    wantsKey: parameters.some((each) => each.name === "Idempotency-Key"),
    // An operation without this scheme is open to everybody.
    wantsToken: security.some((each) => Object.hasOwn(Object(each), "oauth2")),
    body: bodyOf(id, requestBody?.content["application/json"]),
  };
}

// The calling client must not be the one that is revoked, so a parameter of the same name becomes another variable.
function variableOf(parameter: string): string {
  if (parameter === "tenant_slug") return "tenant";
  return given.some(({ name }) => name === parameter) ? `other_${parameter}` : parameter;
}

function toQuery({ name, description, schema }: Parameter): Query {
  const value = schema.default ?? schema.examples?.[0] ?? schema.enum?.[0] ?? "";
  return {
    name,
    value: typeof value === "string" ? value : JSON.stringify(value),
    description: description ?? schema.description ?? "",
  };
}

function bodyOf(id: string, content: Content[string] | undefined): string | null {
  if (!content) return null;
  if (content.example === undefined) throw new Error(`${id}: its body has no example`);
  return JSON.stringify(content.example, null, 2);
}
