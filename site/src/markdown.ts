import { posix } from "node:path";
import { Marked, type Token } from "marked";

// A heading with the text below it, for the search. The first section has no anchor, because it is the page itself.
export type Section = { heading: string; anchor: string; depth: number; text: string };
export type Text = { title: string; html: string; sections: Section[] };

// Returns the address of a link on the site, or null if it points to a file that exists only in the repository.
type LinkTo = (target: string) => string | null;

const guideFolder = "docs/guide";

// Renders the guide's Markdown, which code hosts also show. Only anchors and links need special treatment here.
export function renderMarkdown(markdown: string, linkTo: LinkTo): Text {
  const anchors = new Set<string>();
  const sections: Section[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = freeAnchor(anchorOf(text), anchors);
        sections.push({ heading: plainText(text), anchor: depth === 1 ? "" : anchor, depth, text: "" });
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const target = linkTo(href);
        if (target !== null) return `<a href="${escapeHtml(target)}">${words}</a>`;
        return `${words} (<code class="file">${escapeHtml(posix.join(guideFolder, href))}</code>)`;
      },
      // The API reference is the only page that is not a file. Its path in code style becomes a link to it.
      codespan({ text }) {
        const target = /^\/docs\/api(#\w+)?$/.test(text) ? linkTo(text) : null;
        const code = `<code>${escapeHtml(text)}</code>`;
        return target === null ? code : `<a href="${escapeHtml(target)}">${code}</a>`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const html = marked
    .parser(tokens)
    // Code and tables may be wider than the page, so they scroll, also by keyboard.
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
  fillSections(sections, tokens);
  return { title: sections[0]?.heading ?? "", html, sections };
}

function fillSections(sections: Section[], tokens: Token[]): void {
  let at = -1;
  for (const token of tokens) {
    const section = token.type === "heading" ? sections[++at] : sections[at];
    if (section && token.type !== "heading")
      section.text += ` ${token.type === "code" ? token["text"].replaceAll(/\s+/g, " ") : plainText(token.raw)}`;
  }
}

// Makes anchors as code hosts do, so a link with an anchor works on both.
function anchorOf(heading: string): string {
  return plainText(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function freeAnchor(wanted: string, taken: Set<string>): string {
  let anchor = wanted;
  for (let number = 1; taken.has(anchor); number++) anchor = `${wanted}-${number}`;
  taken.add(anchor);
  return anchor;
}

function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^[\s|:-]+$/gm, " ")
    .replaceAll(/(?<!\w)_([^_]+)_(?!\w)/g, "$1")
    .replaceAll(/\\?\||[`*]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

export function escapeHtml(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
