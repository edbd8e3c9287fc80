import type { LinkTable } from "@casehound/client";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { visible } from "../../parts/visible.ts";
import { fit, layOut, nextNode, type Point } from "./layout.ts";
import { Legend, NodeMark } from "./NodeMark.tsx";
import { isFlagged, kindWords, type LinkNode } from "./rows.ts";

type Props = {
  graph: Pick<LinkTable, "nodes" | "edges">;
  focusedId: string | null;
  onFocus: (id: string) => void;
  onEnter: () => void;
};

// Above this number, only the names around the focus are drawn, because more would overlap.
const namedMax = 45;
const nameCharactersMax = 14;

// The table as a graph. All nodes are one tab stop; the arrow keys move from node to node.
export function Graph({ graph, focusedId, onFocus, onEnter }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSize(frame);
  const laid = useMemo(() => layOut(graph), [graph]);
  const points = useMemo(() => fit(laid, size), [laid, size]);
  const current = graph.nodes.some((node) => node.node_id === focusedId) ? focusedId : (graph.nodes[0]?.node_id ?? null);
  const isFew = graph.nodes.length <= namedMax;
  const near = useMemo(() => neighboursOf(graph, current), [graph, current]);

  function press(event: KeyboardEvent): void {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return onEnter();
    }
    const next = current === null ? null : nextNode(points, current, event.key);
    if (event.key.startsWith("Arrow")) event.preventDefault();
    if (next === null) return;
    onFocus(next);
    document.getElementById(`node-${next}`)?.focus();
  }

  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div ref={frame} className="relative min-h-0 flex-1 overflow-hidden">
        {size.width > 0 && (
          <svg
            width={size.width}
            height={size.height}
            className="absolute inset-0"
            role="group"
            aria-label={graphWords(graph)}
            onKeyDown={press}
          >
            <Edges graph={graph} points={points} current={current} />
            {graph.nodes.map((node) => {
              const id = node.node_id;
              const place = points.get(id);
              return (
                place && (
                  <g
                    key={id}
                    id={`node-${id}`}
                    role="button"
                    tabIndex={id === current ? 0 : -1}
                    aria-pressed={id === current}
                    aria-label={nodeWords(node, graph)}
                    transform={`translate(${place.x} ${place.y})`}
                    className="group cursor-pointer outline-none"
                    onClick={() => onFocus(id)}
                  >
                    <NodeMark node={node} isCurrent={id === current} />
                  </g>
                )
              );
            })}
            <Names
              nodes={isFew ? graph.nodes : graph.nodes.filter(({ node_id: id }) => id === current || near.has(id))}
              points={points}
            />
          </svg>
        )}
      </div>
      <Legend />
    </div>
  );
}

function Edges({ graph, points, current }: { graph: Props["graph"]; points: Map<string, Point>; current: string | null }) {
  return graph.edges.map(({ from, to }) => {
    const [a, b] = [points.get(from), points.get(to)];
    const isNear = from === current || to === current;
    const look = isNear ? "stroke-accent" : "stroke-edge";
    return (
      a &&
      b && (
        <line
          key={`${from} ${to}`}
          x1={a.x}
          y1={a.y}
          x2={b.x}
          y2={b.y}
          className={look}
          strokeWidth={isNear ? 1.75 : 1}
          opacity={isNear ? 1 : 0.4}
        />
      )
    );
  });
}

// Drawn above all nodes, so no node covers a name.
function Names({ nodes, points }: { nodes: LinkNode[]; points: Map<string, Point> }) {
  return nodes.map(({ node_id: id, value: raw }) => {
    const value = visible(raw);
    const place = points.get(id);
    const short = value.length > nameCharactersMax ? `${value.slice(0, nameCharactersMax - 1)}…` : value;
    return (
      place && (
        <text
          key={id}
          x={place.x}
          y={place.y + 27}
          textAnchor="middle"
          className="pointer-events-none fill-ink stroke-canvas text-[11px]"
          strokeWidth={3}
          paintOrder="stroke"
          aria-hidden
        >
          {short}
        </text>
      )
    );
  });
}

function neighboursOf({ edges }: Props["graph"], id: string | null): Set<string> {
  return new Set(edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])));
}

function graphWords({ nodes }: Props["graph"]): string {
  const accounts = nodes.filter((node) => node.kind === "account").length;
  return `Graph of ${accounts} accounts and ${nodes.length - accounts} devices and addresses. Arrow keys move between nodes. J and K move through the table's rows.`;
}

function nodeWords(node: LinkNode, { edges }: Props["graph"]): string {
  const links = edges.filter(({ from, to }) => from === node.node_id || to === node.node_id).length;
  if (node.kind !== "account") return `${kindWords[node.kind].one} ${visible(node.value)}, ${links} accounts`;
  const risk = node.open_case ? `, open case of risk ${node.open_case.overall_risk_score}` : "";
  return `Account ${visible(node.value)}${node.is_origin ? ", selected account" : ""}${risk}${isFlagged(node) ? ", flagged" : ""}, ${links} links`;
}

function useSize(frame: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame]);
  return size;
}
