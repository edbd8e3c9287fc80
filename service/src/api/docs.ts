import { openapiDocument } from "./openapi.ts";
import { problems } from "./problem.ts";

// The reference as one page without script, made from the OpenAPI document: it works offline, and prints.
const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 6%, transparent) }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) } h4 { margin: 1rem 0 .25rem }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: 6px }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .75rem } summary { cursor: pointer }
.method { display: inline-block; min-width: 4.5em; font-weight: 600 } .scope { float: right; opacity: .75 }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line) }`;

type Json = Record<string, unknown>;

export function docsPage(publicUrl: string): string {
  const document = openapiDocument(publicUrl);
  const calls = Object.entries(at(document, "paths")).flatMap(([path, item]) =>
    Object.entries(object(item)).map(([method, call]) => ({ path, method: method.toUpperCase(), call: object(call) })),
  );
  const tags = list(document["tags"]);
  const index = tags.map((tag) => `<a href="#${anchor(text(tag["name"]))}">${escape(text(tag["name"]))}</a>`);
  const sections = tags.map((tag) => {
    const name = text(tag["name"]);
    const own = calls.filter(({ call }) => list(call["tags"], String)[0] === name);
    return `<h2 id="${anchor(name)}">${escape(name)}</h2><p>${prose(tag["description"])}</p>${own.map(section).join("")}`;
  });
  const token = `curl -s ${publicUrl}/v2/oauth/token \\\n  -d grant_type=client_credentials -d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Casehound API</title><style>${style}</style></head>
<body><h1>Casehound API</h1>
<p>Base address <code>${escape(publicUrl)}/v2/{tenant_slug}</code>. The machine-readable form is <a href="/openapi.json">/openapi.json</a>.</p>
<p>${[...index, '<a href="#problems">Problems</a>', '<a href="#objects">Objects</a>'].join(" · ")}</p>
<h2>First steps</h2>
<p>Get a token, and send it with every call as <code>Authorization: Bearer &lt;access_token&gt;</code>:</p><pre>${escape(token)}</pre>
<p>${prose(at(document, "info")["description"])}</p>
${sections.join("\n")}
<h2 id="problems">Problems</h2>${problemTable()}
<h2 id="objects">Objects</h2>${objects(document)}
</body></html>`;
}

function section({ path, method, call }: { path: string; method: string; call: Json }): string {
  const scope = list(call["security"]).flatMap((each) => list(each["oauth2"], String))[0];
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
<span class="scope">${scope === undefined ? "no token" : `<code>${escape(scope)}</code>`}</span><br>${escape(text(call["summary"]))}</summary>
<p>${prose(call["description"])}</p>${parameters}${body(call)}<h4>Answers</h4><table>${responses.join("")}</table></details>`;
}

function body(call: Json): string {
  const [media] = Object.entries(at(call, "requestBody", "content"));
  if (!media) return "";
  const { example, schema } = object(media[1]);
  const shown = example ?? object(schema)["properties"];
  return `<h4>Body, <code>${escape(media[0])}</code></h4><pre>${escape(JSON.stringify(shown, null, 2))}</pre>`;
}

function values(parameter: Json): string {
  const { type, enum: allowed, minimum, maximum, default: fallback, description } = object(parameter["schema"]);
  const kind = Array.isArray(allowed) ? allowed.join(", ") : text(type);
  const range = typeof minimum === "number" ? `, ${minimum} to ${Number(maximum)}` : "";
  const standard = typeof fallback === "string" || typeof fallback === "number" ? `, ${fallback} where left out` : "";
  return `${escape(`${kind}${range}${standard}`)}. ${prose(parameter["description"] ?? description)}`;
}

function problemTable(): string {
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
        `<details><summary><code>${escape(name)}</code></summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`,
    )
    .join("");
}

function row(cells: string[], cell = "td"): string {
  return `<tr>${cells.map((each) => `<${cell}>${each}</${cell}>`).join("")}</tr>`;
}

// A description's text, with its code set as such.
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

function escape(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
