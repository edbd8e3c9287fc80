import { EyeOff } from "lucide-react";
import { Empty } from "./States.tsx";

// What this person's scopes leave out is no error.
export function NotAvailable({ what }: { what: string }) {
  return (
    <Empty title={`${what} is not available to you`} icon={<EyeOff size={20} aria-hidden />}>
      Your role does not include it. An admin can change that.
    </Empty>
  );
}
