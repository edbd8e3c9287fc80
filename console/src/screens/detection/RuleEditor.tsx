import type { Rule, RuleVersion } from "@casehound/client";
import { Save } from "lucide-react";
import { useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button, Kbd } from "../../parts/Button.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { FieldsReference } from "./FieldsReference.tsx";
import { RuleConflict } from "./RuleConflict.tsx";
import { RuleForm, type Areas } from "./RuleForm.tsx";
import { BackToRules, RuleHeader } from "./RuleHeader.tsx";
import { StateMark } from "./StateMark.tsx";
import { TryPanel } from "./TryPanel.tsx";
import { UntriedDialog } from "./UntriedDialog.tsx";
import { saveRuleDraft } from "./rule-draft.ts";
import { isTried, useBacktests, useStartTry } from "./trying.tsx";
import { useRuleDraft, type Drafting } from "./useRuleDraft.ts";

type Props = {
  // Null if the rule does not exist yet.
  rule: Rule | null;
  backtest: string | undefined;
  onBacktest: (id: string) => void;
  // Called with the saved version, or with null if nothing was saved.
  onDone: (found: RuleVersion | null) => void;
};

export function RuleEditor({ rule, backtest, onBacktest, onDone }: Props) {
  const drafting = useRuleDraft(rule, (found) => {
    const kept = found.rule_version === rule?.rule_version ? "is unchanged" : `is saved as version ${found.rule_version}`;
    toast({ kind: "done", words: `${found.name} ${kept}.` });
    onDone(found);
  });
  const { draft, isBusy, conflict } = drafting;
  const inserting = useInserting(drafting);
  const { warning, submit } = useSubmitting({ drafting, rule, onBacktest });

  function discard(): void {
    const thrown = drafting.discard();
    const action = { name: "Undo", run: () => saveRuleDraft(rule?.rule_id ?? null, thrown) };
    if (drafting.isTouched) toast({ kind: "done", words: "Draft discarded.", action });
    onDone(null);
  }

  function press(event: KeyboardEvent): void {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  }

  return (
    <div className="h-full overflow-y-auto" onKeyDown={press}>
      <EditorHeader rule={rule}>
        <Button look="quiet" onClick={discard}>
          {drafting.isTouched ? "Discard draft" : "Cancel"}
        </Button>
        <Button look="primary" onClick={submit} disabled={isBusy || conflict !== null || !drafting.isTouched}>
          <Save size={15} aria-hidden /> Save <Kbd>Ctrl ⏎</Kbd>
        </Button>
      </EditorHeader>
      <div className="mx-auto grid max-w-[88rem] grid-cols-[minmax(0,1fr)_22rem] items-start gap-4 p-5 max-[64rem]:grid-cols-1">
        <div className="grid min-w-0 gap-4">
          {conflict && <RuleConflict draft={draft} now={conflict} onGoOn={drafting.goOn} onTheirs={drafting.takeTheirs} />}
          <RuleForm drafting={drafting} isNew={rule === null} areas={inserting.areas} onTarget={inserting.setTarget} />
          <TryPanel
            draft={draft.wanted}
            ruleId={draft.rule_id}
            backtest={backtest}
            onBacktest={onBacktest}
            onErrors={drafting.setErrors}
          />
        </div>
        <FieldsReference target={inserting.target} onInsert={inserting.insert} />
      </div>
      {warning}
    </div>
  );
}

// Saves, but asks first if that would switch on something that has not been tried.
function useSubmitting({ drafting, rule, onBacktest }: Pick<Props, "rule" | "onBacktest"> & { drafting: Drafting }) {
  const backtests = useBacktests();
  const startTry = useStartTry();
  const [isWarned, setWarned] = useState(false);
  const { draft } = drafting;

  function submit(): void {
    if (drafting.isBusy || drafting.conflict) return;
    const { wanted, base } = draft;
    const isSame = base.state === "on" && base.expression === wanted.expression && base.about === wanted.about;
    if (wanted.state === "on" && !isSame && !isTried(backtests, wanted)) return setWarned(true);
    void drafting.save();
  }

  async function tryFirst(): Promise<void> {
    setWarned(false);
    const started = await startTry(draft.wanted, draft.rule_id);
    if (started.kind === "started") return onBacktest(started.id);
    drafting.setErrors(started.errors);
    toast({ kind: "problem", words: `The backtest did not start: ${started.words}` });
  }

  const warning = isWarned && (
    <UntriedDialog
      name={draft.wanted.name}
      shadowHits={rule?.shadow_hits_7d ?? 0}
      onClose={() => setWarned(false)}
      onTry={() => void tryFirst()}
      onAnyway={() => {
        setWarned(false);
        void drafting.save();
      }}
    />
  );
  return { warning, submit };
}

// Inserts a field name at the caret of the text that had the focus last.
function useInserting({ draft, change }: Drafting) {
  const areas: Areas = { expression: useRef(null), sentence: useRef(null) };
  const [target, setTarget] = useState<keyof Areas>("expression");
  function insert(name: string): void {
    const area = areas[target].current;
    if (!area) return;
    const added = target === "sentence" ? `{${name}}` : name;
    const before = draft.wanted[target].slice(0, area.selectionStart);
    change({ [target]: before + added + draft.wanted[target].slice(area.selectionEnd) });
    // Wait until the text area holds the new text.
    requestAnimationFrame(() => {
      area.focus();
      area.setSelectionRange(before.length + added.length, before.length + added.length);
    });
  }
  return { areas, target, setTarget, insert };
}

function EditorHeader({ rule, children }: { rule: Rule | null; children: ReactNode }) {
  if (rule)
    return (
      <RuleHeader rule={rule} mark={<StateMark state={rule.state} />}>
        {children}
      </RuleHeader>
    );
  return (
    <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
      <div className="mx-auto flex max-w-[85.5rem] items-center gap-4">
        <BackToRules />
        <h1 className="flex-1 text-lg font-semibold">New rule</h1>
        <div className="flex items-center gap-2">{children}</div>
      </div>
    </header>
  );
}
