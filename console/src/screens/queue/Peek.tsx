import type { Case } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Maximize2, RotateCcw } from "lucide-react";
import { Actor } from "../../parts/Actor.tsx";
import { FraudLabel, StatusBadge, dispositionWords, hasOwnReason } from "../../parts/Badges.tsx";
import { Button, Kbd } from "../../parts/Button.tsx";
import { Score } from "../../parts/Score.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { AccountLink } from "../account/AccountLink.tsx";
import { evidenceOf } from "../case/Evidence.tsx";
import { Waterfall } from "../case/Waterfall.tsx";
import { AccountCard } from "../case/Who.tsx";
import { Advice } from "../case/Why.tsx";

type Props = { caseId: string; onOpen: () => void; onClose: (seen: Case) => void; onReopen: (closed: Case) => void };

// Shows enough of the focused case to decide an easy one without leaving the list.
export function Peek({ caseId, onOpen, onClose, onReopen }: Props) {
  const { queries, may } = useWorkspace();
  const read = useQuery(queries.case(caseId));
  return (
    <aside
      aria-label="The case in focus"
      className="flex w-[22rem] shrink-0 flex-col border-l border-line bg-surface max-xl:w-[18.5rem]"
    >
      {read.isPending && <Loading lines={9} name="Loading the case" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <>
          <PeekBody found={read.data} />
          <footer className="flex gap-2 border-t border-line p-3">
            {read.data.status === "OPEN" && may("update:case") && (
              <Button look="primary" className="flex-1" onClick={() => onClose(read.data)}>
                Close the case <Kbd>C</Kbd>
              </Button>
            )}
            {read.data.status === "CLOSED" && may("update:case") && (
              <Button className="flex-1" onClick={() => onReopen(read.data)}>
                <RotateCcw size={14} aria-hidden /> Reopen
              </Button>
            )}
            <Button className="flex-1" onClick={onOpen}>
              <Maximize2 size={14} aria-hidden /> Open
              <span className="max-xl:hidden">
                <Kbd>Enter</Kbd>
              </span>
            </Button>
          </footer>
        </>
      )}
    </aside>
  );
}

function PeekBody({ found }: { found: Case }) {
  const { details, current_state: state } = found;
  const [strongest] = evidenceOf(found);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Details"
      className="grid min-h-0 flex-1 grid-cols-1 content-start gap-5 overflow-y-auto p-4 outline-offset-[-2px]"
    >
      <div>
        <div className="flex items-center gap-2 text-base">
          <AccountLink id={found.website_account_id} look="truncate font-medium" />
          <StatusBadge status={found.status} />
        </div>
        <p className="text-xs text-faint">
          Opened <Age at={found.created_at} suffix=" ago" /> · version {found.case_version}
        </p>
        {found.status === "CLOSED" && (
          <p className="mt-2 rounded-md bg-sunken px-2.5 py-1.5 text-soft">
            Closed by <Actor actor={state.changed_by} />
            {state.disposition && ` as ${dispositionWords[state.disposition].toLowerCase()}`}
            {hasOwnReason(state) && `: ${state.reason}`}
          </p>
        )}
      </div>
      <div className="grid gap-2">
        <div className="flex flex-wrap items-center justify-between gap-x-2">
          <Score score={details.overall_risk_score} size="large" />
          <FraudLabel label={details.primary_fraud_label} />
        </div>
        <p className="[overflow-wrap:anywhere]">{details.summary}</p>
        <Advice action={details.recommended_action} />
      </div>
      {strongest && (
        <section aria-label="Score breakdown">
          <h2 className="mb-1.5 text-xs font-semibold text-faint">Score breakdown</h2>
          {strongest.explanation.evidence !== undefined && (
            <p className="mb-1.5 text-soft">Evidence {strongest.explanation.evidence}.</p>
          )}
          <Waterfall occurrence={strongest} />
        </section>
      )}
      <section aria-label="Who">
        <h2 className="mb-1.5 text-xs font-semibold text-faint">Who</h2>
        <AccountCard websiteAccountId={found.website_account_id} />
      </section>
    </div>
  );
}
