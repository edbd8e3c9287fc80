import type { LinkTable } from "@casehound/client";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";

type Body = SimulationNodeDatum & { id: string };
export type Point = { x: number; y: number };

const ticks = 260;
const marginPx = 34;
// Do not stretch a few nodes to the edges.
const scaleMax = 2.4;

// Finishes the layout before drawing, so nothing moves and the same table always gives the same picture. Positions are in the
// layout's own units, because a unit square would distort the shape.
export function layOut({ nodes, edges }: Pick<LinkTable, "nodes" | "edges">): Map<string, Point> {
  const bodies = nodes.map((node): Body => ({ id: node.node_id }));
  const springs = edges.map(({ from, to }) => ({ source: from, target: to }));
  const simulation = forceSimulation(bodies)
    .force(
      "spring",
      forceLink<Body, (typeof springs)[number]>(springs)
        .id((body) => body.id)
        .distance(44),
    )
    .force("charge", forceManyBody().strength(-140).distanceMax(320))
    .force("x", forceX().strength(0.07))
    .force("y", forceY().strength(0.09))
    .force("room", forceCollide(17))
    .stop();
  simulation.tick(ticks);
  return new Map(bodies.map(({ id, x = 0, y = 0 }) => [id, { x, y }]));
}

function scaleOf(space: number, length: number): number {
  return Math.min(scaleMax, Math.max(1, space - 2 * marginPx) / Math.max(1, length));
}

// Scales to the available pixels. Nodes and words keep their size.
export function fit(points: Map<string, Point>, { width, height }: { width: number; height: number }): Map<string, Point> {
  const all = [...points.values()];
  const [left, right] = [Math.min(...all.map(({ x }) => x)), Math.max(...all.map(({ x }) => x))];
  const [top, bottom] = [Math.min(...all.map(({ y }) => y)), Math.max(...all.map(({ y }) => y))];
  const [sx, sy] = [scaleOf(width, right - left), scaleOf(height, bottom - top)];
  return new Map(
    [...points].map(([id, { x, y }]) => [
      id,
      { x: width / 2 + (x - (left + right) / 2) * sx, y: height / 2 + (y - (top + bottom) / 2) * sy },
    ]),
  );
}

const ways: Record<string, Point> = {
  ArrowRight: { x: 1, y: 0 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowDown: { x: 0, y: 1 },
  ArrowUp: { x: 0, y: -1 },
};

// The node that an arrow key moves to. It prefers near nodes, and nodes straight ahead over nodes to the side.
export function nextNode(points: Map<string, Point>, from: string, key: string): string | null {
  const way = ways[key];
  const here = points.get(from);
  if (!way || !here) return null;
  const costs = [...points].flatMap(([id, { x, y }]) => {
    const ahead = (x - here.x) * way.x + (y - here.y) * way.y;
    const aside = Math.abs((x - here.x) * way.y) + Math.abs((y - here.y) * way.x);
    return id === from || ahead <= 0 ? [] : [{ id, cost: ahead + 2 * aside }];
  });
  return costs.toSorted((a, b) => a.cost - b.cost)[0]?.id ?? null;
}
