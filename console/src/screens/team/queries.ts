import type { PersonDay } from "@casehound/client";
import { queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "../../data/client.ts";

const freshMs = 60_000;
const dayMs = 24 * 3_600_000;
const pagesMax = 10;

export type Period = { start_date: string; end_date: string };

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

// Whole days in UTC. The last one is today.
export function periodOf(days: number): Period {
  const tomorrow = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
  return { start_date: dayOf(tomorrow - days * dayMs), end_date: dayOf(tomorrow) };
}

export function teamQueriesOf(client: ConsoleClient) {
  return {
    people: (query: Period) =>
      queryOptions({
        queryKey: ["figures", "people", query],
        queryFn: async ({ signal }) => (await client.call("listPersonFigures", { query, signal })).people,
        staleTime: freshMs,
      }),
    days: (query: Period) =>
      queryOptions({
        queryKey: ["figures", "days", query],
        queryFn: async ({ signal }) => {
          const all: PersonDay[] = [];
          let cursor: string | null = "";
          for (let page = 0; page < pagesMax && cursor !== null; page++) {
            const more: Record<string, string> = cursor === "" ? {} : { cursor };
            const read: { days: PersonDay[]; next_cursor: string | null } = await client.call("listPersonDays", {
              query: { ...query, ...more },
              signal,
            });
            all.push(...read.days);
            cursor = read.next_cursor;
          }
          return all;
        },
        staleTime: freshMs,
      }),
    precision: (query: Period) =>
      queryOptions({
        queryKey: ["figures", "precision", query],
        queryFn: async ({ signal }) => (await client.call("listPrecision", { query, signal })).precision,
        staleTime: freshMs,
      }),
    money: (query: Period) =>
      queryOptions({
        queryKey: ["figures", "money", query],
        queryFn: async ({ signal }) => (await client.call("listMoney", { query, signal })).money,
        staleTime: freshMs,
      }),
  };
}

export type TeamQueries = ReturnType<typeof teamQueriesOf>;
