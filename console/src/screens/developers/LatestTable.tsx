import type { ScoredActivity } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import { Globe, Server } from "lucide-react";
import { timeOfDay } from "../../parts/clock.ts";
import { Score } from "../../parts/Score.tsx";
import { AccountLink } from "../account/AccountLink.tsx";

const shown = 8;

export function LatestTable({ activities }: { activities: ScoredActivity[] }) {
  if (activities.length === 0)
    return (
      <p className="text-sm text-soft">
        Add the web snippet to your pages and list their origin below it, send activity from your servers, or try a scenario.
        Events appear here within seconds.
      </p>
    );
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="The last events">
      <table className="w-full min-w-[36rem] table-fixed text-left text-sm">
        <caption className="pb-1 text-left text-xs text-faint">
          {activities.length > shown ? `The last ${shown} events` : "The last events"} that came in, newest first
        </caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            <th className="w-28 py-1.5 pr-3 font-medium">Received</th>
            <th className="w-24 py-1.5 pr-3 font-medium">From</th>
            <th className="w-44 py-1.5 pr-3 font-medium">Event</th>
            <th className="py-1.5 pr-3 font-medium">Account</th>
            <th className="w-24 py-1.5 font-medium">Risk</th>
          </tr>
        </thead>
        <tbody>
          {activities.slice(0, shown).map((each) => (
            <Row key={`${each.origin} ${each.activity_id}`} activity={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ activity }: { activity: ScoredActivity }) {
  const { received_at, origin, type, website_account_id: account, case_id, score, page_title, page_url } = activity;
  const Icon = origin === "browser" ? Globe : Server;
  return (
    <tr className="border-b border-line last:border-0">
      <td className="py-1.5 pr-3 whitespace-nowrap text-soft">
        <time dateTime={received_at}>{timeOfDay.format(new Date(received_at))}</time>
      </td>
      <td className="py-1.5 pr-3">
        <span className="inline-flex items-center gap-1.5 text-soft">
          <Icon size={14} aria-hidden /> {origin === "browser" ? "Browser" : "Server"}
        </span>
      </td>
      <td className="truncate py-1.5 pr-3 font-mono text-xs" title={page_title ?? page_url ?? type}>
        {type}
      </td>
      <td className="truncate py-1.5 pr-3" title={account}>
        {account === undefined ? <span className="text-faint">none</span> : <AccountLink id={account} />}
      </td>
      <td className="py-1.5">
        {case_id === undefined ? (
          <Score score={score} />
        ) : (
          <Link to="/cases/$caseId" params={{ caseId: case_id }} className="underline">
            <Score score={score} />
          </Link>
        )}
      </td>
    </tr>
  );
}
