import type { ReactNode } from "react";
import mark from "../../style/hound.svg";

// The frame of every page shown to somebody who is not signed in.
export function Front({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-full place-items-center p-6">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <img src={mark} alt="" width={34} height={34} />
          <span className="text-lg font-semibold">Casehound</span>
        </div>
        <section className="rounded-xl border border-line bg-surface p-6 shadow-float">
          <h1 className="mb-4 text-lg font-semibold">{title}</h1>
          {children}
        </section>
      </div>
    </main>
  );
}
