import type { Case, CaseListValue, List } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useState, type KeyboardEvent } from "react";
import { Kbd } from "../parts/Button.tsx";
import { inputLook } from "../parts/Field.tsx";
import { Id } from "../parts/Id.tsx";
import { expiresAt, expiries } from "../screens/lists/expiry.ts";
import { useListQueries } from "../screens/lists/queries.ts";
import { kindFacts, nounOf } from "../screens/lists/words.ts";
import { useWorkspace } from "../session/workspace.tsx";
import type { Disposition, ListWish } from "../changes/desk.ts";

const valuesShownMax = 8;
const entryReasonMax = 500;

// The list of each chosen value, by the value's key.
type Chosen = { lists: ReadonlyMap<string, string>; days: string };
type Offer = { value: CaseListValue; lists: List[] };

// What the person adds to lists together with the close, by check box or key.
export function useListWishes({ case_id: id }: Case) {
  const { may } = useWorkspace();
  const isAllowed = may("update:lists") && may("read:lists");
  const queries = useListQueries();
  const { data: lists } = useQuery({ ...queries.all, enabled: isAllowed });
  const [isOpen, setOpen] = useState(false);
  const values = useQuery({ ...queries.caseValues(id), enabled: isOpen });
  const [chosen, setChosen] = useState<Chosen>({ lists: new Map(), days: "0" });
  const usable = (lists ?? []).filter(({ kind }) => kind !== "allow" || may("manage:lists"));
  const offers = (values.data ?? [])
    .map((value) => ({ value, lists: usable.filter(({ type }) => type === value.type) }))
    .filter((offer) => offer.lists.length > 0)
    .slice(0, valuesShownMax);
  const isOffered = isAllowed && usable.length > 0;
  const press = (event: KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement;
    if (event.key !== "l" || !isOffered || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    setOpen(!isOpen);
    event.preventDefault();
  };
  const wishes = (reason: string): ListWish[] => (isOpen ? wishesOf(offers, chosen, reason) : []);
  return { isOffered, isOpen, setOpen, isLoading: isOpen && values.isPending, offers, chosen, setChosen, press, wishes };
}

function wishesOf(offers: Offer[], { lists, days }: Chosen, reason: string): ListWish[] {
  const cut = reason.slice(0, entryReasonMax).toWellFormed();
  return offers.flatMap(({ value }) => {
    const list = lists.get(keyOf(value));
    if (list === undefined) return [];
    const entry = { list, value: value.value, ...expiresAt(days, Date.now()), ...(cut !== "" && { reason: cut }) };
    return [{ entry, isNew: !value.lists.includes(list) }];
  });
}

function keyOf({ type, value }: CaseListValue): string {
  return `${type} ${value}`;
}

// A confirmed fraud suggests a block list, a false positive an allow list.
function firstList(lists: List[], disposition: Disposition | null): string {
  const kind = disposition === "FALSE_POSITIVE" ? "allow" : "block";
  return (lists.find((each) => each.kind === kind) ?? lists[0])?.name ?? "";
}

type Props = ReturnType<typeof useListWishes> & { disposition: Disposition | null; isDisabled: boolean };

// Offers to add what the case names to lists in the same step as the close.
export function ListFields(props: Props) {
  const { isOffered, isOpen, setOpen, isLoading, offers, chosen, setChosen, disposition, isDisabled } = props;
  if (!isOffered) return null;
  const toggle = ({ value, lists }: Offer) => {
    const next = new Map(chosen.lists);
    if (!next.delete(keyOf(value))) next.set(keyOf(value), firstList(lists, disposition));
    setChosen({ ...chosen, lists: next });
  };
  return (
    <fieldset disabled={isDisabled} className="mt-1.5">
      <label className="flex items-center gap-2">
        <input type="checkbox" className="size-4 accent-accent" checked={isOpen} onChange={() => setOpen(!isOpen)} />
        Add to a list <Kbd>L</Kbd>
      </label>
      {isOpen && (
        <div role="group" aria-label="Add to a list" className="mt-2 ml-6 grid gap-1.5 text-sm">
          {isLoading && <p className="text-faint">Loading the values in this case…</p>}
          {!isLoading && offers.length === 0 && <p className="text-faint">No list accepts a value from this case.</p>}
          {offers.map((offer, at) => (
            <ValueRow
              key={keyOf(offer.value)}
              offer={offer}
              list={chosen.lists.get(keyOf(offer.value))}
              isFirst={at === 0}
              onToggle={() => toggle(offer)}
              onList={(name) => setChosen({ ...chosen, lists: new Map(chosen.lists).set(keyOf(offer.value), name) })}
            />
          ))}
          {chosen.lists.size > 0 && (
            <label className="flex items-center gap-2">
              Expires
              <select
                className={`${inputLook} !h-8 !w-auto`}
                value={chosen.days}
                onChange={({ target }) => setChosen({ ...chosen, days: target.value })}
              >
                {expiries.map(({ days, name }) => (
                  <option key={days} value={days}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
      )}
    </fieldset>
  );
}

type RowProps = {
  offer: Offer;
  // Undefined if the value is not chosen.
  list: string | undefined;
  isFirst: boolean;
  onToggle: () => void;
  onList: (name: string) => void;
};

function ValueRow({ offer: { value, lists }, list, isFirst, onToggle, onList }: RowProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <label className="flex min-w-0 flex-1 basis-56 items-center gap-2">
        <input
          type="checkbox"
          className="size-4 shrink-0 accent-accent"
          checked={list !== undefined}
          onChange={onToggle}
          // The key that opens the fields leads to the first of them.
          autoFocus={isFirst}
        />
        <span className="shrink-0 text-soft">{nounOf(value.type)}</span>
        <span className="min-w-0 truncate">
          <Id id={value.value} />
        </span>
      </label>
      {value.source === "page" && (
        <span className="text-xs text-warn" title="Any page can name any value.">
          claimed by a page
        </span>
      )}
      {value.lists.length > 0 && <span className="text-xs text-faint">on {value.lists.join(", ")}</span>}
      {list !== undefined && (
        <select
          aria-label={`List for ${value.value}`}
          className={`${inputLook} !h-8 !w-auto max-w-full`}
          value={list}
          onChange={({ target }) => onList(target.value)}
        >
          {lists.map(({ name, kind }) => (
            <option key={name} value={name}>
              {name} ({kindFacts[kind].name.toLowerCase()})
            </option>
          ))}
        </select>
      )}
    </div>
  );
}
