import { ProblemError, unknownAccount, type Case } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, Link2, Printer, RotateCcw } from "lucide-react";
import { useCallback, useRef, type ReactNode } from "react";
import { WaitingLine } from "../../approving/WaitingLine.tsx";
import { ClaimLine } from "../../claiming/ClaimLine.tsx";
import { useClosing } from "../../closing/useClosing.tsx";
import { HandoverLine } from "../../handing/Handover.tsx";
import { useHandover } from "../../handing/useHandover.tsx";
import { useBack } from "../../keys/back.ts";
import { useKeys } from "../../keys/keys.ts";
import { Notes } from "../../notes/Notes.tsx";
import { FlagMarks, StatusBadge, outcomeName } from "../../parts/Badges.tsx";
import { Button, IconButton, Kbd } from "../../parts/Button.tsx";
import { DueMark } from "../../parts/Due.tsx";
import { copyAddress } from "../../parts/Copy.tsx";
import { RandomCheckMark, isRandomCheck } from "../../parts/RandomCheck.tsx";
import { Score } from "../../parts/Score.tsx";
import { subjectName } from "../../parts/subject.ts";
import { Empty, Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Disposition } from "../../changes/desk.ts";
import { AccountLink } from "../account/AccountLink.tsx";
import { AuditTrail } from "./AuditTrail.tsx";
import { Members } from "./Members.tsx";
import { Printed } from "./Printed.tsx";
import { RandomCheckWhy } from "./RandomCheck.tsx";
import { SaveFile } from "./SaveFile.tsx";
import { ScoreFacts } from "./ScoreFacts.tsx";
import { Section } from "./Section.tsx";
import { StateHistory } from "./StateHistory.tsx";
import { WhatHappened } from "./WhatHappened.tsx";
import { AccountCard } from "./Who.tsx";
import { Why } from "./Why.tsx";
import { useListing } from "../lists/useListing.tsx";
import { useCaseKeys } from "./actions.ts";
import { useRound } from "./round.ts";

export function CaseScreen() {
  const { caseId } = useParams({ from: "/inside/cases/$caseId" });
  const { queries } = useWorkspace();
  const read = useQuery(queries.case(caseId));
  if (read.isPending) return <Loading lines={12} name="Loading the case" />;
  if (read.isLoadingError) {
    const isAbsent = read.error instanceof ProblemError && read.error.status === 404;
    if (isAbsent)
      return (
        <Empty isScreen title="Case not found">
          <p>It may belong to another tenant, or the address may be incomplete.</p>
          <Link to="/" className="mt-3 inline-block text-accent underline">
            Go to the queue
          </Link>
        </Empty>
      );
    return <Trouble isScreen error={read.error} onRetry={() => void read.refetch()} />;
  }
  return <CaseView key={caseId} found={read.data} stale={<Stale read={read} />} />;
}

function CaseView({ found, stale }: { found: Case; stale: ReactNode }) {
  const back = useBack();
  const { may } = useWorkspace();
  const closing = useClosing(useRound(found));
  const closingRef = useRef(closing);
  closingRef.current = closing;
  const onClose = useCallback((first?: Disposition) => closingRef.current.open(found, first), [found]);
  const onUndo = useCallback(() => closingRef.current.undo(), []);
  const handing = useHandover();
  useKeys(useCaseKeys({ found, onClose, onHandOver: handing.open, onUndo }));
  const listing = useListing(found);
  const mayChange = may("update:case");
  return (
    <div className="on-paper h-full overflow-y-auto">
      <Header found={found} onBack={back} onHandOver={() => handing.open(found.case_id)}>
        {listing.isAllowed && (
          <Button onClick={listing.open}>
            Add to a list <Kbd>L</Kbd>
          </Button>
        )}
        {mayChange && found.status === "OPEN" && (
          <Button look="primary" onClick={() => onClose()}>
            Close the case <Kbd>C</Kbd>
          </Button>
        )}
        {mayChange && found.status === "CLOSED" && (
          <Button onClick={() => closing.reopen(found)}>
            <RotateCcw size={14} aria-hidden /> Reopen
          </Button>
        )}
      </Header>
      {stale}
      <div className="mx-auto grid max-w-[88rem] grid-cols-[minmax(0,1fr)_22rem] items-start gap-4 p-5 max-[70rem]:grid-cols-1">
        <div className="grid min-w-0 grid-cols-1 gap-4">
          {isRandomCheck(found.details) ? <RandomCheckWhy /> : <Why found={found} />}
          <WhatHappened found={found} />
          <StateHistory found={found} />
          <AuditTrail caseId={found.case_id} />
        </div>
        <div className="grid min-w-0 gap-4">
          {found.details.members ? (
            <Members found={found} />
          ) : (
            <Section title="Who">
              <AccountCard websiteAccountId={found.website_account_id} />
            </Section>
          )}
          <Notes found={found} />
        </div>
      </div>
      <Printed />
      {closing.element}
      {handing.element}
      {listing.element}
    </div>
  );
}

