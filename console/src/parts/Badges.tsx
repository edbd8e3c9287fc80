import { defaultReasons, type CaseChange, type CaseListItem } from "@casehound/client";
import { Ban, Bot, Flag as FlagIcon, KeyRound, Leaf, Lock, UserRoundX } from "lucide-react";
import type { ReactNode } from "react";
import type { Flag, Flags } from "../changes/flags.ts";
import { visible } from "./visible.ts";

const labelIcons: Record<CaseListItem["primary_fraud_label"], ReactNode> = {
  "Account Takeover": <KeyRound size={14} aria-hidden />,
  Bot: <Bot size={14} aria-hidden />,
  Synthetic: <UserRoundX size={14} aria-hidden />,
  Organic: <Leaf size={14} aria-hidden />,
};

// `isShort` shows only the last word in a narrow container and only the icon in a very narrow one, with the name as its title.
export function FraudLabel({ label, isShort = false }: { label: CaseListItem["primary_fraud_label"]; isShort?: boolean }) {
  const at = isShort ? label.lastIndexOf(" ") + 1 : 0;
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" title={label}>
      <span className="text-faint">{labelIcons[label]}</span>
      <span className={isShort ? "@max-[44rem]:sr-only" : ""}>
        {at > 0 && <span className="@max-5xl:sr-only">{label.slice(0, at)}</span>}
        {label.slice(at)}
      </span>
    </span>
  );
}

export const actionWords: Record<CaseListItem["recommended_action"], string> = {
  MONITOR: "Monitor",
  CHALLENGE: "Challenge",
  BLOCK: "Block",
  ESCALATE: "Escalate",
};

type FlagFacts = { name: string; key: string; icon: ReactNode; changed: (account: string, isOn: boolean) => string };

export const flagFacts: Record<Flag, FlagFacts> = {
  is_blocked: {
    name: "Blocked",
    key: "b",
    icon: <Ban size={14} aria-hidden />,
    changed: (account, isOn) => (isOn ? `Blocked ${account}.` : `${account} is no longer blocked.`),
  },
  is_quarantined: {
    name: "Quarantined",
    key: "q",
    icon: <Lock size={14} aria-hidden />,
    changed: (account, isOn) => (isOn ? `Quarantined ${account}.` : `${account} is no longer quarantined.`),
  },
  is_fraudulent: {
    name: "Fraudulent",
    key: "f",
    icon: <FlagIcon size={14} aria-hidden />,
    changed: (account, isOn) => (isOn ? `Marked ${account} as fraudulent.` : `${account} is no longer marked as fraudulent.`),
  },
};

export const flagNames = Object.keys(flagFacts) as Flag[];

// Shows only the flags that are set, and prints them as words. `isTight` drops the background of three marks, which would
// otherwise leave too little room for the account's name.
export function FlagMarks({ flags, isTight = false }: { flags: Partial<Flags>; isTight?: boolean }) {
  const set = flagNames.filter((flag) => flags[flag] === true);
  const look = isTight && set.length > 2 ? "-mx-[3px]" : "bg-bad-soft";
  return set.map((flag) => (
    <span
      key={flag}
      title={flagFacts[flag].name}
      className={`grid size-5 shrink-0 place-items-center rounded text-bad print:flex print:size-auto print:gap-1 print:px-1 ${look}`}
    >
      {flagFacts[flag].icon}
      <span className="sr-only print:not-sr-only">{flagFacts[flag].name}</span>
    </span>
  ));
}

export function StatusBadge({ status }: { status: "OPEN" | "CLOSED" }) {
  const look = status === "OPEN" ? "bg-accent-soft text-accent" : "bg-sunken text-soft";
  return <span className={`rounded px-1.5 py-px text-xs font-semibold ${look}`}>{status === "OPEN" ? "Open" : "Closed"}</span>;
}

export const dispositionWords: Record<NonNullable<CaseChange["disposition"]>, string> = {
  CONFIRMED_FRAUD: "Confirmed fraud",
  FALSE_POSITIVE: "False positive",
  INCONCLUSIVE: "Inconclusive",
};

type OutcomeMembers = { disposition?: CaseChange["disposition"]; own_disposition?: string };

// The outcome in words, with the tenant's own one if it was given. Undefined if the case was closed without an outcome.
export function outcomeName({ disposition, own_disposition: own }: OutcomeMembers): string | undefined {
  if (!disposition) return undefined;
  return own === undefined ? dispositionWords[disposition] : `${dispositionWords[disposition]} (${visible(own)})`;
}

// The same within a sentence. The tenant's own name keeps its capitals.
export function outcomeInSentence({ disposition, own_disposition: own }: OutcomeMembers): string | undefined {
  if (!disposition) return undefined;
  const words = dispositionWords[disposition].toLowerCase();
  return own === undefined ? words : `${words} (${visible(own)})`;
}

export function hasOwnReason({ reason }: { reason: string }): boolean {
  return reason !== defaultReasons.CLOSED;
}
