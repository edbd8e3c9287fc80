import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { renderMarkdown } from "@casehound/site/markdown";
import { Metrics } from "../src/api/metrics.ts";
import { problems } from "../src/api/http/problem.ts";
import { cliFile } from "./cli.ts";
import { expectProblem, send, useService } from "./harness.ts";

const service = useService();
const root = resolve(import.meta.dirname, "../..");
const guide = join(root, "docs/guide");
const sources = readdirSync(guide).toSorted();
const names = [...sources.map((file) => file.replace(/\.md$/, "")), "api"];
const folder = mkdtempSync(join(tmpdir(), "casehound-docs-"));
const run = promisify(execFile);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (name: string) => (name === "README" ? "/docs" : `/docs/${name}`);
const readGuide = (name: string) => readFileSync(join(guide, `${name}.md`), "utf8");
const anchorsOf = (html: string) => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
const attributesOf = (html: string, name: string) =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value = ""]) => value.replaceAll("&amp;", "&"));

async function get(path: string): Promise<{ url: string; status: number; type: string; policy: string; html: string }> {
  const url = new URL(path, service.current.url).href;
  const answer = await fetch(url);
  const [type, policy] = ["content-type", "content-security-policy"].map((header) => answer.headers.get(header) ?? "");
  return { url, status: answer.status, type: type ?? "", policy: policy ?? "", html: await answer.text() };
}

test.each(names)("GET docs 200: %s is a page whose navigation lists every page", async (name) => {
  const { url, status, type, policy, html } = await get(pathOf(name));
  expect([status, type]).toEqual([200, "text/html; charset=utf-8"]);
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(html).toMatch(/^<!doctype html>/);
  expect(html.match(/<h1\b/g)).toHaveLength(1);
  const navigation = /<nav[^]*?<\/nav>/.exec(html)?.[0] ?? "";
  const linked = new Set(attributesOf(navigation, "href").map((href) => new URL(href, url).pathname));
  expect(names.map(pathOf).filter((path) => !linked.has(path))).toEqual([]);
  expect(navigation.match(/aria-current="page"/g)).toHaveLength(1);
});

test("GET docs/ 308: the URL with a trailing slash redirects to the one without, under any path prefix", async () => {
  const answer = await fetch(new URL("/docs/", service.current.url), { redirect: "manual" });
  expect([answer.status, answer.headers.get("location"), await answer.json()]).toEqual([308, "../docs", { location: "../docs" }]);
  expect((await get("/docs/")).html).toBe((await get("/docs")).html);
});

test("GET docs 200: every link and anchor of every page resolves", async () => {
  const pages = new Map<string, Awaited<ReturnType<typeof get>>>();
  const open = async (path: string) => pages.get(path) ?? pages.set(path, await get(path)).get(path);
  const wrong: string[] = [];
  let count = 0;
  for (const name of names) {
    const { url, html } = await get(pathOf(name));
    for (const href of attributesOf(html, "href")) {
      const { origin, pathname, hash } = new URL(href, url);
      if (origin !== new URL(url).origin) continue;
      count++;
      const target = await open(pathname);
      const isThere = target?.status === 200 && (hash === "" || anchorsOf(target.html).has(hash.slice(1)));
      if (!isThere) wrong.push(`${name}: ${href}`);
    }
    // Files that exist only in the repository are shown by name and must exist.
    const files = [...html.matchAll(/<code class="file">([^<]+)<\/code>/g)].map(([, path = ""]) => path.replace(/#.*/, ""));
    wrong.push(...files.filter((path) => !existsSync(join(root, path))).map((path) => `${name}: ${path}`));
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(300);
});

test("guide: its links also resolve when the Markdown files are read directly", () => {
  const wrong = sources.flatMap((source) => {
    const text = readFileSync(join(guide, source), "utf8").replaceAll(/^```[^]*?^```$/gm, "");
    const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = ""]) => target);
    return targets
      .filter((target) => !/^https?:/.test(target) && !isInRepository(join(guide, source), target))
      .map((each) => `${source}: ${each}`);
  });
  expect(wrong).toEqual([]);
});

function isInRepository(from: string, target: string): boolean {
  const [path = "", anchor] = target.split("#", 2);
  const file = path === "" ? from : resolve(dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(renderMarkdown(readFileSync(file, "utf8"), () => "").html).has(anchor);
}

test("GET docs 200: pages load nothing from other hosts and contain no inline script or style", async () => {
  for (const name of names) {
    const { url, html } = await get(pathOf(name));
    const loaded = [
      ...attributesOf(html, "src"),
      ...[...html.matchAll(/<link\b[^>]*>/g)].flatMap(([tag]) => attributesOf(tag, "href")),
    ];
    expect(loaded.map((each) => new URL(each, url).pathname).toSorted()).toEqual(["/docs/search.js", "/docs/style.css"]);
    expect(html).not.toMatch(/<script>|<style|<iframe|<img|<object|\son\w+="|\sstyle="|javascript:/i);
    // Hosts below .example are only shown. These are the ones that a reader may follow.
    const hosts = [...html.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host = ""]) => host);
    const known = /(^|\.)example$|^127\.0\.0\.1$|^(www\.standardwebhooks\.com|cel\.dev|docs\.slack\.dev|hooks\.slack\.com)$/;
    expect(hosts.filter((host) => !known.test(host))).toEqual([]);
  }
  const { html: style } = await get("/docs/style.css");
  expect(style).not.toMatch(/@import|url\(/);
});

