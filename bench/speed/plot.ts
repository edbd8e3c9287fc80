import { drawing, escaped } from "./chart.ts";
import type { Plot } from "./part.ts";

const width = 820;
const height = 400;
const box = { left: 80, right: 640, top: 56, bottom: 340 };

type Axis = { at: (value: number) => number; marks: number[] };

// An axis with a mark at each power of ten, and at twos and fives if the range is small.
function axisOf(values: number[], from: number, to: number): Axis {
  const positive = values.filter((value) => value > 0);
  const few = Math.max(...positive) / Math.min(...positive) < 100;
  const steps = few ? [1, 2, 5] : [1];
  const powers = Array.from({ length: 25 }, (_, each) => 10 ** (each - 9));
  const all = powers.flatMap((power) => steps.map((step) => step * power));
  const least = all.findLast((mark) => mark <= Math.min(...positive)) ?? 1;
  const most = all.find((mark) => mark >= Math.max(...positive) && mark > least) ?? 10;
  const at = (value: number) => from + ((to - from) * Math.log(value / least)) / Math.log(most / least);
  return { at, marks: all.filter((mark) => mark >= least && mark <= most) };
}

const place = (value: number) => value.toFixed(1);
const shown = (value: number) => (value >= 1 ? value.toLocaleString("en") : String(Number(value.toPrecision(3))));

export function drawPlot({ title, x, y, lines }: Plot): string {
  const points = lines.flatMap((line) => line.points);
  const across = axisOf(
    points.map((point) => point.x),
    box.left,
    box.right,
  );
  const up = axisOf(
    points.map((point) => point.y),
    box.bottom,
    box.top,
  );
  const shapes = [
    `<text class="title" x="16" y="26">${escaped(title)}</text>`,
    `<text class="small" x="16" y="${box.top - 12}">${escaped(y)}</text>`,
    `<text class="small" x="${box.right}" y="${box.bottom + 38}" text-anchor="end">${escaped(x)}</text>`,
    ...up.marks.flatMap((mark) => [
      `<line class="grid" x1="${box.left}" x2="${box.right}" y1="${place(up.at(mark))}" y2="${place(up.at(mark))}"/>`,
      `<text class="small" x="${box.left - 8}" y="${place(up.at(mark) + 4)}" text-anchor="end">${shown(mark)}</text>`,
    ]),
    ...across.marks.map(
      (mark) =>
        `<text class="small" x="${place(across.at(mark))}" y="${box.bottom + 18}" text-anchor="middle">${shown(mark)}</text>`,
    ),
    `<line class="axis" x1="${box.left}" x2="${box.right}" y1="${box.bottom}" y2="${box.bottom}"/>`,
    ...lines.flatMap((line, each) => {
      const path = line.points.map((point) => `${place(across.at(point.x))},${place(up.at(point.y))}`);
      const colour = `c${each % 6}`;
      return [
        `<polyline class="${colour}" style="fill:none;stroke-width:2" points="${path.join(" ")}"/>`,
        ...path.map((pair) => `<circle class="${colour}" cx="${pair.split(",")[0]}" cy="${pair.split(",")[1]}" r="3"/>`),
        `<rect class="${colour}" x="${box.right + 16}" y="${box.top + each * 22}" width="10" height="10"/>`,
        `<text class="small" x="${box.right + 32}" y="${box.top + each * 22 + 9}">${escaped(line.name)}</text>`,
      ];
    }),
  ];
  return drawing(width, height, title, shapes);
}
