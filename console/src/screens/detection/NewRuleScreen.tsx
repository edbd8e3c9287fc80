import { useNavigate, useSearch } from "@tanstack/react-router";
import { Allowed } from "./DetectionScreen.tsx";
import { RuleEditor } from "./RuleEditor.tsx";

export function NewRuleScreen() {
  const { backtest } = useSearch({ from: "/inside/detection/new-rule" });
  const navigate = useNavigate();
  return (
    <Allowed scope="manage:rules">
      <RuleEditor
        rule={null}
        backtest={backtest}
        onBacktest={(id) => void navigate({ to: "/detection/new-rule", search: { backtest: id }, replace: true })}
        onDone={(found) =>
          void (found
            ? navigate({ to: "/detection/$ruleId", params: { ruleId: found.rule_id }, search: { ...(backtest && { backtest }) } })
            : navigate({ to: "/detection" }))
        }
      />
    </Allowed>
  );
}
