import type { PolicyTrial } from "@casehound/client";
import { Moment } from "../../parts/Time.tsx";
import { Section } from "../case/Section.tsx";
import { trialWords } from "./words.ts";

// Shows what the draft would have done, compared with the saved policy.
export function Trial({ of: { from, tried, current } }: { of: PolicyTrial }) {
  const shown = tried.moments.flatMap((each, index) => (each.all.activities > 0 ? [{ each, now: current.moments[index] }] : []));
  const aside = (
    <span className="text-xs text-faint">
      activity that your servers sent since <Moment at={from} />
    </span>
  );
  return (
    <Section title="Results for the last 30 days" aside={aside}>
      {shown.length === 0 && <p className="text-soft">Your servers sent no activity in this time.</p>}
      <ul aria-label="What the policy would have done" className="grid gap-2">
        {shown.map(({ each, now }) => (
          <li key={each.moment}>
            {trialWords(each)}
            {now && (
              <span className="block text-xs text-faint">
                With the saved policy: {now.challenged.activities.toLocaleString()} challenged,{" "}
                {now.blocked.activities.toLocaleString()} blocked.
              </span>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}
