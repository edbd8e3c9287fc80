import type { Case, CaseMember, CaseMembers } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { memberWords } from "../../parts/subject.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { AccountLink } from "../account/AccountLink.tsx";
import { Section } from "./Section.tsx";

const count = new Intl.NumberFormat();

// The accounts of an attack. The attack tried, entered or created them, so the section does not present them as suspects.
export function Members({ found }: { found: Case }) {
  const { queries } = useWorkspace();
  const { members } = found.details;
  const list = useInfiniteQuery({ ...queries.members(found.case_id), enabled: members !== undefined });
  if (!members) return null;
  const shown: Pick<CaseMember, "website_account_id" | "state" | "case_id" | "case_status">[] =
    list.data?.pages.flatMap((page) => page.members) ?? members.first;
  return (
    <Section title="Accounts" aside={<span className="text-sm text-soft tabular-nums">{count.format(members.count)}</span>}>
      <p className="mb-2 text-soft">{memberCounts(members)}</p>
      <ul aria-label="Accounts of this attack" tabIndex={0} className="max-h-96 overflow-y-auto print:max-h-none">
        {shown.map(({ website_account_id: account, state, case_id, case_status }) => (
          <li key={account} className="flex items-baseline gap-2 border-t border-line py-1">
            <span className="min-w-0 flex-1 truncate">
              <AccountLink id={account} />
            </span>
            <span className={state === "entered" ? "font-medium text-ink" : "text-soft"}>{memberWords[state]}</span>
            {case_id !== undefined && (
              <Link to="/cases/$caseId" params={{ caseId: case_id }} className="text-accent hover:underline">
                {case_status === "OPEN" ? "Open case" : "Closed case"}
              </Link>
            )}
          </li>
        ))}
      </ul>
      <ListFoot list={list} what="The accounts" more="Show more accounts" />
    </Section>
  );
}

// Leaves out states that no account is in.
export function memberCounts({ count: all, entered, created }: CaseMembers): string {
  const counts = [
    [entered, "entered"],
    [created, "created"],
    [all - entered - created, "attacked"],
  ] as const;
  return counts.flatMap(([number, state]) => (number === 0 ? [] : [`${count.format(number)} ${state}`])).join(" · ");
}

// Shown in an account's case that an attack opened.
export function PartOfAttack({ found }: { found: Case }) {
  const { campaign_case_id: caseId } = found.details;
  if (caseId === undefined) return null;
  return (
    <p className="mt-3 text-soft">
      This case belongs to an attack on many accounts:{" "}
      <Link to="/cases/$caseId" params={{ caseId }} className="text-accent hover:underline">
        Show the attack's case
      </Link>
    </p>
  );
}
