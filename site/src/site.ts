import { readFileSync } from "node:fs";
import { apiReference, type Api } from "./reference.ts";
import { escapeHtml, renderMarkdown, type Section, type Text } from "./markdown.ts";

// The documentation site: the guide's pages and the API reference in one frame, with navigation and search. It loads nothing from
// other sites. Without JavaScript, only the search is missing.
export type DocsFile = { type: string; body: string };
// Keyed by the name after /docs/. The overview's name is empty.
type DocsSite = Map<string, DocsFile>;

const guideFolder = new URL("../../docs/guide/", import.meta.url);
const siteFolder = new URL("../", import.meta.url);
const reference = "api";

const groups = [
  { title: "Start here", pages: ["", "tutorial", "investigators"] },
  { title: "Concepts", pages: ["how-a-score-comes-about", "versions-and-keys", "tenancy"] },
  {
    title: "How-to",
    pages: [
      "send-from-a-server",
      "decide-at-log-in",
      "send-from-a-browser",
      "import-your-history",
      "signed-identity",
      "review-and-close",
      "find-and-export",
      "lists",
      "labels",
      "models",
      "webhooks",
      "notifications",
      "rules-and-backtests",
      "policies",
      "snooze",
      "people-and-sign-in",
      "single-sign-on",
      "provisioning",
      "keycloak",
    ],
  },
  { title: "Reference", pages: [reference, "errors-and-retries", "command-line", "compatibility"] },
  { title: "Operations", pages: ["production", "troubleshooting"] },
];

// How pages link to each other. All links are relative, so the site also works under a path prefix.
type Layout = { link: (to: string, from: string) => string; openapi: string };

// The overview's address ends without a slash, so relative to it the other pages are one folder down.
const served: Layout = {
  link: (to, from) => (from === "" ? `docs${to === "" ? "" : `/${to}`}` : to === "" ? "../docs" : to),
  openapi: "../openapi.json",
};
const files: Layout = { link: (to) => fileName(to), openapi: "openapi.json" };

function fileName(name: string): string {
  if (name === "") return "index.html";
  return name.includes(".") ? name : `${name}.html`;
}

type Page = Text & { name: string };

// The site as the service serves it. It is built on the first request and then kept.
export function servedDocs(api: () => Api): (page: string) => DocsFile | null {
  let site: DocsSite | null = null;
  return (page) => (site ??= makeSite(api(), served)).get(page) ?? null;
}

// The site as files for any web server, keyed by file name.
export function docsFiles(api: Api): DocsSite {
  return new Map([...makeSite(api, files)].map(([name, file]) => [fileName(name), file]));
}

function makeSite(api: Api, layout: Layout): DocsSite {
  const pages = groups
    .flatMap((group) => group.pages)
    .map((name): Page => ({ name, ...(name === reference ? apiReference(api, layout.openapi) : readPage(name, layout)) }));
  const site: DocsSite = new Map(
    pages.map((page) => [page.name, { type: "text/html; charset=utf-8", body: frame(page, pages, layout) }]),
  );
  site.set("style.css", { type: "text/css; charset=utf-8", body: readFile("style.css", siteFolder) });
  site.set("search.js", { type: "text/javascript; charset=utf-8", body: readFile("search.js", siteFolder) });
  return site.set("search.json", { type: "application/json", body: JSON.stringify(indexOf(pages, layout)) });
}

function readFile(name: string, folder: URL): string {
  return readFileSync(new URL(name, folder), "utf8");
}

function readPage(name: string, { link }: Layout): Text {
  return renderMarkdown(readFile(`${name === "" ? "README" : name}.md`, guideFolder), (target) => {
    if (/^(https?:|#)/.test(target)) return target;
    const [, page, anchor = ""] = /^(?:\/docs\/(?=api\b))?([\w-]+)(?:\.md)?(#.*)?$/.exec(target) ?? [];
    return page === undefined ? null : `${link(page === "README" ? "" : page, name)}${anchor}`;
  });
}

// The search index. Its addresses are relative to the search script, which is next to the pages.
function indexOf(pages: Page[], { link }: Layout) {
  const fromBeside = "search.js";
  return pages.flatMap(({ name, title, sections }) =>
    sections.map(({ heading, anchor, text }) => ({
      page: title,
      heading,
      href: `${link(name, fromBeside)}${anchor === "" ? "" : `#${anchor}`}`,
      text: text.trim(),
    })),
  );
}

function frame(page: Page, pages: Page[], { link }: Layout): string {
  const to = (name: string) => escapeHtml(link(name, page.name));
  const title = page.name === "" ? "Casehound documentation" : `${page.title} · Casehound`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="stylesheet" href="${to("style.css")}"><script defer src="${to("search.js")}"></script></head>
<body><a class="skip" href="#main-text">Skip to content</a>
<header><a class="home" href="${to("")}">Casehound</a><a class="to-pages" href="#pages">Pages</a>
<div id="search-box" role="search" hidden><input id="search-words" type="search" autocomplete="off" spellcheck="false" placeholder="Search  /" role="combobox" aria-label="Search the documentation" aria-autocomplete="list" aria-expanded="false" aria-controls="search-found"><ul id="search-found" role="listbox" aria-label="Search results" hidden></ul></div></header>
<div class="columns"><nav id="pages" aria-label="Pages">${groups.map((group) => navigation(group, page, { pages, to })).join("")}</nav>
<main id="main-text" tabindex="-1">${page.html}</main></div>
</body></html>`;
}

type Around = { pages: Page[]; to: (name: string) => string };

function navigation({ title, pages: names }: (typeof groups)[number], current: Page, { pages, to }: Around): string {
  const items = names.map((name) => {
    const isCurrent = name === current.name;
    const words = escapeHtml(pages.find((page) => page.name === name)?.title ?? name);
    return `<li><a href="${to(name)}"${isCurrent ? ' aria-current="page"' : ""}>${words}</a>${isCurrent ? contents(current.sections) : ""}</li>`;
  });
  return `<h2>${escapeHtml(title)}</h2><ul>${items.join("")}</ul>`;
}

function contents(sections: Section[]): string {
  const items = sections
    .filter(({ depth }) => depth === 2)
    .map(({ heading, anchor }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(heading)}</a></li>`);
  return items.length === 0 ? "" : `<ul>${items.join("")}</ul>`;
}
