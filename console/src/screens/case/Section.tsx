import { useId, type ReactNode } from "react";

// One block of a screen with its heading. Other screens use it too.
type Props = { title: string; aside?: ReactNode; isFlush?: boolean; children: ReactNode };

export function Section({ title, aside, isFlush = false, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-lg border border-line bg-surface">
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-3 border-b border-line px-4 py-2">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {aside}
      </header>
      <div className={isFlush ? "" : "p-4"}>{children}</div>
    </section>
  );
}
