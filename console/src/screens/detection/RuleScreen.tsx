import { ProblemError, type Rule } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Pencil } from "lucide-react";
import { useMemo } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { Button, Kbd } from "../../parts/Button.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Definition } from "./Definition.tsx";
import { Allowed } from "./DetectionScreen.tsx";
import { History } from "./History.tsx";
import { Report } from "./Report.tsx";
import { RuleEditor } from "./RuleEditor.tsx";
import { RuleHeader } from "./RuleHeader.tsx";
import { LimitedMark, StateMark, StateMenu } from "./StateMark.tsx";
import { TryPanel } from "./TryPanel.tsx";
import type { RuleSearch } from "./address.ts";
import { useDetection } from "./queries.ts";
import { isTouched, readRuleDraft } from "./rule-draft.ts";
import { useSwitching } from "./useSwitching.tsx";

export function RuleScreen() {
  const { ruleId } = useParams({ from: "/inside/detection/$ruleId" });
  return (
    <Allowed scope="read:rules">
      <RuleReader key={ruleId} ruleId={ruleId} />
    </Allowed>
  );
}

function RuleReader({ ruleId }: { ruleId: string }) {
  const { edit, ...search } = useSearch({ from: "/inside/detection/$ruleId" });
  const { may } = useWorkspace();
  const read = useQuery(useDetection().rule(ruleId));
  const navigate = useNavigate();
  if (read.isPending) return <Loading lines={12} name="Loading the rule" />;
  if (read.isLoadingError) {
    const isAbsent = read.error instanceof ProblemError && read.error.status === 404;
    if (isAbsent) return <Empty title="Rule not found">Rules are never deleted, so the address may be incomplete.</Empty>;
    return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  }
  const go = (next: RuleSearch, replace = true) =>
    void navigate({ to: "/detection/$ruleId", params: { ruleId }, search: next, replace });
  if (edit && may("manage:rules"))
    return (
      <RuleEditor
        rule={read.data}
        backtest={search.backtest}
        onBacktest={(backtest) => go({ ...search, edit, backtest })}
        onDone={() => go(search)}
      />
    );
  return <RulePage rule={read.data} search={search} go={go} />;
}

type PageProps = { rule: Rule; search: Omit<RuleSearch, "edit">; go: (next: RuleSearch, replace?: boolean) => void };

function RulePage({ rule, search, go }: PageProps) {
  const { may } = useWorkspace();
  const { element, isBusy, switchTo } = useSwitching();
  const navigate = useNavigate();
  const mayManage = may("manage:rules");
  const keys = useMemo<Binding[]>(() => {
    const edit = () =>
      void navigate({
        from: "/detection/$ruleId",
        to: "/detection/$ruleId",
        params: { ruleId: rule.rule_id },
        search: (known) => ({ ...known, edit: true }),
      });
    return [
      { key: "e", name: "Edit the rule", group: "This screen", isOff: !mayManage, run: edit },
      {
        key: "Escape",
        shown: "Esc",
        name: "Back to the rules",
        group: "This screen",
        run: () => void navigate({ to: "/detection" }),
      },
    ];
  }, [mayManage, navigate, rule.rule_id]);
  useKeys(keys);
  const draft = readRuleDraft(rule.rule_id);
  const hasDraft = draft !== null && isTouched(draft);
  return (
    <div className="h-full overflow-y-auto">
      <RuleHeader
        rule={rule}
        mark={
          <>
            {mayManage ? (
              <StateMenu rule={rule} isBusy={isBusy} onSwitch={(to) => switchTo(rule, to)} />
            ) : (
              <StateMark state={rule.state} />
            )}
            <LimitedMark until={rule.limited_until} />
          </>
        }
      >
        {mayManage && (
          <Button onClick={() => go({ ...search, edit: true }, false)}>
            <Pencil size={14} aria-hidden /> {hasDraft ? "Continue your draft" : "Edit"} <Kbd>E</Kbd>
          </Button>
        )}
      </RuleHeader>
      <div className="mx-auto grid max-w-[88rem] items-start gap-4 p-5">
        <Definition rule={rule} />
        <TryPanel
          draft={rule}
          ruleId={rule.rule_id}
          backtest={search.backtest}
          onBacktest={(backtest) => go({ ...search, backtest })}
        />
        <Report rule={rule} days={search.days ?? 7} onDays={(days) => go({ ...search, days })} />
        <History rule={rule} />
      </div>
      {element}
    </div>
  );
}
