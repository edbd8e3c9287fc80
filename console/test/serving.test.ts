import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, brotliDecompressSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { expectProblem, send, sendRaw, useService } from "../../service/test/harness.ts";
import { ConsolePages } from "../../service/src/api/documents/console.ts";
import { buildConsole } from "../bundle/build.ts";
import { readConsole, type ConsoleFiles } from "../bundle/files.ts";
import { routes } from "../bundle/routes.ts";

const scriptBytesMax = 200 * 1024;
const styleBytesMax = 20 * 1024;

let files: ConsoleFiles;
beforeAll(async () => {
  await buildConsole();
  const read = readConsole();
  if (!read) throw new Error("the console was not built");
  files = read;
}, 120_000);
const service = useService();

const asBrowser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

function get(path: string, headers: Record<string, string> = asBrowser): Promise<Response> {
  return fetch(`${service.current.url}${path}`, { headers });
}

// What a page loads before it can show anything: its own scripts and styles, and their static imports.
function firstLoad(kind: RegExp): string[] {
  const page = files.get("index.html")?.plain.toString() ?? "";
  const wanted = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path]) => path ?? "");
  for (const path of wanted) {
    const text = path.endsWith(".js") ? (files.get(path)?.plain.toString() ?? "") : "";
    for (const [, name] of text.matchAll(/(?:from|^import|[;}]import)\s*"\.\/([^"]+)"/gm))
      if (!wanted.includes(`assets/${name}`)) wanted.push(`assets/${name}`);
  }
  return wanted.filter((path) => kind.test(path));
}

function packedBytes(paths: string[]): number {
  return paths.reduce((sum, path) => sum + (files.get(path)?.gzip.length ?? 0), 0);
}

test("console: the first load is within 200 kB of script and 20 kB of styles, compressed", () => {
  const [scripts, styles] = [firstLoad(/\.js$/), firstLoad(/\.css$/)];
  expect({ scripts: scripts.length > 0, styles: styles.length > 0 }).toEqual({ scripts: true, styles: true });
  expect(packedBytes(scripts)).toBeLessThan(scriptBytesMax);
  expect(packedBytes(styles)).toBeLessThan(styleBytesMax);
});

test("console: a second build of the same sources does nothing", async () => {
  expect(await buildConsole()).toBe(false);
});

const screens = Object.values(routes).map((path) => path.replace(/\$\w+/, "a%2Fb"));

test("console: every screen's path is in the list of paths that the service serves", () => {
  const router = readFileSync(join(import.meta.dirname, "../src/router.tsx"), "utf8");
  const used = [...router.matchAll(/\bpath: (.+),/g)].map(([, path]) => String(path));
  expect(used.toSorted()).toEqual(
    Object.keys(routes)
      .map((name) => `routes.${name}`)
      .toSorted(),
  );
});

test.each([...screens, "/?status=closed", "/cases/019a8b1c-0000-7000-8000-000000000000?event=1"])(
  "GET %s 200: a browser gets the console's page with security headers, and revalidates it every time",
  async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(files.get("index.html")?.plain.toString());
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("geolocation=()"),
    });
    const again = await get(path, { ...asBrowser, "if-none-match": response.headers.get("etag") ?? "" });
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: "" });
  },
);

test("GET assets 200: cached for a year, in an encoding that the browser accepts", async () => {
  const [path = ""] = firstLoad(/\.js$/);
  const plain = files.get(path)?.plain.toString();
  for (const [accepted, unpack] of [
    ["br, gzip", (bytes: Buffer) => brotliDecompressSync(bytes)],
    ["gzip, br;q=0", (bytes: Buffer) => gunzipSync(bytes)],
    ["identity", (bytes: Buffer) => bytes],
  ] as const) {
    const raw = await rawGet(`/${path}`, accepted);
    expect(raw.headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
    expect(unpack(raw.bytes).toString()).toBe(plain);
  }
});

async function rawGet(path: string, accepted: string): Promise<{ headers: Record<string, string>; bytes: Buffer }> {
  const { get: httpGet } = await import("node:http");
  return new Promise((resolve, reject) => {
    httpGet(`${service.current.url}${path}`, { headers: { "accept-encoding": accepted } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve({ headers: answer.headers as Record<string, string>, bytes: Buffer.concat(chunks) }));
    }).on("error", reject);
  });
}

