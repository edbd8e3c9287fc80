import { useQuery } from "@tanstack/react-query";
import { ListFilter, ArrowDownWideNarrow, X } from "lucide-react";
import type { RefObject } from "react";
import { ownDispositionQuery } from "../../closing/own-dispositions.ts";
import { Button } from "../../parts/Button.tsx";
import { Id } from "../../parts/Id.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { visible } from "../../parts/visible.ts";
import { SearchBox } from "../../search/SearchBox.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { CsvButton } from "./CsvButton.tsx";
import { chipsOf, filterChoices, isChosen } from "./filters.ts";
import { rangeChips } from "./range.ts";
import { sorts, sortWords, type QueueFilter } from "./search.ts";

type Props = { filter: QueueFilter; onFilter: (next: QueueFilter) => void; input: RefObject<HTMLInputElement | null> };

const chipLook =
  "inline-flex h-7 max-w-full min-w-0 items-center gap-1 rounded-full border border-line bg-surface pr-1 pl-2.5 text-xs font-medium";

// Shows a chip for every filter, including the default one, so nothing is filtered silently.
export function FilterBar({ filter, onFilter, input }: Props) {
  const chips = [...chipsOf(filter), ...rangeChips(filter)];
  const put = (more: { [name in keyof QueueFilter]?: QueueFilter[name] | undefined }) =>
    onFilter(cleaned({ ...filter, ...more }));

  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-2">
      <SearchBox name="Search" placeholder="Search" input={input} onAccount={(account) => put({ account })} />
      <FilterMenu filter={filter} put={put} />
      {chips.map(({ name, drop }) => (
        <span key={name} className={chipLook}>
          <span className="max-w-72 truncate" title={visible(name)}>
            <Id id={name} />
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${visible(name)}`}
            className="grid size-5 shrink-0 place-items-center rounded-full text-faint hover:bg-hover hover:text-ink"
            onClick={() => put(drop)}
          >
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
      {chips.length > 1 && (
        <button type="button" className="text-xs text-soft underline hover:text-ink" onClick={() => onFilter({})}>
          Clear
        </button>
      )}
      <span className="flex-1" />
      <CsvButton filter={filter} />
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
        <Button look="quiet" className="!h-7 !px-2 text-xs">
          <ArrowDownWideNarrow size={14} aria-hidden />
          {sortWords[filter.sort ?? "risk"]}
        </Button>
      }
      groups={[
        {
          items: sorts.map((sort) => ({
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
  const { client, session, may } = useWorkspace();
  const { user } = session;
  const { data } = useQuery({ ...ownDispositionQuery(client), enabled: may("read:case") });
  const own = (data?.own_dispositions ?? []).map(({ name }) => ({
    name: visible(name),
    put: { own: name, status: "closed" as const },
  }));
  const me = { closer: `${user.name} <${user.email}>`, status: "closed" as const };
  const ownChoice = { title: "Closed by", items: [{ name: "Me", put: me }] };
  return (
    <Menu
      name="Filter"
      trigger={
        <Button className="!h-7 !rounded-full !px-2.5 text-xs">
          <ListFilter size={14} aria-hidden />
          Filter
        </Button>
      }
      groups={[...filterChoices, ...(own.length > 0 ? [{ title: "Custom outcome", items: own }] : []), ownChoice].map(
        ({ title, items }) => ({
          title,
          items: items.map((item) => ({ name: item.name, isChosen: isChosen(filter, item.put), run: () => put(item.put) })),
        }),
      )}
    />
  );
}

type Loose = { [name in keyof QueueFilter]?: QueueFilter[name] | undefined };

function cleaned(filter: Loose): QueueFilter {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
