import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AccountLink } from "../account/AccountLink.tsx";
import { figure, shareWords } from "./Outcomes.tsx";
import { useDetection } from "./queries.ts";

// Who was hit. A hit without an account is shown as plain text, not as a link.
export function Hit({ account, otherwise }: { account: string | undefined; otherwise: string }) {
  if (account === undefined) return <span className="font-mono text-xs text-soft">{otherwise}</span>;
  return <AccountLink id={account} />;
}

const shownMax = 6;

type Props = { title: string; unit: string; of: number; rows: { rule_id: string; count: number }[]; own?: string };

// `own` is the rule being tried. Its row shows what the rule hit as it was then.
export function OverlapTable({ title, unit, of, rows, own }: Props) {
  const { data: rules = [] } = useQuery(useDetection().rules);
  if (rows.length === 0) return <p className="text-soft">No overlap with other rules.</p>;
  const more = rows.length - shownMax;
  const nameOf = (id: string) => rules.find((rule) => rule.rule_id === id)?.name ?? id;
  return (
    <table className="w-full max-w-2xl text-left">
      <caption className="pb-1 text-left text-xs font-semibold text-soft">{title}</caption>
      <thead>
        <tr className="text-xs text-faint">
          <th scope="col" className="pr-4 pb-1 font-medium">
            Rule
          </th>
          <th scope="col" className="w-24 pr-4 pb-1 text-right font-medium max-sm:w-16">
            {unit}
          </th>
          <th scope="col" className="w-24 pb-1 text-right font-medium max-sm:w-14">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {rows
          .toSorted((a, b) => b.count - a.count)
          .slice(0, shownMax)
          .map(({ rule_id: id, count }) => (
            <tr key={id} className="border-t border-line">
              <td className="py-1 pr-4 [overflow-wrap:anywhere]">
                <Link to="/detection/$ruleId" params={{ ruleId: id }} className="hover:text-accent hover:underline">
                  {nameOf(id)}
                </Link>
                {id === own && <span className="text-xs text-faint"> (this rule, as it was then)</span>}
              </td>
              <td className="py-1 pr-4 text-right">{figure.format(count)}</td>
              <td className="py-1 text-right text-soft">{of > 0 ? shareWords(Math.min(1, count / of)) : ""}</td>
            </tr>
          ))}
      </tbody>
      {more > 0 && (
        <tfoot>
          <tr className="border-t border-line text-xs text-soft">
            <td colSpan={3} className="py-1">
              and {more} more with less overlap
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
