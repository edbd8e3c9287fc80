import type { Case } from "@casehound/client";
import { GitCompareArrows } from "lucide-react";
import { Actor } from "../parts/Actor.tsx";
import { Button } from "../parts/Button.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { ageWords } from "../parts/Time.tsx";
import { differenceOf } from "../changes/difference.ts";

type Props = { seen: Case; now: Case; onAnyway: () => void; onReview: () => void; isBusy: boolean };

// Shown when the case changed while the person was deciding. Nothing was applied, and the draft is kept.
export function ConflictStrip({ seen, now, onAnyway, onReview, isBusy }: Props) {
  const { versions, scores, changed_at, changed_by, evidence } = differenceOf(seen, now);
  const parts = [
    `version ${versions.from} to ${versions.to}`,
    ...(scores ? [`score ${scores.from} to ${scores.to}`] : []),
    ...(evidence.length > 0 ? [`new evidence: ${evidence.join("; ")}`] : []),
  ];
  return (
    <div role="alert" className="mb-4 rounded-lg border border-warn/40 bg-warn-soft p-3 text-sm">
      <p className="flex gap-2 text-warn">
        <GitCompareArrows size={16} className="mt-0.5 shrink-0" aria-hidden />
        <span className="[overflow-wrap:anywhere]">
          <strong className="font-semibold">Changed {ageWords(changed_at)} ago</strong> by <Actor actor={changed_by} />:{" "}
          {parts.join(", ")}. The case was not closed.
        </span>
      </p>
      <div className="mt-2.5 flex items-center justify-end gap-2">
        <GuideLink
          page="investigators#if-the-case-changed-while-you-decided"
          about="conflicting changes"
          className="mr-auto text-xs"
        />
        <Button onClick={onReview} disabled={isBusy}>
          Keep reviewing
        </Button>
        <Button look="primary" onClick={onAnyway} disabled={isBusy}>
          Close anyway
        </Button>
      </div>
    </div>
  );
}
