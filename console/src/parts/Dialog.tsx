import { X } from "lucide-react";
import { useEffect, useId, useRef, type ReactNode } from "react";
import { IconButton } from "./Button.tsx";

type Props = {
  title: string;
  // Without it there is no way out but by doing what is asked, and nothing is to be seen behind it.
  onClose?: () => void;
  children: ReactNode;
  footer?: ReactNode;
  width?: "small" | "medium" | "wide";
  // For what must not be left by a stray key while it works.
  isBusy?: boolean;
};

const widths = { small: "w-[26rem]", medium: "w-[38rem]", wide: "w-[46rem]" };

// The browser's own dialog: it holds the focus, makes the rest inert, gives the focus back, and needs no style of its own,
// which the page's policy would refuse.
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
        // Browsers let nobody hold a dialog against the second Escape.
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
  // The browser would choose the first button, which is the one that closes.
  dialog.querySelector<HTMLElement>("[data-first-focus]")?.focus();
}
