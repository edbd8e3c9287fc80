import type { CaseListItem } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Dices } from "lucide-react";
import { useWorkspace } from "../session/workspace.tsx";
import { FraudLabel } from "./Badges.tsx";

// Suspicious activity has at least this score.
export const suspiciousScore = 3;

type Chosen = { random_check?: boolean; overall_risk_score: number };

// Whether a case was opened at random and nothing suspicious has been found since.
export function isRandomCheck({ random_check: isChosen = false, overall_risk_score: score }: Chosen): boolean {
  return isChosen && score < suspiciousScore;
}

// `isShort` shows only the words in a narrow container and only the icon in a very narrow one.
export function RandomCheckMark({ isShort = false }: { isShort?: boolean }) {
  return (
    <span
      title="Random check: the case was chosen at random. Nothing suspicious was found."
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded border border-line px-1.5 text-xs font-medium whitespace-nowrap text-soft ${isShort ? "@max-5xl:border-0 @max-5xl:px-0" : ""}`}
    >
      <Dices size={13} className={isShort ? "@max-5xl:hidden @max-[44rem]:block" : ""} aria-hidden />
      <span className={isShort ? "@max-[44rem]:sr-only" : ""}>Random check</span>
    </span>
  );
}

type Row = Pick<CaseListItem, "case_id" | "website_account_id" | "overall_risk_score" | "primary_fraud_label">;

// A random check has a fraud label, because every case has one. The label would look like an accusation, so the mark replaces it.
export function CaseLabel({ row, isShort = false }: { row: Row; isShort?: boolean }) {
  const { queries } = useWorkspace();
  const mayBeCheck = row.overall_risk_score < suspiciousScore;
  const { data: digest, isPending } = useQuery({ ...queries.digest(row), enabled: mayBeCheck });
  if (mayBeCheck && isPending) return null;
  if (mayBeCheck && digest?.random_check) return <RandomCheckMark isShort={isShort} />;
  return <FraudLabel label={row.primary_fraud_label} isShort={isShort} />;
}
