import type { Case, FraudOccurrence } from "@casehound/client";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Age } from "../../parts/Time.tsx";
import { typeWords } from "../../timeline/words.ts";
import { evidenceOf } from "./parts.ts";

const shownMax = 5;
const times = new Intl.NumberFormat();

// Shows each piece of evidence with its source and how often it was seen.
export function Evidence({ found }: { found: Case }) {
  const [isWhole, setWhole] = useState(false);
  const all = evidenceOf(found);
  const shown = isWhole ? all : all.slice(0, shownMax);
  return (
    <div className="mt-5">
      <div className="mb-2 flex items-center justify-between gap-4">
        <h3 className="font-medium">Evidence</h3>
        <GuideLink page="investigators#read-the-evidence" about="evidence" className="text-xs" />
      </div>
      <ul aria-label="Evidence" className="divide-y divide-line border-y border-line">
        {shown.map((each) => (
          <li key={each.occurrence_id} className="flex flex-wrap justify-between gap-x-4 py-1.5">
            <span className="[overflow-wrap:anywhere]">
              {each.explanation.fraud_reason}
              <span className="text-soft">
                {each.activity_type !== undefined && `, ${typeWords(each.activity_type).toLowerCase()}`}
                {each.explanation.evidence !== undefined && `, ${each.explanation.evidence}`}
              </span>
            </span>
            <Seen occurrence={each} />
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <>
          <Button className="no-print mt-2" onClick={() => setWhole(true)}>
            Show {all.length - shown.length} more
          </Button>
          <p className="mt-1 hidden print:block">{all.length - shown.length} more are not printed.</p>
        </>
      )}
    </div>
  );
}

function Seen({ occurrence }: { occurrence: FraudOccurrence }) {
  const { count = 1, generated_at, first_at = generated_at, last_at = generated_at } = occurrence;
  return (
    <span className="text-faint">
      {count === 1 ? (
        <>
          seen once, <Age at={first_at} suffix=" ago" />
        </>
      ) : (
        <>
          seen {times.format(count)} times, first <Age at={first_at} suffix=" ago" />, last <Age at={last_at} suffix=" ago" />
        </>
      )}
    </span>
  );
}
