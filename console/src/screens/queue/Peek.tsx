import type { Case, CaseMembers } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Maximize2, RotateCcw } from "lucide-react";
import { ClaimLine } from "../../claiming/ClaimLine.tsx";
import { HandoverLine } from "../../handing/Handover.tsx";
import { Actor } from "../../parts/Actor.tsx";
import { FraudLabel, StatusBadge, hasOwnReason, outcomeInSentence } from "../../parts/Badges.tsx";
import { Button, Kbd } from "../../parts/Button.tsx";
import { DueMark } from "../../parts/Due.tsx";
import { RandomCheckMark, isRandomCheck } from "../../parts/RandomCheck.tsx";
import { Score } from "../../parts/Score.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { accountsIn, memberWords, subjectName } from "../../parts/subject.ts";
import { AccountLink } from "../account/AccountLink.tsx";
import { evidenceOf } from "../case/parts.ts";
import { memberCounts } from "../case/Members.tsx";
import { RandomCheckWords } from "../case/RandomCheck.tsx";
import { ScoreFacts } from "../case/ScoreFacts.tsx";
import { Waterfall } from "../case/Waterfall.tsx";
import { AccountCard } from "../case/Who.tsx";
import { Advice } from "../case/Advice.tsx";

type Props = {
  caseId: string;
  // How many rows are selected. Then the keys close those, and not the case in the pane.
  selected: number;
  onOpen: () => void;
  onClose: (seen: Case) => void;
  onReopen: (closed: Case) => void;
  onHandOver: () => void;
};

// Shows enough of the focused case to decide an easy one without leaving the list. On a narrow screen it is below the list.
export function Peek({ caseId, selected, onOpen, onClose, onReopen, onHandOver }: Props) {
  const { queries, may } = useWorkspace();
  const read = useQuery(queries.case(caseId));
  return (
    <aside
      aria-label="The case in focus"
      className="flex w-[22rem] shrink-0 flex-col border-l border-line bg-surface min-[110rem]:w-[28rem] max-[85rem]:w-[18.5rem] max-lg:h-2/5 max-lg:w-full short:h-auto max-lg:border-t max-lg:border-l-0"
    >
      <div role="status">
        {selected > 0 && (
          <p className="border-b border-line bg-accent-soft px-4 py-2 text-accent">
            {casesWords(selected)} selected. <Kbd>C</Kbd> <Kbd>1</Kbd> <Kbd>2</Kbd> <Kbd>3</Kbd> close{" "}
            {selected === 1 ? "it" : "all of them"}, <Kbd>Esc</Kbd> clears the selection.
          </p>
        )}
      </div>
      {read.isPending && <Loading lines={9} name="Loading the case" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <>
          <PeekBody found={read.data} onHandOver={onHandOver} />
          <footer className="flex gap-2 border-t border-line p-3">
            {selected === 0 && read.data.status === "OPEN" && may("update:case") && (
              <Button look="primary" className="flex-1" onClick={() => onClose(read.data)}>
                Close the case <Kbd>C</Kbd>
              </Button>
            )}
            {selected === 0 && read.data.status === "CLOSED" && may("update:case") && (
              <Button className="flex-1" onClick={() => onReopen(read.data)}>
                <RotateCcw size={14} aria-hidden /> Reopen
              </Button>
            )}
            <Button className="flex-1" onClick={onOpen}>
              <Maximize2 size={14} aria-hidden /> Open
              <span className="max-[85rem]:hidden">
                <Kbd>Enter</Kbd>
              </span>
            </Button>
          </footer>
        </>
      )}
    </aside>
  );
}

