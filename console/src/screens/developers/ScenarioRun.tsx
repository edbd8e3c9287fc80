import type { CaseListItem } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight, CircleCheck, LoaderCircle } from "lucide-react";
import { FraudLabel, actionWords } from "../../parts/Badges.tsx";
import { CaseName } from "../../parts/CaseName.tsx";
import { CopyBlock } from "../../parts/Copy.tsx";
import { Score } from "../../parts/Score.tsx";
import { Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { readScenario } from "./reads.ts";
import { activitiesOf, scenarios, suspectOf, type ScenarioId } from "./scenarios.ts";

// What was sent, and its progress so far.
export function ScenarioRun({ id, run }: { id: ScenarioId; run: string }) {
  const { client, may } = useWorkspace();
  const suspect = suspectOf(run);
  const sent = activitiesOf(id, run);
  const { opensCase } = scenarios[id];
  const accounts = sent.map((each) => each.website_account_id ?? "");
  const expected = accounts.filter((each) => each === suspect).length;
  const others = [...new Set(accounts)].filter((each) => each !== suspect);
  const isAllowed = may("read:cases") && may("read:enduseraccount");
  const read = useQuery({ ...readScenario(client, { suspect, others, expected, opensCase }), enabled: isAllowed });
  const found = read.data?.found ?? null;
  const isScored = (read.data?.scored ?? 0) >= expected;
  return (
    <div className="grid gap-3 rounded-md border border-line bg-canvas p-3">
      <div role="status" aria-label="Scenario result" className="text-sm">
        {read.isError ? (
          <Trouble error={read.error} onRetry={() => void read.refetch()} />
        ) : found ? (
          <Found found={found} />
        ) : isScored && !opensCase ? (
          <p className="flex items-center gap-2 text-good">
            <CircleCheck size={16} aria-hidden /> Scored. No case was opened, as expected.
          </p>
        ) : (
          <Waiting isScored={isScored} />
        )}
      </div>
      <details className="text-sm">
        <summary className="w-fit text-soft hover:text-ink">
          {sent.length === 1 ? "What was sent: 1 event" : `What was sent: ${sent.length} events`}, POST /activities
        </summary>
        <div className="mt-2">
          <CopyBlock name="what was sent" text={JSON.stringify({ activities: sent }, null, 2)} />
        </div>
      </details>
    </div>
  );
}

function Waiting({ isScored }: { isScored: boolean }) {
  return (
    <p className="flex items-center gap-2 text-soft">
      <LoaderCircle size={16} className="animate-spin" aria-hidden />
      {isScored ? "Scored. No case yet. Are the rules for this scenario switched on?" : "Accepted. It is being scored…"}
    </p>
  );
}

function Found({ found }: { found: CaseListItem }) {
  return (
    <Link
      to="/cases/$caseId"
      params={{ caseId: found.case_id }}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-md border border-line bg-surface px-3 py-2 hover:bg-hover"
    >
      <Score score={found.overall_risk_score} />
      <FraudLabel label={found.primary_fraud_label} />
      <span className="text-soft">{actionWords[found.recommended_action]}</span>
      <CaseName row={found} className="min-w-0 flex-1 truncate text-soft" />
      <span className="inline-flex items-center gap-1 font-medium text-accent">
        Open the case <ArrowRight size={14} aria-hidden />
      </span>
    </Link>
  );
}
