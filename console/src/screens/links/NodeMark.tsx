import type { ReactNode } from "react";
import { isFlagged, type LinkNode } from "./rows.ts";

const inks = ["", "fill-risk-1", "fill-risk-2", "fill-risk-3", "fill-risk-4", "fill-risk-5"];

// Shapes show the kind: accounts are circles, devices squares, addresses diamonds. An open case has its score inside, a flag a
// bar below, and a requested account a second ring. Color only repeats this.
export function NodeMark({ node, isCurrent }: { node: LinkNode; isCurrent: boolean }) {
  return (
    <>
      {isCurrent && <circle r={17} className="fill-accent-soft stroke-accent" strokeWidth={2} />}
      <circle r={19} fill="none" className="stroke-transparent group-focus-visible:stroke-ink" strokeWidth={2} />
      {node.kind === "device" && <rect x={-8} y={-8} width={16} height={16} rx={3} className="fill-soft" />}
      {node.kind === "ip" && <path d="M0-10 10 0 0 10-10 0z" className="fill-soft" />}
      {node.kind === "account" && <AccountMark node={node} />}
    </>
  );
}

function AccountMark({ node }: { node: LinkNode }) {
  const score = node.open_case?.overall_risk_score;
  return (
    <>
      {node.is_origin && <circle r={13} className="fill-none stroke-accent" strokeWidth={1.5} />}
      {score === undefined ? (
        <circle r={8} className="fill-surface stroke-edge" strokeWidth={1.5} />
      ) : (
        <>
          <circle r={10} className={inks[score] ?? ""} />
          <text y={4} textAnchor="middle" className="fill-surface text-[11px] font-semibold" aria-hidden>
            {score}
          </text>
        </>
      )}
      {isFlagged(node) && <rect x={-9} y={11} width={18} height={3.5} rx={1} className="fill-bad" />}
    </>
  );
}

const sample = { node_id: "", value: "", is_origin: false };
const someCase = { case_id: "", overall_risk_score: 5, primary_fraud_label: "Bot", created_at: "" } as const;
const blocked = { is_blocked: true, is_quarantined: false, is_fraudulent: false };

export function Legend() {
  return (
    <ul
      aria-label="Legend"
      className="flex flex-wrap items-center gap-x-5 gap-y-1 border-t border-line bg-surface px-4 py-1.5 text-xs text-soft"
    >
      <Sign node={{ ...sample, kind: "account" }}>Account</Sign>
      <Sign node={{ ...sample, kind: "account", is_origin: true }}>selected account</Sign>
      <Sign node={{ ...sample, kind: "account", open_case: someCase }}>with an open case, and its risk</Sign>
      <Sign node={{ ...sample, kind: "account", flags: blocked }}>flagged</Sign>
      <Sign node={{ ...sample, kind: "device" }}>Device</Sign>
      <Sign node={{ ...sample, kind: "ip" }}>Address</Sign>
    </ul>
  );
}

function Sign({ node, children }: { node: LinkNode; children: ReactNode }) {
  return (
    <li className="inline-flex items-center gap-1.5">
      <svg width={22} height={22} viewBox="-16 -16 32 32" aria-hidden>
        <NodeMark node={node} isCurrent={false} />
      </svg>
      {children}
    </li>
  );
}
