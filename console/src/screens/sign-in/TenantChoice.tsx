import { Building2 } from "lucide-react";
import { Button } from "../../parts/Button.tsx";

type Props = { tenants: string[]; isBusy: boolean; onChosen: (tenant: string) => void; onBack: () => void };

// Shown when the same e-mail address and password are valid for several tenants.
export function TenantChoice({ tenants, isBusy, onChosen, onBack }: Props) {
  return (
    <div className="grid gap-3">
      <p className="text-sm text-soft" role="status">
        You have access to {tenants.length} tenants. Choose one.
      </p>
      <ul className="grid gap-2">
        {tenants.map((tenant, index) => (
          <li key={tenant}>
            <Button
              className="h-9 w-full !justify-start"
              autoFocus={index === 0}
              disabled={isBusy}
              onClick={() => onChosen(tenant)}
            >
              <Building2 size={15} className="shrink-0 text-faint" aria-hidden />
              <span className="truncate">{tenant}</span>
            </Button>
          </li>
        ))}
      </ul>
      <Button look="quiet" onClick={onBack} disabled={isBusy}>
        Back
      </Button>
    </div>
  );
}
