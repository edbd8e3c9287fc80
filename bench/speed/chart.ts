// Charts drawn by hand, so they need no library and read well on light and dark pages.
import type { Bar } from "./part.ts";

const style = `<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .small { font-size: 11px; fill: #59636e; }
  .title { font-weight: 600; }
  .axis { stroke: #59636e; stroke-width: 1; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .goal { stroke: #1f2328; stroke-width: 2; }
  .c0 { fill: #0969da; stroke: #0969da; } .c1 { fill: #bf8700; stroke: #bf8700; } .c2 { fill: #1a7f37; stroke: #1a7f37; }
  .c3 { fill: #8250df; stroke: #8250df; } .c4 { fill: #cf222e; stroke: #cf222e; } .c5 { fill: #59636e; stroke: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .small { fill: #9198a1; } .axis { stroke: #9198a1; } .grid { stroke: #3d444d; } .goal { stroke: #f0f6fc; }
    .c0 { fill: #4493f8; stroke: #4493f8; } .c1 { fill: #d29922; stroke: #d29922; } .c2 { fill: #3fb950; stroke: #3fb950; }
    .c3 { fill: #ab7df8; stroke: #ab7df8; } .c4 { fill: #f85149; stroke: #f85149; } .c5 { fill: #9198a1; stroke: #9198a1; }
  }
</style>`;

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? sign);

export function drawing(width: number, height: number, title: string, shapes: string[]): string {
  const label = escaped(title);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
${style}
${shapes.join("\n")}
</svg>
`;
}

const headings: Record<string, string> = {
  bare: "compared with bare node:http",
  pgbench: "compared with pgbench",
  COPY: "compared with COPY",
  plain: "compared with the plain implementation",
};
const width = 820;
const left = 240;
const right = 70;
const rowHeight = 24;
const headingHeight = 44;
const titleHeight = 44;

// Ratios on a logarithmic axis, so half as fast and twice as fast are equally far from the line at 1.
export function drawBars(bars: Bar[]): string {
  const least = Math.min(0.5, ...bars.map(({ ratio }) => ratio * 0.9));
  const most = Math.max(2, ...bars.flatMap(({ ratio, wanted = 1 }) => [ratio * 1.1, wanted * 1.1]));
  const at = (ratio: number) => left + ((width - left - right) * Math.log(ratio / least)) / Math.log(most / least);
  const order = Object.keys(headings);
  const inOrder = bars.toSorted((a, b) => order.indexOf(a.against) - order.indexOf(b.against));
  const groups = Map.groupBy(inOrder, ({ against }) => against);
  const shapes = [`<text class="title" x="16" y="26">Relative speed; the vertical stroke is the target</text>`];
  let y = titleHeight;
  for (const [place, [against, group]] of [...groups].entries()) {
    shapes.push(`<text class="title" x="16" y="${y + 22}">${escaped(headings[against] ?? against)}</text>`);
    const top = y + headingHeight - 12;
    y += headingHeight - 10;
    for (const { label, ratio, wanted } of group) {
      const [from, to] = [Math.min(at(1), at(ratio)), Math.max(at(1), at(ratio))];
      const bar = `<rect class="c${place % 6}" x="${from.toFixed(1)}" y="${y + 4}" width="${Math.max(1, to - from).toFixed(1)}" height="${rowHeight - 8}" rx="2"/>`;
      const name = `<text class="small" x="${left - 10}" y="${y + 16}" text-anchor="end">${escaped(label)}</text>`;
      const figure = `<text class="small" x="${(to + 6).toFixed(1)}" y="${y + 16}">${ratio.toFixed(2)}</text>`;
      const goal =
        wanted === undefined
          ? ""
          : `<line class="goal" x1="${at(wanted).toFixed(1)}" x2="${at(wanted).toFixed(1)}" y1="${y + 1}" y2="${y + rowHeight - 1}"/>`;
      shapes.push(bar, goal, name, figure);
      y += rowHeight;
    }
    shapes.push(`<line class="axis" x1="${at(1).toFixed(1)}" x2="${at(1).toFixed(1)}" y1="${top}" y2="${y}"/>`);
    y += 10;
  }
  return drawing(width, y + 10, "Speed relative to its limits and to a plain implementation", shapes);
}