test.each([
  "/no-such-screen",
  "/index.html",
  "/link/a-token",
  "/overview/",
  "/Overview",
  "/cases",
  "/cases/",
  "/cases/..",
  "/cases/%2e%2E",
  "/cases/a/b",
  "//cases/a",
  "/%2e%2e/v2/x/cases",
  "/V2/x/cases",
  "//v2/x/cases",
  "/v3/x/cases",
  "/api/v2/x/cases",
  "/assets/nothing.js",
  "/v2",
  "/v2/x/nothing",
  "/v2/x/cases/1/nothing",
  "/auth/nothing",
  "/collect",
  "/docs/nothing",
  "/livez/x",
])("GET %s 404: a path that is neither a screen nor an asset returns a problem, whatever the browser accepts", async (path) => {
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: ${asBrowser.accept}\r\n\r\n`;
  const answer = await sendRaw(service.current.port, request);
  expect(expectProblem(answer, 404, "item-not-found").detail).toBe("There is nothing at this path.");
});

test("GET /docs, /livez, /tag.js and the rest: a browser gets their own content, not the console's page", async () => {
  for (const [path, type] of [
    ["/docs", "text/html; charset=utf-8"],
    ["/docs/api", "text/html; charset=utf-8"],
    ["/livez", "application/json"],
    ["/readyz", "application/json"],
    ["/openapi.json", "application/json"],
    ["/.well-known/jwks.json", "application/json"],
    ["/tag.js", "text/javascript; charset=utf-8"],
  ])
    expect([path, (await get(path ?? "")).headers.get("content-type")]).toEqual([path, type]);
  expect(await (await get("/docs/api")).text()).toContain("Casehound API");
});

test.each([
  ["text/html", 200],
  ["TEXT/HTML;Q=0.1, application/json", 200],
  ["text/*", 200],
  ["text/*;q=0, text/html", 200],
  ["text/html;q=0", 404],
  ["text/html ; q=0.000, */*", 404],
  ["text/*, text/html;q=0", 404],
  ["text/html;q=no", 404],
  ["application/json", 404],
  ["*/*", 404],
  ["", 404],
  ["text/htmlx, xtext/html", 404],
  ['application/json;profile="text/html"', 404],
  ['application/json;profile=", text/html,"', 404],
])("GET / with Accept %j: %i", async (accept, status) => {
  const response = await get("/", { accept });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    status,
    status === 200 ? "text/html; charset=utf-8" : "application/problem+json",
  ]);
});

test("GET / 404: a request that does not accept a page gets a problem, and so does POST", async () => {
  const plain = await send(service.current.port, "GET", "/");
  const posted = await send(service.current.port, "POST", "/", { headers: asBrowser });
  for (const each of [plain, posted]) expect(expectProblem(each, 404, "item-not-found").status).toBe(404);
});

test("GET: no path escapes the console's files", async () => {
  for (const path of [
    "/assets/../stamp.json",
    "/stamp.json",
    "/assets/%2e%2e/index.html",
    "/../package.json",
    "/index.html.gz",
  ]) {
    const answer = await sendRaw(service.current.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(expectProblem(answer, 404, "item-not-found").status).toBe(404);
  }
});

test("GET / 503: a service without a built console says so, with the same security headers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "casehound-console-"));
  try {
    const pages = new ConsolePages(readConsole(folder));
    const request = { method: "GET", headers: asBrowser } as never;
    const match = pages.match(request, { segments: [""], query: "" });
    const reply = await match?.operation.handle(request, () => {}, match.call);
    expect(reply).toMatchObject({ status: 503, body: expect.stringContaining("The console is not built") });
    expect(reply?.headers["content-security-policy"]).toContain("default-src 'none'");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
