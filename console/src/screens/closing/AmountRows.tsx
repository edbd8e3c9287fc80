import type { ApprovalSettings } from "@casehound/client";
import { Plus, X } from "lucide-react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";

type Amounts = ApprovalSettings["amounts"];
type Props = { amounts: Amounts; onAmounts: (amounts: Amounts) => void };

// The limit for each currency: closing a case with higher payments needs a second person.
export function AmountRows({ amounts, onAmounts }: Props) {
  const change = (at: number, some: Partial<Amounts[number]>) =>
    onAmounts(amounts.map((each, index) => (index === at ? { ...each, ...some } : each)));
  return (
    <div className="grid gap-2">
      <span>Closing a case whose payments add up to more than</span>
      {amounts.map(({ currency, above }, index) => (
        <div key={index} className="ml-6 flex flex-wrap items-center gap-2">
          <input
            aria-label={`Amount ${index + 1}`}
            type="number"
            min={0}
            step="any"
            className={`${inputLook} !w-32`}
            value={above}
            onChange={({ target }) => change(index, { above: Number(target.value) })}
          />
          <input
            aria-label={`Currency ${index + 1}`}
            maxLength={3}
            className={`${inputLook} !w-20 uppercase`}
            value={currency}
            onChange={({ target }) => change(index, { currency: target.value.toUpperCase() })}
          />
          <IconButton name={`Remove amount ${index + 1}`} onClick={() => onAmounts(amounts.filter((_, at) => at !== index))}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ))}
      <div className="ml-6">
        <Button onClick={() => onAmounts([...amounts, { currency: "EUR", above: 1000 }])}>
          <Plus size={14} aria-hidden /> Add an amount
        </Button>
      </div>
    </div>
  );
}