// Repeats the flags near the title, because the switches may be far below.
function AccountFlags({ websiteAccountId }: { websiteAccountId: string }) {
  const { queries, may } = useWorkspace();
  const isAllowed = websiteAccountId !== unknownAccount && may("read:enduseraccount");
  const { data: account } = useQuery({ ...queries.account(websiteAccountId), enabled: isAllowed });
  if (!account) return null;
  return (
    <span className="flex gap-1 empty:hidden">
      <FlagMarks flags={account} />
    </span>
  );
}

type HeaderProps = { found: Case; onBack: () => void; onHandOver: () => void; children: ReactNode };

function Header({ found, onBack, onHandOver, children }: HeaderProps) {
  const { case_version, status, created_at, details, current_state: state, state_history: history } = found;
  const first = history[0]?.score ?? state.score;
  return (
    <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3 max-md:static">
      <div className="mx-auto flex max-w-[85.5rem] flex-wrap items-center gap-x-4 gap-y-2">
        <IconButton name="Back" onClick={onBack} className="no-print -ml-1">
          <ArrowLeft size={17} aria-hidden />
        </IconButton>
        <div className="min-w-48 flex-1">
          <div className="flex flex-wrap items-center gap-x-3">
            <h1 className="truncate text-lg font-semibold">
              {found.details.subject ? (
                <bdi>{subjectName(found.website_account_id, found.details.subject)}</bdi>
              ) : (
                <AccountLink id={found.website_account_id} look="" />
              )}
            </h1>
            <AccountFlags websiteAccountId={found.website_account_id} />
            <StatusBadge status={status} />
            <DueMark at={found.due_at} status={status} />
            {isRandomCheck(details) && <RandomCheckMark />}
            {state.disposition && <span className="text-soft">{outcomeName(state)}</span>}
          </div>
          <p className="truncate text-xs text-faint" title={found.case_id}>
            Opened <Age at={created_at} suffix=" ago" /> · version {case_version} · {found.case_id}
          </p>
        </div>
        <div>
          <div className="flex flex-wrap items-center gap-x-3">
            <Score score={details.overall_risk_score} size="large" />
            {first !== details.overall_risk_score && (
              <span className="text-xs whitespace-nowrap text-faint">{first} when it was opened</span>
            )}
          </div>
          <ScoreFacts found={found} />
        </div>
        <div className="no-print flex flex-wrap items-center gap-1">
          <IconButton name="Copy the link to this case" onClick={() => void copyAddress("case")}>
            <Link2 size={16} aria-hidden />
          </IconButton>
          <IconButton name="Print" onClick={() => window.print()}>
            <Printer size={16} aria-hidden />
          </IconButton>
          <SaveFile found={found} />
          {children}
        </div>
        <div className="flex basis-full flex-wrap gap-x-3 pl-11 empty:hidden max-md:pl-0">
          <ClaimLine found={found} />
          <HandoverLine found={found} onHandOver={onHandOver} />
          {status === "OPEN" && <WaitingLine caseId={found.case_id} />}
        </div>
      </div>
    </header>
  );
}
