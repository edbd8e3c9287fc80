import { useId, type InputHTMLAttributes, type ReactNode } from "react";

export const inputLook =
  "h-9 w-full rounded-md border border-edge bg-surface px-2.5 text-sm text-ink outline-offset-0 disabled:opacity-60";

// The browser draws the button of a file field in its own way.
export const fileLook =
  "w-full text-soft file:mr-3 file:h-8 file:rounded-md file:border file:border-edge/50 file:bg-surface file:px-3 file:text-sm file:font-medium file:text-ink hover:file:bg-hover";

type Props = InputHTMLAttributes<HTMLInputElement> & { name: string; label: string; hint?: ReactNode };

export function Field({ label, hint, ...rest }: Props) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input id={id} className={inputLook} aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...rest} />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}

export function Alert({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      {children}
    </p>
  );
}
