import { Search } from "lucide-react";
import { useId, useState, type RefObject } from "react";
import type { HitGroup, Target } from "./hits.tsx";
import { ResultList, choiceOf, useChoices, type Choice } from "./ResultList.tsx";
import { useOpenTarget, useSearch } from "./useSearch.ts";
import { searchWords } from "./words.ts";

type Props = {
  name: string;
  placeholder: string;
  input: RefObject<HTMLInputElement | null>;
  // Accounts are chosen here. Everything else opens, unless only accounts are wanted.
  onAccount: (id: string) => void;
  isAccountsOnly?: boolean;
};

// A search field with its results below it. After a choice, the field is cleared and loses the focus, so keys go to the list again.
export function SearchBox({ name, placeholder, input, onAccount, isAccountsOnly = false }: Props) {
  const [text, setText] = useState("");
  const [hasFocus, setHasFocus] = useState(false);
  const listId = useId();
  const open = useOpenTarget();
  const searching = useSearch(text);
  const choose = (target: Target) => (target.to === "account" ? onAccount(target.id) : open(target));
  const isWanted = (group: HitGroup) => !isAccountsOnly || group.name === "Accounts";
  const groups = searching.groups.filter(isWanted).map((group) => ({
    ...group,
    choices: group.hits.map((hit) => choiceOf(hit, () => choose(hit.target))),
  }));
  const { chosen, choices, setAt, press, typed } = useChoices(groups, { isSettled: searching.isSettled, run });

  function put(next: string): void {
    setText(next);
    typed();
  }

  function run(choice: Choice): void {
    put("");
    input.current?.blur();
    choice.run();
  }

  const isOpen = hasFocus && text.trim() !== "";
  const words = searchWords(text, searching, choices.length);
  return (
    <div role="search" className="relative">
      <Search size={13} aria-hidden className="pointer-events-none absolute top-2 left-2.5 text-faint" />
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label={name}
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={isOpen && choices.length > 0 ? `${listId}-${chosen}` : undefined}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={512}
        value={text}
        onChange={(event) => put(event.target.value)}
        onFocus={() => setHasFocus(true)}
        onBlur={() => setHasFocus(false)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
          else press(event);
        }}
        className="h-7 w-44 rounded-full border border-edge bg-surface pr-3 pl-7 text-xs focus:w-64 max-sm:focus:w-56"
      />
      {isOpen && (
        <div className="absolute top-8 left-0 z-30 w-[30rem] max-w-[calc(100vw-5rem)] rounded-lg border border-line bg-raised p-2 text-sm shadow-float">
          <ResultList id={listId} groups={groups} chosen={chosen} look="max-h-96 overflow-y-auto" onPoint={setAt} onRun={run} />
          {(choices.length === 0 || !searching.isComplete) && <p className="px-2 py-1 text-xs text-soft">{words}</p>}
        </div>
      )}
      <span role="status" className="sr-only">
        {isOpen ? words : ""}
      </span>
    </div>
  );
}
