import { ListFilter, ArrowDownWideNarrow, X } from "lucide-react";
import type { RefObject } from "react";
import { accountName, unknownAccount } from "../../parts/account-name.ts";
import { AccountSearch } from "../../parts/AccountSearch.tsx";
import { Button } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { rangeChips } from "./range.ts";
import { choices, periodWords, sortWords, type QueueFilter } from "./search.ts";

type Props = { filter: QueueFilter; onFilter: (next: QueueFilter) => void; input: RefObject<HTMLInputElement | null> };

const chipLook = "inline-flex h-7 items-center gap-1 rounded-full border border-line bg-surface pr-1 pl-2.5 text-xs font-medium";

// Shows a chip for every filter, including the default one, so nothing is filtered silently.
export function FilterBar({ filter, onFilter, input }: Props) {
  const chips = chipsOf(filter);
  const put = (more: { [name in keyof QueueFilter]?: QueueFilter[name] | undefined }) =>
    onFilter(cleaned({ ...filter, ...more }));

  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-2">
      <AccountSearch name="Filter by account" input={input} onAccount={(account) => put({ account })} />
      <FilterMenu filter={filter} put={put} />
      {chips.map(({ name, drop }) => (
        <span key={name} className={chipLook}>
          {name}
          {drop ? (
            <button
              type="button"
              aria-label={`Remove the filter ${name}`}
              className="grid size-5 place-items-center rounded-full text-faint hover:bg-hover hover:text-ink"
              onClick={() => put(drop)}
            >
              <X size={12} aria-hidden />
            </button>
          ) : (
            <span className="w-1.5" />
          )}
        </span>
      ))}
      {chips.length > 1 && (
        <button type="button" className="text-xs text-soft underline hover:text-ink" onClick={() => onFilter({})}>
          Clear
        </button>
      )}
      <span className="flex-1" />
      <SortMenu filter={filter} put={put} />
    </div>
  );
}

type Put = (more: { [name in keyof QueueFilter]?: QueueFilter[name] | undefined }) => void;

function SortMenu({ filter, put }: { filter: QueueFilter; put: Put }) {
  return (
    <Menu
      name="Order"
      trigger={
        <Button look="quiet" className="h-7 px-2 text-xs">
          <ArrowDownWideNarrow size={14} aria-hidden />
          {sortWords[filter.sort ?? "risk"]}
        </Button>
      }
      groups={[
        {
          items: choices.sorts.map((sort) => ({
            name: sortWords[sort],
            isChosen: (filter.sort ?? "risk") === sort,
            run: () => put({ sort: sort === "risk" ? undefined : sort }),
          })),
        },
      ]}
    />
  );
}

function FilterMenu({ filter, put }: { filter: QueueFilter; put: Put }) {
  const statusNames = { open: "Open", closed: "Closed", all: "Open and closed" };
  return (
    <Menu
      name="Filter"
      trigger={
        <Button className="h-7 rounded-full px-2.5 text-xs">
          <ListFilter size={14} aria-hidden />
          Filter
        </Button>
      }
      groups={[
        {
          title: "Status",
          items: choices.statuses.map((status) => ({
            name: statusNames[status],
            isChosen: (filter.status ?? "open") === status,
            run: () => put({ status: status === "open" ? undefined : status }),
          })),
        },
        {
          title: "Label",
          items: choices.labels.map((label) => ({ name: label, isChosen: filter.label === label, run: () => put({ label }) })),
        },
        {
          title: "Risk",
          items: [5, 4, 3].map((score) => ({
            name: score === 5 ? "5" : `${score} and more`,
            isChosen: filter.score === score && filter.score_max === undefined,
            run: () => put({ score, score_max: undefined }),
          })),
        },
        {
          title: "Account",
          items: [
            { name: "Blocked", isChosen: filter.blocked === true, run: () => put({ blocked: true }) },
            { name: "Not blocked", isChosen: filter.blocked === false, run: () => put({ blocked: false }) },
          ],
        },
        {
          title: "Evidence",
          items: [
            {
              name: "New since a person's last change or the opening",
              isChosen: filter.evidence === true,
              run: () => put({ evidence: true }),
            },
          ],
        },
        {
          title: "Time",
          items: choices.periods.map((changed) => ({
            name: periodWords[changed],
            isChosen: filter.changed === changed,
            run: () => put({ changed }),
          })),
        },
      ]}
    />
  );
}

type Loose = { [name in keyof QueueFilter]?: QueueFilter[name] | undefined };

function cleaned(filter: Loose): QueueFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

// Removing the first chip, the status, shows both open and closed cases.
function chipsOf(filter: QueueFilter): { name: string; drop: Loose | null }[] {
  const { status = "open", label, account, blocked, changed, evidence } = filter;
  const chips: { name: string; drop: Loose | null }[] = [];
  if (status !== "all") chips.push({ name: status === "open" ? "Open" : "Closed", drop: { status: "all" } });
  if (label) chips.push({ name: label, drop: { label: undefined } });
  const risk = riskWords(filter);
  if (risk !== null) chips.push({ name: risk, drop: { score: undefined, score_max: undefined } });
  if (account !== undefined)
    chips.push({ name: account === unknownAccount ? accountName(account) : `Account ${account}`, drop: { account: undefined } });
  if (blocked !== undefined)
    chips.push({ name: blocked ? "Account blocked" : "Account not blocked", drop: { blocked: undefined } });
  if (evidence !== undefined) chips.push({ name: evidence ? "New evidence" : "No new evidence", drop: { evidence: undefined } });
  if (changed) chips.push({ name: periodWords[changed], drop: { changed: undefined } });
  return [...chips, ...rangeChips(filter)];
}

function riskWords({ score = 1, score_max = 5 }: QueueFilter): string | null {
  if (score === 1 && score_max === 5) return null;
  if (score === score_max) return `Risk ${score}`;
  return score_max === 5
    ? `Risk ${score} and more`
    : score === 1
      ? `Risk ${score_max} and less`
      : `Risk ${score} to ${score_max}`;
}
