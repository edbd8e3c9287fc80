import { readCollection, type Collection, type Folder, type Request } from "./collection.ts";

const form = [
  ["grant_type", "client_credentials"],
  ["client_id", "{{client_id}}"],
  ["client_secret", "{{client_secret}}"],
] as const;

// Keyed by path below docs/collections.
export function collectionFiles(): Record<string, string> {
  const collection = readCollection();
  return { "casehound.postman.json": `${JSON.stringify(postman(collection), null, 2)}\n`, ...bruno(collection) };
}

function postman({ description, variables, token, folders }: Collection): object {
  const keep = 'pm.collectionVariables.set("access_token", pm.response.json().access_token);';
  return {
    info: {
      name: "Casehound",
      description: `${description}\n\nSet the variables, then send "${token.name}" first: it keeps the token for all others.`,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{access_token}}", type: "string" }] },
    variable: variables.map(({ name, value, isSecret }) => ({ key: name, value, type: isSecret ? "secret" : "string" })),
    item: [
      { ...postmanItem(token), event: [{ listen: "test", script: { type: "text/javascript", exec: [keep] } }] },
      ...folders.map((folder) => ({
        name: folder.name,
        description: folder.description,
        item: folder.requests.map(postmanItem),
      })),
    ],
  };
}

function postmanItem(request: Request): object {
  const { name, method, path, docs, query, wantsKey, wantsToken } = request;
  const body = postmanBody(request);
  const header = [
    ...(wantsKey ? [{ key: "Idempotency-Key", value: "{{$guid}}" }] : []),
    ...(request.body === null ? [] : [{ key: "Content-Type", value: "application/json" }]),
  ];
  const asked = query.map(({ name, value, description }) => ({ key: name, value, description, disabled: true }));
  return {
    name,
    request: {
      method,
      ...(!wantsToken && { auth: { type: "noauth" } }),
      header,
      ...(body && { body }),
      url: {
        raw: `{{base_url}}${path}`,
        host: ["{{base_url}}"],
        path: path.slice(1).split("/"),
        ...(asked.length > 0 && { query: asked }),
      },
      description: docs,
    },
    response: [],
  };
}

function postmanBody({ id, body }: Request): object | null {
  if (id === "getToken") return { mode: "urlencoded", urlencoded: form.map(([key, value]) => ({ key, value, type: "text" })) };
  return body === null ? null : { mode: "raw", raw: body, options: { raw: { language: "json" } } };
}

function bruno({ description, variables, token, folders }: Collection): Record<string, string> {
  const used = folders.filter((folder) => folder.requests.length > 0);
  const settings = { version: "1", name: "Casehound", type: "collection", ignore: ["node_modules", ".git"] };
  return {
    "bruno/bruno.json": `${JSON.stringify(settings, null, 2)}\n`,
    "bruno/collection.bru": joined([
      block("auth", ["mode: bearer"]),
      block("auth:bearer", ["token: {{access_token}}"]),
      block("docs", [
        ...lines(description),
        "",
        `Choose the environment "local", then send "${token.name}" first: it keeps the token.`,
      ]),
    ]),
    "bruno/environments/local.bru": joined([
      block(
        "vars",
        variables.filter(({ isSecret }) => !isSecret).map(({ name, value }) => `${name}: ${value}`),
      ),
      `vars:secret [\n${variables.flatMap(({ name, isSecret }) => (isSecret ? [`  ${name}`] : [])).join(",\n")}\n]`,
    ]),
    [`bruno/${token.id}.bru`]: brunoRequest(token, 1),
    ...Object.assign({}, ...used.map((folder, index) => brunoFolder(folder, index + 2))),
  };
}

function brunoFolder({ name, description, requests }: Folder, place: number): Record<string, string> {
  const path = `bruno/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const about = [
    block("meta", [`name: ${name}`, `seq: ${place}`]),
    ...(description === "" ? [] : [block("docs", lines(description))]),
  ];
  return {
    [`${path}/folder.bru`]: joined(about),
    ...Object.fromEntries(requests.map((request, index) => [`${path}/${request.id}.bru`, brunoRequest(request, index + 1)])),
  };
}

function brunoRequest(request: Request, place: number): string {
  const { id, name, method, path, docs, query, wantsKey, wantsToken, body } = request;
  const isToken = id === "getToken";
  const kind = isToken ? "formUrlEncoded" : body === null ? "none" : "json";
  return joined([
    block("meta", [`name: ${name}`, "type: http", `seq: ${place}`]),
    block(method.toLowerCase(), [`url: {{base_url}}${path}`, `body: ${kind}`, `auth: ${wantsToken ? "inherit" : "none"}`]),
    ...(query.length > 0
      ? [
          block(
            "params:query",
            query.map(({ name, value }) => `~${name}: ${value}`),
          ),
        ]
      : []),
    ...(wantsKey ? [block("headers", ["Idempotency-Key: {{$guid}}"])] : []),
    ...(body === null ? [] : [block("body:json", lines(body))]),
    ...(isToken
      ? [
          block(
            "body:form-urlencoded",
            form.map(([key, value]) => `${key}: ${value}`),
          ),
        ]
      : []),
    ...(isToken ? [block("script:post-response", ['bru.setEnvVar("access_token", res.body.access_token);'])] : []),
    ...(docs === "" ? [] : [block("docs", lines(docs))]),
  ]);
}

// Indented, so no line of the text can be mistaken for the end of its block.
function block(name: string, content: string[]): string {
  return `${name} {\n${content.map((line) => (line === "" ? "" : `  ${line}`.trimEnd())).join("\n")}\n}`;
}

const lines = (text: string): string[] => text.split("\n");
const joined = (blocks: string[]): string => `${blocks.join("\n\n")}\n`;
