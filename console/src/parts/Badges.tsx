import type { CaseListItem } from "@casehound/client";
import { Ban, Bot, Flag as FlagIcon, KeyRound, Leaf, Lock, UserRoundX } from "lucide-react";
import type { ReactNode } from "react";
import type { Flag, Flags } from "../changes/flags.ts";

const labelIcons: Record<CaseListItem["primary_fraud_label"], ReactNode> = {
  "Account Takeover": <KeyRound size={14} aria-hidden />,
  Bot: <Bot size={14} aria-hidden />,
  Synthetic: <UserRoundX size={14} aria-hidden />,
  Organic: <Leaf size={14} aria-hidden />,
};

// Short: where there is little room, the icon with the name as its title.
export function FraudLabel({ label, isShort = false }: { label: CaseListItem["primary_fraud_label"]; isShort?: boolean }) {
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" title={label}>
      <span className="text-faint">{labelIcons[label]}</span>
      <span className={isShort ? "max-xl:sr-only" : ""}>{label}</span>
    </span>
  );
}

export const actionWords: Record<CaseListItem["recommended_action"], string> = {
  MONITOR: "Monitor",
  CHALLENGE: "Challenge",
  BLOCK: "Block",
  ESCALATE: "Escalate",
};

export const flagFacts: Record<Flag, { name: string; verb: string; key: string; icon: ReactNode }> = {
  is_blocked: { name: "Blocked", verb: "Block", key: "b", icon: <Ban size={14} aria-hidden /> },
  is_quarantined: { name: "Quarantined", verb: "Quarantine", key: "q", icon: <Lock size={14} aria-hidden /> },
  is_fraudulent: { name: "Fraudulent", verb: "Mark as fraudulent", key: "f", icon: <FlagIcon size={14} aria-hidden /> },
};

export const flagNames = Object.keys(flagFacts) as Flag[];

// Only those that are set. Small: the icons of all three have room beside an account's name.
export function FlagMarks({ flags }: { flags: Partial<Flags> }) {
  const set = flagNames.filter((flag) => flags[flag] === true);
  return set.map((flag) => (
    <span
      key={flag}
      title={flagFacts[flag].name}
      className="grid size-5 shrink-0 place-items-center rounded bg-bad-soft text-bad"
    >
      {flagFacts[flag].icon}
      <span className="sr-only">{flagFacts[flag].name}</span>
    </span>
  ));
}

export function StatusBadge({ status }: { status: "OPEN" | "CLOSED" }) {
  const look = status === "OPEN" ? "bg-accent-soft text-accent" : "bg-sunken text-soft";
  return <span className={`rounded px-1.5 py-px text-xs font-semibold ${look}`}>{status === "OPEN" ? "Open" : "Closed"}</span>;
}

export const dispositionWords = {
  CONFIRMED_FRAUD: "Confirmed fraud",
  FALSE_POSITIVE: "False positive",
  INCONCLUSIVE: "Inconclusive",
} as const;
