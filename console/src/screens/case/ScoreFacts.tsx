import type { Case } from "@casehound/client";
import { isRandomCheck } from "../../parts/RandomCheck.tsx";
import { Such } from "../../parts/Such.tsx";
import { evidenceOf, signedWords, totalOf } from "./parts.ts";

// Explains the score of a case: the total that the breakdown also shows, and how many activities with this score were frauds.
export function ScoreFacts({ found }: { found: Case }) {
  const [strongest] = evidenceOf(found);
  if (isRandomCheck(found.details)) return null;
  return (
    <p className="text-xs text-soft">
      {strongest && (
        <>
          <span title="The log-odds of the strongest evidence">
            Evidence <span data-sum="">{signedWords(totalOf(strongest))}</span>
          </span>
          {" · "}
        </>
      )}
      <Such score={found.details.overall_risk_score} />
    </p>
  );
}
