import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ConsoleFile, ConsoleFiles } from "@casehound/console/files";
import { routes } from "@casehound/console/routes";
import { weightOf } from "../http/accept.ts";
import { PathTree } from "../http/path-tree.ts";
import type { Target } from "../http/path.ts";
import type { Reply } from "../http/problem.ts";
import type { SystemOperation } from "../http/system-operation.ts";

const screens = new PathTree<string>();
for (const path of Object.values(routes)) screens.add("GET", path.replaceAll(/\$(\w+)/g, "{$1}"), path);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const guards = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};

const absentPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Casehound</title></head>
<body><h1>The console is not built</h1><p>This service runs without its console. Start it with <code>npm start</code>, or build the console with <code>node console/bundle/build.ts</code>, and start again.</p>
<p>The API works: see <a href="/docs">its documentation</a>.</p></body></html>`;

// Serves the built console's files, and its single page at the path of each screen.
export class ConsolePages {
  readonly #files: ConsoleFiles | null;
  readonly #operation: SystemOperation;

  constructor(files: ConsoleFiles | null) {
    this.#files = files;
    this.#operation = {
      id: "getConsole",
      method: "GET",
      path: "/",
      summary: "The console",
      handle: (request, _onBody, call) => this.#reply(request, call.params["path"] ?? ""),
    };
  }

  // Returns null if the request is not for the console.
  match(request: IncomingMessage, target: Target | null) {
    if (!target || request.method !== "GET") return null;
    const { segments } = target;
    const path = segments.join("/");
    const isFile = this.#files?.has(path) === true && path !== "index.html";
    const isScreen = screens.find("GET", segments) !== null;
    if (!isFile && !(isScreen && takesPages(request.headers.accept ?? ""))) return null;
    return { kind: "system" as const, operation: this.#operation, call: { params: { path }, query: target.query } };
  }

  #reply(request: IncomingMessage, path: string): Reply {
    const file = this.#files?.get(path);
    if (file && path !== "index.html") return fileReply(request, file, path.startsWith("assets/"));
    const page = this.#files?.get("index.html");
    if (page) return fileReply(request, page, false);
    return { status: 503, body: absentPage, headers: { ...guards, "content-type": "text/html; charset=utf-8" } };
  }
}

// A browser that opens a page asks for HTML. An API client may accept anything, and gets the API's response.
function takesPages(accept: string): boolean {
  return (weightOf(accept, "text/html", "text/*") ?? 0) > 0;
}

function fileReply(request: IncomingMessage, file: ConsoleFile, isImmutable: boolean): Reply {
  const etag = `"${hash("sha256", file.plain, "base64url").slice(0, 22)}"`;
  const headers = {
    ...guards,
    etag,
    vary: "Accept, Accept-Encoding",
    "cache-control": isImmutable ? "public, max-age=31536000, immutable" : "no-cache",
  };
  const known = (request.headers["if-none-match"] ?? "").split(",").map((each) => each.trim().replace(/^W\//, ""));
  if (known.includes(etag)) return { status: 304, body: "", headers };
  const { bytes, encoding } = chosen(request.headers["accept-encoding"] ?? "", file);
  const coded = encoding === null ? {} : { "content-encoding": encoding };
  return { status: 200, body: "", bytes, headers: { ...headers, ...coded, "content-type": file.type } };
}

function chosen(accepted: string, file: ConsoleFile): { bytes: Buffer; encoding: string | null } {
  const takes = (name: string) => new RegExp(`(^|[,\\s])${name}\\b(?!\\s*;\\s*q=0(\\.0*)?(\\s*,|\\s*$))`).test(accepted);
  if (takes("br")) return { bytes: file.brotli, encoding: "br" };
  if (takes("gzip")) return { bytes: file.gzip, encoding: "gzip" };
  return { bytes: file.plain, encoding: null };
}
