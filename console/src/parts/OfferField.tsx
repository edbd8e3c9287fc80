import { useId, useState, type KeyboardEvent, type ReactNode, type RefObject } from "react";

// What is being typed before the caret, and what it may become.
type Offered<T> = { from: number; offers: T[] };

type Props<T> = {
  field: RefObject<HTMLTextAreaElement | null>;
  name: string;
  // What the offers are, for screen readers.
  offersName: string;
  placeholder?: string;
  charactersMax: number;
  text: string;
  onText: (text: string) => void;
  offersFor: (text: string, caret: number) => Offered<T>;
  // The text that replaces what was typed.
  insertionOf: (offer: T) => string;
  onChosen?: (offer: T, text: string) => void;
  idOf: (offer: T) => string;
  show: (offer: T) => ReactNode;
  // Handles the keys that the offers do not use. Returns whether it did.
  press?: (event: KeyboardEvent) => boolean;
  // In a dialog, the offers push the rest down, because the dialog would cut them off.
  isInDialog?: boolean;
};

// A text field that offers something for what is being typed: arrow keys choose, Enter or Tab inserts, Escape dismisses.
export function OfferField<T>(props: Props<T>) {
  const { field, text, onText, offersFor, insertionOf, onChosen, idOf, charactersMax, press = () => false } = props;
  const [caret, setCaret] = useState(0);
  const [at, setAt] = useState(0);
  const [isDismissed, setDismissed] = useState(false);
  const id = useId();
  const { from, offers: all } = offersFor(text, caret);
  const offers = isDismissed ? [] : all;
  const place = Math.min(at, offers.length - 1);
  const chosen = offers[place];

  function insert(offer: T): void {
    const before = text.slice(0, from) + insertionOf(offer);
    const whole = (before + text.slice(caret).replace(/^ /, "")).slice(0, charactersMax);
    onText(whole);
    onChosen?.(offer, whole);
    setCaret(before.length);
    // The field gets its new text after this event.
    requestAnimationFrame(() => field.current?.setSelectionRange(before.length, before.length));
    field.current?.focus();
  }

  function pressKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const isModified = event.ctrlKey || event.metaKey;
    if (event.key === "Escape" && chosen !== undefined) setDismissed(true);
    else if (chosen !== undefined && step !== undefined) setAt((place + step + offers.length) % offers.length);
    else if (chosen !== undefined && !isModified && (event.key === "Enter" || event.key === "Tab")) insert(chosen);
    else if (!press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className="relative">
      <textarea
        ref={field}
        rows={3}
        aria-label={props.name}
        aria-controls={chosen === undefined ? undefined : id}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${idOf(chosen)}`}
        placeholder={props.placeholder}
        maxLength={charactersMax}
        className="w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-2 text-sm"
        value={text}
        onKeyDown={pressKey}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onChange={({ target }) => {
          setCaret(target.selectionStart);
          setAt(0);
          setDismissed(false);
          onText(target.value);
        }}
      />
      {chosen !== undefined && <Offers {...props} id={id} offers={offers} chosen={chosen} onChoose={insert} />}
    </div>
  );
}

type OffersProps<T> = Pick<Props<T>, "offersName" | "idOf" | "show" | "isInDialog"> & {
  id: string;
  offers: T[];
  chosen: T;
  onChoose: (chosen: T) => void;
};

function Offers<T>({ id, offersName, offers, chosen, idOf, show, isInDialog = false, onChoose }: OffersProps<T>) {
  const place = isInDialog ? "mt-1" : "absolute inset-x-0 top-full z-20 -mt-1";
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={offersName}
      className={`${place} rounded-lg border border-line bg-raised p-1 shadow-float`}
    >
      {offers.map((each) => (
        <li
          key={idOf(each)}
          id={`${id}-${idOf(each)}`}
          role="option"
          aria-selected={each === chosen}
          // The field keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(each);
          }}
          className={`flex flex-wrap items-baseline gap-x-2 rounded px-2 py-1 ${each === chosen ? "bg-hover" : ""}`}
        >
          {show(each)}
        </li>
      ))}
    </ul>
  );
}
