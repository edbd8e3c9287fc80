import type { Approval } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { flagFacts, flagNames, outcomeName } from "../../parts/Badges.tsx";
import { accountName } from "../../parts/account-name.ts";
import { subjectName } from "../../parts/subject.ts";
import { Moment } from "../../parts/Time.tsx";

// What an approval would apply, and to which cases.
export function Applied({ found }: { found: Approval }) {
  const { closing, cases, website_account_id: account } = found;
  const { disposition, reason, snooze, members, list_entries: entries, occurrence_ids: occurrences } = closing;
  return (
    <section aria-label="What would be applied" className="grid gap-3">
      <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-3 gap-y-1 text-sm max-sm:grid-cols-1">
        {account !== undefined && <Fact name="Account">{accountName(account)}</Fact>}
        {disposition !== undefined && <Fact name="Outcome">{outcomeName({ ...closing, disposition })}</Fact>}
        {reason !== undefined && <Fact name="Reason">{reason}</Fact>}
        {flagNames.map((flag) => {
          const value = closing.account?.[flag];
          return value === undefined ? null : (
            <Fact key={flag} name={flagFacts[flag].name}>
              {value ? "yes" : "no"}
            </Fact>
          );
        })}
        {entries?.map(({ list, value, expires_at, reason: why }) => (
          <Fact key={`${list} ${value}`} name="Add to a list">
            <bdi>{value}</bdi> to {list}
            {expires_at !== undefined && (
              <>
                , until <Moment at={expires_at} />
              </>
            )}
            {why !== undefined && (
              <>
                : <bdi>{why}</bdi>
              </>
            )}
          </Fact>
        ))}
        {snooze && (
          <Fact name="Snooze the rules">
            {snooze.days} days, by {snooze.scope}
          </Fact>
        )}
        {members && <Fact name="Members">The open cases of this attack are closed too</Fact>}
        {occurrences && <Fact name="Evidence">The outcome applies to {occurrences.length} pieces of evidence</Fact>}
      </dl>
      {cases.length > 0 && (
        <ul aria-label="Cases" tabIndex={0} className="max-h-60 overflow-y-auto rounded-md border border-line text-sm">
          {cases.map((each) => (
            <li
              key={each.case_id}
              className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-3 py-1.5 last:border-0"
            >
              <Link
                to="/cases/$caseId"
                params={{ caseId: each.case_id }}
                className="font-medium [overflow-wrap:anywhere] hover:underline"
              >
                <bdi>{subjectName(each.website_account_id, each.subject)}</bdi>
              </Link>
              <span className="text-soft">
                score {each.overall_risk_score}, {each.primary_fraud_label}, version {each.case_version}
              </span>
              {found.status !== "APPROVED" && each.current_version !== each.case_version && (
                <span className="text-warn">
                  {each.status === "CLOSED" ? "Closed since" : "Changed since"}: now version {each.current_version}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
