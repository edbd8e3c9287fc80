import { eventDeeds, type Event } from "@casehound/client";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Actor } from "../parts/Actor.tsx";
import { ListFoot } from "../parts/ListFoot.tsx";
import { Moment } from "../parts/Time.tsx";

type Events = InfiniteData<{ events: Event[] }>;
type Props = {
  list: UseInfiniteQueryResult<Events>;
  name: string;
  wordsOf: (event: Event) => ReactNode;
  hasVersion?: boolean;
};

// A type that is newer than the console has no words here.
export function deedOf(type: string): string {
  return (eventDeeds as Record<string, string | undefined>)[type] ?? type;
}

// A part of the log, latest first: when, who and what.
export function EventTable({ list, name, wordsOf, hasVersion = false }: Props) {
  if (list.isPending)
    return <div role="status" aria-label={`Loading: ${name}`} className="m-4 h-16 animate-pulse rounded bg-sunken" />;
  const foot = <ListFoot list={list} what={name} more="Show earlier entries" />;
  if (!list.data) return foot;
  const events = list.data.pages.flatMap((page) => page.events);
  if (events.length === 0) return <p className="p-4 text-soft">Nothing was recorded.</p>;
  const columns = ["When", "Who", "What", ...(hasVersion ? ["Version"] : [])];
  return (
    <>
      <div className="overflow-x-auto px-4 py-2">
        <table className="w-full text-left" aria-label={name}>
          <thead>
            <tr className="text-xs text-faint">
              {columns.map((column) => (
                <th key={column} scope="col" className="pr-4 pb-1 font-medium last:pr-0 last:text-right nth-3:text-left">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.event_id} className="border-t border-line align-top">
                <td className="w-44 py-1.5 pr-4 whitespace-nowrap text-soft">
                  <Moment at={event.occurred_at} />
                </td>
                <td className="max-w-64 min-w-28 py-1.5 pr-4">
                  <Actor actor={event.actor} />
                </td>
                <td className="min-w-40 py-1.5 pr-4 [overflow-wrap:anywhere]">{wordsOf(event)}</td>
                {hasVersion && <td className="py-1.5 text-right text-faint">{event.resource.version}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {foot}
    </>
  );
}
