import type { Rule } from "@casehound/client";
import { GitCompareArrows } from "lucide-react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { ageWords } from "../../parts/Time.tsx";
import { Change, memberNames } from "./History.tsx";
import { meetingsOf, type RuleDraft } from "./rule-draft.ts";

type Props = { draft: RuleDraft; now: Rule; onGoOn: () => void; onTheirs: () => void };

// Shown when somebody changed the rule while this person was editing. Nothing was applied, and the draft is kept.
export function RuleConflict({ draft, now, onGoOn, onTheirs }: Props) {
  const meetings = meetingsOf(draft, now);
  const contested = meetings.filter((each) => each.yours !== null);
  return (
    <div role="alert" className="rounded-lg border border-warn/40 bg-warn-soft p-4">
      <p className="flex gap-2 text-warn">
        <GitCompareArrows size={16} className="mt-0.5 shrink-0" aria-hidden />
        <span className="[overflow-wrap:anywhere]">
          <strong className="font-semibold">Changed {ageWords(now.updated_at)} ago</strong> by {nameOfActor(now.updated_by)}:
          version {draft.base.rule_version} to {now.rule_version}. Your draft is kept, but it was not saved.
        </span>
      </p>
      <dl className="mt-3 grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-1 rounded-md bg-surface p-3">
        {meetings.map(({ member, from, to }) => (
          <Change key={member} member={member} from={from} to={to} />
        ))}
      </dl>
      <p className="mt-3">
        If you continue, your draft takes over these changes
        {contested.length > 0
          ? `, except in the fields that you also changed: ${contested.map(({ member }) => memberNames[member].toLowerCase()).join(", ")}.`
          : " and keeps everything you wrote."}
      </p>
      <div className="mt-3 flex flex-wrap justify-end gap-2">
        <Button onClick={onTheirs}>Discard draft</Button>
        <Button look="primary" onClick={onGoOn}>
          Continue with my draft
        </Button>
      </div>
    </div>
  );
}
