import type { List } from "@casehound/client";
import { useEffect, useState, type RefObject } from "react";
import { KindMark } from "../lists/KindMark.tsx";
import { useLists } from "../lists/queries.ts";
import { lookupOf } from "../lists/words.ts";

type Props = { area: RefObject<HTMLTextAreaElement | null>; text: string; onText: (text: string) => void };

const shownMax = 8;

// Returns the beginning of a list's name, if the caret is right behind it.
function listBegun(before: string): string | null {
  return /(?:^|[^\w.])lists\.(\w*)$/.exec(before)?.[1] ?? null;
}

// Offers the names of lists while one is typed. Tab takes the first.
export function ListCompletion({ area, text, onText }: Props) {
  const lists = useLists();
  const [caret, setCaret] = useState(0);
  const begun = listBegun(text.slice(0, caret));
  const offered = begun === null ? [] : lists.filter(({ name }) => name.startsWith(begun)).slice(0, shownMax);
  const first = offered[0];

  function take(list: List): void {
    const from = caret - (begun ?? "").length - "lists.".length;
    const added = lookupOf(list);
    onText(text.slice(0, from) + added + text.slice(caret));
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(from + added.length, from + added.length);
    });
  }

  useEffect(() => {
    const element = area.current;
    if (!element) return undefined;
    const see = () => setCaret(element.selectionEnd);
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Tab" || event.shiftKey || !first) return;
      event.preventDefault();
      take(first);
    };
    for (const name of ["input", "keyup", "click"]) element.addEventListener(name, see);
    element.addEventListener("keydown", press);
    return () => {
      for (const name of ["input", "keyup", "click"]) element.removeEventListener(name, see);
      element.removeEventListener("keydown", press);
    };
  });

  if (offered.length === 0) return null;
  return (
    <ul aria-label="Lists" className="grid gap-0.5 rounded-md border border-line bg-raised p-1 shadow-float">
      {offered.map((list, index) => (
        <li key={list.name}>
          <button
            type="button"
            onClick={() => take(list)}
            className="flex w-full items-center gap-2 rounded px-2 py-1 text-left text-sm hover:bg-hover"
          >
            <span className="flex-1 font-mono text-[13px] text-accent">{list.name}</span>
            <KindMark kind={list.kind} />
            {index === 0 && <span className="text-xs text-faint">Tab</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