test.each([
  "/docs/nothing",
  "/docs//",
  "/docs/README",
  "/docs/tutorial.md",
  "/docs/tutorial/",
  "/docs/site/style.css",
  "/docs/..%2fpackage.json",
])("GET %s 404: a missing page returns a JSON problem, even to a browser", async (path) => {
  const answer = await send(service.current.port, "GET", path, { headers: { accept: "text/html" } });
  expect(expectProblem(answer, 404, "item-not-found").detail).toBe("There is nothing at this path.");
});

test("GET docs/search.json 200: contains every section of every page with its text and URL", async () => {
  const { type, html, url } = await get("/docs/search.json");
  expect(type).toBe("application/json");
  const entries = JSON.parse(html) as { page: string; heading: string; href: string; text: string }[];
  const found = new Set(entries.map(({ href }) => new URL(href, url).pathname));
  expect(names.map(pathOf).filter((path) => !found.has(path))).toEqual([]);
  expect(entries.find(({ href }) => href === "webhooks#retries-and-dead-letters")?.text).toContain(
    "three days after the first attempt",
  );
  expect(entries.find(({ href }) => href === "api#updateCase")?.heading).toBe("PUT /v2/{tenant_slug}/cases/{case_id}");
});

test("npm run docs: writes the same pages as files whose links lead to each other", async () => {
  await run(process.execPath, [join(root, "scripts/docs.ts"), folder], { cwd: root });
  const files = readdirSync(folder);
  const pages = files.filter((file) => file.endsWith(".html"));
  expect(pages.toSorted()).toEqual(names.map((name) => `${name === "README" ? "index" : name}.html`).toSorted());
  for (const file of pages) {
    const html = readFileSync(join(folder, file), "utf8");
    const links = [...attributesOf(html, "href"), ...attributesOf(html, "src")].filter((href) => !/^(https?:|#)/.test(href));
    const wrong = links.filter((href) => !files.includes(href.replace(/#.*/, "")));
    expect({ file, wrong }).toEqual({ file, wrong: [] });
  }
  const entries = JSON.parse(readFileSync(join(folder, "search.json"), "utf8")) as { href: string }[];
  expect(entries.filter(({ href }) => !files.includes(href.replace(/#.*/, "")))).toEqual([]);
});

test("guide: the table of problems lists exactly the problem types with their status", () => {
  const rows = [...readGuide("errors-and-retries").matchAll(/^\| (\d{3}) +\| `([a-z-]+)`/gm)].map(
    ([, status, type]) => `${status} ${type}`,
  );
  expect(rows.toSorted()).toEqual(
    Object.entries(problems)
      .map(([type, { status }]) => `${status} ${type}`)
      .toSorted(),
  );
});

test("guide: the table of metrics lists every metric that the service exports", async () => {
  const exported = [...(await new Metrics().text()).matchAll(/^# HELP (casehound_\w+)/gm)].map(([, name = ""]) => name);
  const page = readGuide("production");
  const own = exported.filter((name) => !/^casehound_(process|nodejs)_/.test(name));
  expect(own.length).toBeGreaterThan(5);
  expect(own.filter((name) => !page.includes(name))).toEqual([]);
  expect(exported.length).toBeGreaterThan(own.length);
});

test("guide: the command line page lists every command and every option", async () => {
  const page = readGuide("command-line").replaceAll("\\|", "|");
  const { stdout } = await run(process.execPath, [cliFile, "--help"]);
  const usages = [...stdout.matchAll(/^ {2}(\w.*?)(?: {2}|$)/gm)].map(([, usage = ""]) => usage);
  expect(usages.length).toBeGreaterThan(30);
  const commands = usages.map((usage) => usage.replace(/ [<[-].*/, ""));
  expect(commands.filter((command) => !page.includes(`\`${command}`))).toEqual([]);
  const options = usages.flatMap((usage) => usage.match(/--[a-z-]+/g) ?? []);
  expect(options.filter((option) => !page.includes(option))).toEqual([]);
});

test("README: links to the tutorial and the guides", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const targets = [...readme.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = ""]) => target);
  expect(targets).toEqual(expect.arrayContaining(["docs/guide/tutorial.md", "docs/guide/README.md"]));
  const local = targets.filter((target) => !/^https?:/.test(target));
  expect(local.filter((target) => !existsSync(join(root, target))).map((each) => relative(root, each))).toEqual([]);
});

test("README: its table lists every variable that the configuration reads", () => {
  const read = readFileSync(join(root, "service/src/config.ts"), "utf8").matchAll(/"([A-Z][A-Z_]{3,})"/g);
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const variables = [...new Set([...read].map(([, name = ""]) => name))];
  expect(variables.length).toBeGreaterThan(20);
  expect(variables.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
