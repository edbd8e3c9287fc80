import type { Scope } from "@casehound/client";
import { Lock } from "lucide-react";

// What a role does not hold is no error.
export function NotAvailable({ scope, what = "This" }: { scope: Scope; what?: string }) {
  return (
    <p className="flex items-start gap-2 text-sm text-soft">
      <Lock size={15} className="mt-0.5 shrink-0 text-faint" aria-hidden />
      <span>
        {what} is not available to your role: it needs <code className="font-mono text-xs">{scope}</code>, which admins have.
      </span>
    </p>
  );
}
