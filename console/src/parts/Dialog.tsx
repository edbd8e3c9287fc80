import { X } from "lucide-react";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./Button.tsx";

type Props = {
  title: string;
  // Without it, the only way out is to do what the dialog asks, and the page behind it is hidden.
  onClose?: () => void;
  children: ReactNode;
  footer?: ReactNode;
  width?: "small" | "medium" | "wide";
  // Blocks Escape and the close button while work is in progress.
  isBusy?: boolean;
};

const widths = { small: "w-[26rem]", medium: "w-[38rem]", wide: "w-[46rem]" };

// Uses the browser's own dialog. It traps and restores the focus, makes the rest of the page inert, and needs no inline style,
// which the content security policy would reject.
export function Dialog({ title, onClose, children, footer, width = "medium", isBusy = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isLocked = isBusy || onClose === undefined;
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    if (element) show(element);
    return () => {
      element?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      className={`${widths[width]} max-w-[calc(100vw-2rem)] rounded-xl border border-line bg-raised p-0 shadow-float ${onClose ? "" : "backdrop:bg-canvas"}`}
      onCancel={(event) => {
        event.preventDefault();
        if (!isLocked) onClose();
      }}
      onClose={({ currentTarget, target }) => {
        // Browsers close a dialog on the second Escape even if the first was cancelled, so show it again.
        if (target !== currentTarget || !currentTarget.isConnected || currentTarget.open) return;
        if (isLocked) show(currentTarget);
        else onClose();
      }}
    >
      <div className="flex max-h-[calc(100vh-4rem)] flex-col">
        <header className="flex min-h-13 items-center justify-between gap-4 border-b border-line py-2.5 pr-2.5 pl-5">
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          {onClose && (
            <IconButton name="Close this dialog" onClick={onClose} disabled={isBusy}>
              <X size={16} aria-hidden />
            </IconButton>
          )}
        </header>
        <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>
        {footer && <footer className="flex items-center justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>}
      </div>
    </dialog>
  );
}

function show(dialog: HTMLDialogElement): void {
  dialog.showModal();
  // The browser would focus the first button, which closes the dialog.
  dialog.querySelector<HTMLElement>("[data-first-focus]")?.focus();
}
