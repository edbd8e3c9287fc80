import { escapeHtml as escape, type Section, type Text } from "./markdown.ts";

// The API reference, generated from the OpenAPI document. It needs no script and can be printed.
type Json = Record<string, unknown>;
// The input of the reference: the service's OpenAPI document and problem types.
export type Api = { publicUrl: string; document: Json; problems: Record<string, { status: number; title: string }> };
type Call = { path: string; method: string; call: Json };

export function apiReference({ publicUrl, document, problems }: Api, openapiHref: string): Text {
  const calls = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
    Object.entries(object(item)).map(([method, call]) => ({ path, method: method.toUpperCase(), call: object(call) })),
  );
  const tags = list(document["tags"]).map((tag) => ({ name: text(tag["name"]), description: tag["description"] }));
  const ofTag = (name: string) => calls.filter(({ call }) => list(call["tags"], String)[0] === name);
  const parts = tags.map(
    ({ name, description }) =>
      `<h2 id="${anchor(name)}">${escape(name)}</h2><p>${prose(description)}</p>${ofTag(name).map(section).join("")}`,
  );
  const token = `curl -s ${publicUrl}/v2/oauth/token \\\n  -d grant_type=client_credentials -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`;
  const html = `<h1>Casehound API</h1>
<p>Base address <code>${escape(publicUrl)}/v2/{tenant_slug}</code>. The machine-readable form is <a href="${escape(openapiHref)}">openapi.json</a>.</p>
<h2 id="first-steps">First steps</h2>
<p>Get a token, and send it with every call as <code>Authorization: Bearer &lt;access_token&gt;</code>:</p><pre tabindex="0">${escape(token)}</pre>
<p>${prose(at(document, "info")["description"])}</p>
${parts.join("\n")}
<h2 id="problems">Problems</h2>${problemTable(problems)}
<h2 id="objects">Objects</h2>${objects(document)}`;
  const ends = ["First steps", "Problems", "Objects"].map((name) => ({ name, description: "" }));
  const sections = [
    { heading: "Casehound API", anchor: "", depth: 1, text: "reference of all operations, OpenAPI" },
    ...[...ends.slice(0, 1), ...tags, ...ends.slice(1)].flatMap(({ name, description }) => [
      { heading: name, anchor: anchor(name), depth: 2, text: text(description) },
      ...ofTag(name).map(sectionOf),
    ]),
  ];
  return { title: "API reference", html, sections };
}

function sectionOf({ path, method, call }: Call): Section {
  const words = `${text(call["summary"])} ${text(call["description"])}`.replaceAll("`", "");
  return {
    heading: `${method} ${path}`,
    anchor: text(call["operationId"]),
    depth: 3,
    text: `${text(call["operationId"])} ${words}`,
  };
}

function section({ path, method, call }: Call): string {
  const scopes = list(call["security"]).flatMap((each) => list(each["oauth2"], String));
  const rows = list(call["parameters"]).map((each) => {
    const cells = [
      `<code>${escape(text(each["name"]))}</code>`,
      escape(text(each["in"])),
      each["required"] === true ? "yes" : "",
      values(each),
    ];
    return row(cells);
  });
  const parameters =
    rows.length === 0 ? "" : `<table>${row(["Parameter", "In", "Required", "Values"], "th")}${rows.join("")}</table>`;
  const responses = Object.entries(at(call, "responses")).map(([status, each]) =>
    row([escape(status), prose(object(each)["description"])]),
  );
  return `<details id="${text(call["operationId"])}"><summary><span class="method">${method}</span> <code>${escape(path)}</code>
<span class="scope">${scopes.length === 0 ? "no token" : scopes.map((each) => `<code>${escape(each)}</code>`).join(" ")}</span><br>${escape(text(call["summary"]))}</summary>
<p>${prose(call["description"])}</p>${parameters}${body(call)}<h4>Responses</h4><table>${responses.join("")}</table></details>`;
}

function body(call: Json): string {
  const [media] = Object.entries(at(call, "requestBody", "content"));
  if (!media) return "";
  const { example, schema } = object(media[1]);
  const shown = example ?? object(schema)["properties"];
  return `<h4>Body, <code>${escape(media[0])}</code></h4><pre tabindex="0">${escape(JSON.stringify(shown, null, 2))}</pre>`;
}

function values(parameter: Json): string {
  const { type, enum: allowed, minimum, maximum, default: fallback, description } = object(parameter["schema"]);
  const kind = Array.isArray(allowed) ? allowed.join(", ") : text(type);
  const range = typeof minimum === "number" ? `, ${minimum} to ${Number(maximum)}` : "";
  const standard = typeof fallback === "string" || typeof fallback === "number" ? `, default ${fallback}` : "";
  return `${escape(`${kind}${range}${standard}`)}. ${prose(parameter["description"] ?? description)}`;
}

function problemTable(problems: Api["problems"]): string {
  const rows = Object.entries(problems).map(([type, { status, title }]) =>
    row([String(status), `<code>${type}</code>`, escape(title)]),
  );
  return `<table>${rows.join("")}</table>`;
}

function objects(document: Json): string {
  const named = Object.entries(at(document, "components", "schemas"));
  return named
    .map(
      ([name, schema]) =>
        `<details><summary><code>${escape(name)}</code></summary><pre tabindex="0">${escape(JSON.stringify(schema, null, 2))}</pre></details>`,
    )
    .join("");
}

function row(cells: string[], cell = "td"): string {
  return `<tr>${cells.map((each) => `<${cell}>${each}</${cell}>`).join("")}</tr>`;
}

// Escapes a description and formats the code in it.
function prose(value: unknown): string {
  return escape(text(value)).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function anchor(name: string): string {
  return name.toLowerCase().replace(/[^a-z]+/g, "-");
}

function at(value: unknown, ...path: string[]): Json {
  return path.reduce((each, name) => object(each[name]), object(value));
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function list<T = Json>(value: unknown, read: (each: unknown) => T = object as (each: unknown) => T): T[] {
  return Array.isArray(value) ? value.map((each: unknown) => read(each)) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
