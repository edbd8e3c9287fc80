import { operations } from "./operations.ts";
import type { Operation } from "./operation.ts";
import { openapiDocument } from "./openapi.ts";
import { problems } from "./problem.ts";

// The reference as one page without script: it works offline, and prints.
const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent) }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: 6px }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .75rem } summary { cursor: pointer }
.method { display: inline-block; min-width: 4.5em; font-weight: 600 } .scope { float: right; opacity: .75 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line) }`;

export function docsPage(publicUrl: string): string {
  const document = openapiDocument(publicUrl);
  const tags = [...new Set(operations.map((operation) => operation.tag))];
  const sections = tags.map(
    (tag) =>
      `<h2>${escape(tag)}</h2>${operations
        .filter((each) => each.tag === tag)
        .map((each) => section(each, document))
        .join("")}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Casehound API</title><style>${style}</style></head>
<body><h1>Casehound API</h1>
<p>Base address <code>${escape(publicUrl)}/v2/{tenant_slug}</code>. The machine-readable form is <a href="/openapi.json">/openapi.json</a>.</p>
<h2>Getting a token</h2>
<pre>${escape(`curl -s ${publicUrl}/v2/oauth/token \\\n  -d grant_type=client_credentials -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`)}</pre>
${sections.join("\n")}
<h2>Problems</h2>${problemTable()}
<h2>Objects</h2>${objects(document)}
</body></html>`;
}

function section(operation: Operation, document: Record<string, unknown>): string {
  const path = `/v2/{tenant_slug}${operation.path}`;
  const described = at(document, ["paths", path, operation.method.toLowerCase()]);
  const parameters = list(described["parameters"]).map(
    (each) =>
      `<tr><td><code>${escape(String(each["name"]))}</code></td><td>${escape(String(each["in"]))}</td><td>${escape(schemaText(each["schema"]))}</td></tr>`,
  );
  const responses = Object.entries(at(described, ["responses"])).map(
    ([status, response]) =>
      `<tr><td>${escape(status)}</td><td>${escape(String(at({ response }, ["response"])["description"]))}</td></tr>`,
  );
  const body =
    operation.example === undefined ? "" : `<h4>Body</h4><pre>${escape(JSON.stringify(operation.example, null, 2))}</pre>`;
  return `<details><summary><span class="method">${operation.method}</span> <code>${escape(path)}</code> <span class="scope"><code>${operation.scope}</code></span><br>${escape(operation.summary)}</summary>
<p>${escape(operation.description ?? "")}</p><table><tr><th>Parameter</th><th>In</th><th>Values</th></tr>${parameters.join("")}</table>${body}
<h4>Answers</h4><table>${responses.join("")}</table></details>`;
}

function problemTable(): string {
  const rows = Object.entries(problems).map(
    ([type, { status, title }]) => `<tr><td>${status}</td><td><code>${type}</code></td><td>${escape(title)}</td></tr>`,
  );
  return `<table>${rows.join("")}</table>`;
}

function objects(document: Record<string, unknown>): string {
  return Object.entries(at(document, ["components", "schemas"]))
    .map(
      ([name, schema]) =>
        `<details><summary><code>${escape(name)}</code></summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`,
    )
    .join("");
}

function schemaText(schema: unknown): string {
  const { type, enum: values, description, minimum, maximum } = at({ schema }, ["schema"]);
  const kind = Array.isArray(values) ? values.join(", ") : typeof type === "string" ? type : "";
  const range = typeof minimum === "number" ? ` ${minimum} to ${Number(maximum)}` : "";
  return `${kind}${range}${typeof description === "string" ? `. ${description}` : ""}`;
}

function at(value: unknown, path: string[]): Record<string, unknown> {
  const found = path.reduce<unknown>(
    (each, name) => (typeof each === "object" && each !== null ? Reflect.get(each, name) : undefined),
    value,
  );
  return typeof found === "object" && found !== null ? { ...found } : {};
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map((each: unknown) => at({ each }, ["each"])) : [];
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
