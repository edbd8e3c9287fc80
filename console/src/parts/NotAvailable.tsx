import type { Scope } from "@casehound/client";
import { EyeOff, Lock } from "lucide-react";
import { Empty } from "./States.tsx";

// A missing scope is not an error, so it is not shown as one.
export function NotAvailable({ what }: { what: string }) {
  return (
    <Empty title={`${what} is not available to you`} icon={<EyeOff size={20} aria-hidden />}>
      Your role does not include it. An admin can change your role.
    </Empty>
  );
}

// The same for a part of a screen, for readers who know what a scope is.
export function PartNotAvailable({ scope, what = "This" }: { scope: Scope; what?: string }) {
  return (
    <p className="flex items-start gap-2 text-sm text-soft">
      <Lock size={15} className="mt-0.5 shrink-0 text-faint" aria-hidden />
      <span>
        {what} is not available to your role. It requires the scope <code className="font-mono text-xs">{scope}</code>, which
        admins have.
      </span>
    </p>
  );
}
