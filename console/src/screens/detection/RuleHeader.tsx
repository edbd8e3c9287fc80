import type { Rule } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Age } from "../../parts/Time.tsx";

export function RuleHeader({ rule, mark, children }: { rule: Rule; mark: ReactNode; children: ReactNode }) {
  return (
    <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
      <div className="mx-auto flex max-w-[85.5rem] flex-wrap items-center gap-x-4 gap-y-2">
        <BackToRules />
        <div className="min-w-48 flex-1">
          <div className="flex flex-wrap items-center gap-x-3">
            <h1 className="text-lg font-semibold [overflow-wrap:anywhere]">{rule.name}</h1>
            {mark}
          </div>
          <p className="text-xs text-faint [overflow-wrap:anywhere]">
            <span className="font-mono">{rule.rule_id}</span> · version {rule.rule_version} · changed{" "}
            <Age at={rule.updated_at} suffix=" ago" /> by {nameOfActor(rule.updated_by)}
          </p>
        </div>
        <div className="flex items-center gap-2">{children}</div>
      </div>
    </header>
  );
}

export function BackToRules() {
  return (
    <Link
      to="/detection"
      aria-label="Back to the rules"
      title="Back to the rules"
      className="-ml-1 inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-hover hover:text-ink"
    >
      <ArrowLeft size={17} aria-hidden />
    </Link>
  );
}