function PeekBody({ found, onHandOver }: { found: Case; onHandOver: () => void }) {
  const { details, current_state: state } = found;
  const [strongest] = evidenceOf(found);
  const isCheck = isRandomCheck(details);
  return (
    <div
      tabIndex={0}
      role="region"
      aria-label="Details"
      className="grid min-h-0 flex-1 grid-cols-1 content-start gap-5 short:hidden overflow-y-auto p-4 outline-offset-[-2px]"
    >
      <div>
        <div className="flex items-center gap-2 text-base">
          {found.details.subject ? (
            <span className="truncate font-medium">
              <bdi>{subjectName(found.website_account_id, found.details.subject)}</bdi>
            </span>
          ) : (
            <AccountLink id={found.website_account_id} look="truncate font-medium" />
          )}
          <StatusBadge status={found.status} />
          <DueMark at={found.due_at} status={found.status} />
        </div>
        <p className="text-xs text-faint">
          Opened <Age at={found.created_at} suffix=" ago" /> · version {found.case_version}
        </p>
        <div className="flex flex-wrap gap-x-2">
          <ClaimLine key={found.case_id} found={found} isShort />
          <HandoverLine found={found} onHandOver={onHandOver} />
        </div>
        {found.status === "CLOSED" && <ClosedNote state={state} />}
      </div>
      <div className="grid gap-2">
        <div className="flex flex-wrap items-center justify-between gap-x-2">
          <Score score={details.overall_risk_score} size="large" />
          {isCheck ? <RandomCheckMark /> : <FraudLabel label={details.primary_fraud_label} />}
        </div>
        <ScoreFacts found={found} />
        {isCheck ? <RandomCheckWords /> : <p className="[overflow-wrap:anywhere]">{visible(details.summary)}</p>}
        {!isCheck && <Advice action={details.recommended_action} />}
      </div>
      {strongest && !isCheck && (
        <section aria-label="Score breakdown">
          <h2 className="mb-1.5 text-xs font-semibold text-faint">Score breakdown</h2>
          {strongest.explanation.evidence !== undefined && (
            <p className="mb-1.5 text-soft">Evidence {strongest.explanation.evidence}.</p>
          )}
          <Waterfall occurrence={strongest} caseId={found.case_id} />
        </section>
      )}
      {details.members ? (
        <section aria-label="Accounts">
          <h2 className="mb-1.5 text-xs font-semibold text-faint">Accounts</h2>
          <PeekMembers members={details.members} />
        </section>
      ) : (
        <section aria-label="Who">
          <h2 className="mb-1.5 text-xs font-semibold text-faint">Who</h2>
          <AccountCard websiteAccountId={found.website_account_id} />
        </section>
      )}
    </div>
  );
}

function ClosedNote({ state }: { state: Case["current_state"] }) {
  const { changed_at, changed_by, reason } = state;
  const outcome = outcomeInSentence(state);
  return (
    <p className="mt-2 rounded-md bg-sunken px-2.5 py-1.5 text-soft">
      Closed <Age at={changed_at} suffix=" ago" /> by <Actor actor={changed_by} />
      {outcome !== undefined && ` as ${outcome}`}
      {hasOwnReason(state) ? `: ${reason}` : "."}{" "}
      <Link to="/" search={{ status: "closed", closer: changed_by, sort: "changed" }} className="text-accent underline">
        Show all cases they closed
      </Link>
    </p>
  );
}

const membersShown = 5;

// The accounts of an attack. Entered accounts come first.
function PeekMembers({ members }: { members: CaseMembers }) {
  const shown = members.first.slice(0, membersShown);
  return (
    <>
      <p className="mb-1 text-soft">{memberCounts(members)}</p>
      <ul>
        {shown.map(({ website_account_id: id, state }) => (
          <li key={id} className="flex items-baseline gap-2 border-t border-line py-1">
            <span className="min-w-0 flex-1 truncate">
              <AccountLink id={id} />
            </span>
            <span className={state === "entered" ? "font-medium" : "text-soft"}>{memberWords[state]}</span>
          </li>
        ))}
      </ul>
      {members.count > shown.length && <p className="text-xs text-faint">The case lists all {accountsIn(members.count)}.</p>}
    </>
  );
}

function casesWords(count: number): string {
  return count === 1 ? "1 case is" : `${count} cases are`;
}
