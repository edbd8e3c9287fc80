import { useEffect, useId, useRef, type ReactNode, type RefObject } from "react";
import { lineAndColumn, type Fault } from "./fault.ts";

type Props = {
  label: string;
  hint: ReactNode;
  value: string;
  fault: Fault | null;
  onChange: (value: string) => void;
  onFocus: () => void;
  area: RefObject<HTMLTextAreaElement | null>;
  isCode?: boolean;
  maxLength: number;
  // Shown right under the text.
  below?: ReactNode;
};

const text = "px-2.5 py-2 text-[13px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]";

// A text area that grows with its text and marks a fault in it. A text area cannot mark text itself, so the mark is in a copy of
// the text behind it. Screen readers get the line and column instead.
export function MarkedText({ label, hint, value, fault, onChange, onFocus, area, isCode = false, maxLength, below }: Props) {
  const id = useId();
  const shown = useRef<Fault | null>(null);
  const font = isCode ? "font-mono" : "";
  const place = fault?.place ?? null;
  useEffect(() => {
    if (shown.current === fault) return;
    shown.current = fault;
    if (!place) return;
    area.current?.focus();
    area.current?.setSelectionRange(place.start, place.start);
  }, [fault, place, area]);
  const at = place && lineAndColumn(value, place.start);
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <div className={`relative rounded-md border bg-surface ${fault ? "border-bad" : "border-edge"}`}>
        <div aria-hidden className={`${text} ${font} text-transparent ${isCode ? "min-h-24" : "min-h-14"}`}>
          <Copy value={value} place={place} />
        </div>
        <textarea
          ref={area}
          id={id}
          value={value}
          maxLength={maxLength}
          spellCheck={!isCode}
          autoCapitalize="off"
          aria-invalid={fault !== null}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          onFocus={onFocus}
          className={`${text} ${font} absolute inset-0 size-full resize-none overflow-hidden rounded-md bg-transparent text-ink outline-offset-0`}
        />
      </div>
      {below}
      <div id={`${id}-hint`} className="text-xs">
        {fault ? (
          <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere]">
            {at && (
              <span className="font-semibold">
                Line {at.line}, column {at.column}:{" "}
              </span>
            )}
            {fault.message} {fault.hint !== "" && <span className="text-ink">{fault.hint}</span>}
          </p>
        ) : (
          <p className="text-soft">{hint}</p>
        )}
      </div>
    </div>
  );
}

// At the end of the text there is no character to mark, so a blank takes the mark.
function Copy({ value, place }: { value: string; place: { start: number; end: number } | null }) {
  if (!place) return <>{value}&#8203;</>;
  return (
    <>
      {value.slice(0, place.start)}
      <mark className="rounded-xs bg-bad-soft text-transparent underline decoration-bad decoration-wavy underline-offset-4">
        {value.slice(place.start, place.end) || "\u00a0\u00a0"}
      </mark>
      {value.slice(place.end)}&#8203;
    </>
  );
}
