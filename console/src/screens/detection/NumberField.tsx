import { useId, useState, type ReactNode } from "react";
import { inputLook } from "../../parts/Field.tsx";

type Props = {
  label: string;
  value: number;
  onValue: (value: number) => void;
  step?: number;
  min?: number;
  max?: number;
  hint?: ReactNode;
  error?: string | undefined;
  isOff?: boolean;
};

// Keeps the text as typed, because "2." may be on its way to 2.5.
export function NumberField({ label, value, onValue, step = 0.1, min, max, hint, error, isOff = false }: Props) {
  const id = useId();
  const [typed, setTyped] = useState(String(value));
  const shown = Number(typed) === value ? typed : String(value);
  return (
    <div className="grid content-start gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        type="number"
        inputMode="decimal"
        step={step}
        min={min}
        max={max}
        disabled={isOff}
        className={inputLook}
        value={shown}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          setTyped(event.target.value);
          onValue(Number(event.target.value));
        }}
      />
      <p id={`${id}-hint`} className={`text-xs ${error === undefined ? "text-soft" : "text-bad"}`}>
        {error ?? hint}
      </p>
    </div>
  );
}
