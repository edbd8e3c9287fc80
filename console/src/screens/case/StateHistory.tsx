import type { Case, CaseState } from "@casehound/client";
import { Actor } from "../../parts/Actor.tsx";
import { StatusBadge, outcomeName } from "../../parts/Badges.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Score } from "../../parts/Score.tsx";
import { Moment } from "../../parts/Time.tsx";
import { Section } from "./Section.tsx";

// Every state of the case, latest first: who changed it, when and why.
export function StateHistory({ found }: { found: Case }) {
  const states: CaseState[] = [...found.state_history, found.current_state].toReversed();
  return (
    <Section title="States" aside={<span className="text-faint">{states.length}</span>}>
      <div className="overflow-x-auto">
        <table className="w-full text-left">
          <ColumnNames names={["When", "Status", "Score", "By", "Why"]} />
          <tbody>
            {states.map((state) => (
              <tr key={state.state_id} className="border-t border-line align-top">
                <td className="py-2 pr-4 whitespace-nowrap text-soft">
                  <Moment at={state.changed_at} />
                </td>
                <td className="py-2 pr-4">
                  <StatusBadge status={state.case_status} />
                </td>
                <td className="py-2 pr-4">
                  <Score score={state.score} />
                </td>
                <td className="max-w-48 min-w-20 py-2 pr-4 [overflow-wrap:anywhere]">
                  <Actor actor={state.changed_by} />
                  {state.approved_by !== undefined && (
                    <p className="text-soft">
                      approved by <Actor actor={state.approved_by} />
                    </p>
                  )}
                </td>
                <td className="py-2 [overflow-wrap:anywhere]">
                  {state.disposition && <strong className="font-semibold">{outcomeName(state)}. </strong>}
                  {state.reason}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
