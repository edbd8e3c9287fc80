import { noteCharactersMax, type Colleague } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useId, useState, type KeyboardEvent, type RefObject } from "react";
import { useWorkspace } from "../session/workspace.tsx";
import { offersFor } from "./mentions.ts";

type Props = {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
};

// The text of a new note. After @, it offers colleagues: arrow keys choose, Enter or Tab inserts.
export function NoteField({ field, text, onText, onSend }: Props) {
  const { queries } = useWorkspace();
  const colleagues = useQuery(queries.colleagues()).data ?? [];
  const [caret, setCaret] = useState(0);
  const [at, setAt] = useState(0);
  const [isDismissed, setDismissed] = useState(false);
  const id = useId();
  const { from, offers: all } = offersFor(text, caret, colleagues);
  const offers = isDismissed ? [] : all;
  const chosen = offers[Math.min(at, offers.length - 1)];

  function insert({ email }: Colleague): void {
    const before = `${text.slice(0, from)}@${email} `;
    onText((before + text.slice(caret).replace(/^ /, "")).slice(0, noteCharactersMax));
    setCaret(before.length);
    // The field gets its new text after this event.
    requestAnimationFrame(() => field.current?.setSelectionRange(before.length, before.length));
    field.current?.focus();
  }

  function press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isSend) onSend();
    else if (event.key === "Escape" && offers.length > 0) setDismissed(true);
    else if (event.key === "Escape") field.current?.blur();
    else if (!chosen) return;
    else if (step !== undefined) setAt((Math.min(at, offers.length - 1) + step + offers.length) % offers.length);
    else if (event.key === "Enter" || event.key === "Tab") insert(chosen);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="relative">
      <textarea
        ref={field}
        rows={3}
        aria-label="New note"
        aria-controls={offers.length > 0 ? id : undefined}
        placeholder="What should the others know? @ mentions a colleague."
        maxLength={noteCharactersMax}
        className="w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-2 text-sm"
        value={text}
        onKeyDown={press}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onChange={({ target }) => {
          setCaret(target.selectionStart);
          setAt(0);
          setDismissed(false);
          onText(target.value);
        }}
      />
      {chosen && <Offers id={id} offers={offers} chosen={chosen} onChoose={insert} />}
    </div>
  );
}

type OffersProps = { id: string; offers: Colleague[]; chosen: Colleague; onChoose: (chosen: Colleague) => void };

function Offers({ id, offers, chosen, onChoose }: OffersProps) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label="Colleagues"
      className="absolute inset-x-0 top-full z-20 -mt-1 rounded-lg border border-line bg-raised p-1 shadow-float"
    >
      {offers.map((each) => (
        <li
          key={each.user_id}
          role="option"
          aria-selected={each === chosen}
          // The field keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(each);
          }}
          className={`flex flex-wrap items-baseline gap-x-2 rounded px-2 py-1 ${each === chosen ? "bg-hover" : ""}`}
        >
          <span className="font-medium">{each.name}</span>
          <span className="truncate text-xs text-faint">{each.email}</span>
        </li>
      ))}
    </ul>
  );
}
