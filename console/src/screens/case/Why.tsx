import type { Case } from "@casehound/client";
import { useState } from "react";
import { FraudLabel } from "../../parts/Badges.tsx";
import { Button } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Id } from "../../parts/Id.tsx";
import { accountsIn } from "../../parts/subject.ts";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { Advice } from "./Advice.tsx";
import { Evidence } from "./Evidence.tsx";
import { evidenceOf } from "./parts.ts";
import { PartOfAttack } from "./Members.tsx";
import { WasRandomCheck } from "./RandomCheck.tsx";
import { Section } from "./Section.tsx";
import { Similar } from "./Similar.tsx";
import { Waterfall } from "./Waterfall.tsx";

const highlightsMax = 6;

export function Why({ found }: { found: Case }) {
  const { summary, highlights, recommended_action, fraud_labels, members } = found.details;
  const [strongest] = evidenceOf(found);
  const count = Object.keys(found.fraud_occurrences).length;
  const [isWhole, setWhole] = useState(false);
  const others = highlights.filter((each) => !summary.startsWith(each));
  const shown = isWhole ? others : others.slice(0, highlightsMax);
  return (
    <Section title="Why" aside={<Advice action={recommended_action} />}>
      <p className="text-base [overflow-wrap:anywhere]">
        {members && <strong className="font-semibold">{accountsIn(members.count)} in all. </strong>}
        {visible(summary)}
      </p>
      <div className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-soft">
        {fraud_labels.map((label) => (
          <FraudLabel key={label} label={label} />
        ))}
        <span>{count === 1 ? "1 piece of evidence" : `${count} pieces of evidence`}</span>
      </div>
      {others.length > 0 && (
        <ul className="mt-3 list-disc space-y-0.5 pl-5 text-soft marker:text-faint">
          {shown.map((each) => (
            <li key={each} className="[overflow-wrap:anywhere]">
              {visible(each)}
            </li>
          ))}
        </ul>
      )}
      {shown.length < others.length && (
        <>
          <Button className="no-print mt-2" onClick={() => setWhole(true)}>
            Show {others.length - shown.length} more
          </Button>
          <p className="mt-1 hidden print:block">{others.length - shown.length} more are not printed.</p>
        </>
      )}
      <Similar found={found} />
      <PartOfAttack found={found} />
      <WasRandomCheck found={found} />
      <ClaimedAccounts ids={found.details.claimed_accounts ?? []} />
      <Evidence found={found} />
      {strongest && (
        <div className="mt-5">
          <div className="mb-2 flex items-center justify-between gap-4">
            <h3 className="font-medium">
              Score breakdown{" "}
              <span className="font-normal text-faint">
                of the strongest evidence, {strongest.explanation.evidence !== undefined && `${strongest.explanation.evidence}, `}
                <Age at={strongest.generated_at} suffix=" ago" />
              </span>
            </h3>
            <GuideLink page="how-a-score-comes-about#from-event-to-decision" about="the score" className="text-xs" />
          </div>
          <Waterfall occurrence={strongest} caseId={found.case_id} />
        </div>
      )}
    </Section>
  );
}

// Anybody can name an account in a page event, so these ids are not links.
function ClaimedAccounts({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return null;
  return (
    <details className="mt-4">
      <summary className="cursor-pointer font-medium">
        Accounts named by pages: {ids.length} <span className="font-normal text-faint">(claimed, not verified)</span>
      </summary>
      <p className="mt-1 text-soft [overflow-wrap:anywhere]">
        {ids.map((id, index) => (
          <span key={id}>
            {index > 0 && ", "}
            <Id id={id} />
          </span>
        ))}
      </p>
    </details>
  );
}
