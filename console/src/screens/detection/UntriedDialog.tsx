import { TriangleAlert } from "lucide-react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { figure } from "./Outcomes.tsx";

type Props = { name: string; shadowHits: number; onTry: () => void; onAnyway: () => void; onClose: () => void };

// A warning that can be overridden, because during an attack somebody may know better.
export function UntriedDialog({ name, shadowHits, onTry, onAnyway, onClose }: Props) {
  const footer = (
    <>
      <Button onClick={onAnyway}>Switch on anyway</Button>
      <Button look="primary" onClick={onTry} data-first-focus="">
        Try it first
      </Button>
    </>
  );
  return (
    <Dialog title="Switch on without a backtest?" onClose={onClose} footer={footer} width="small">
      <p className="flex gap-2.5">
        <TriangleAlert size={18} className="mt-0.5 shrink-0 text-warn" aria-hidden />
        <span className="[overflow-wrap:anywhere]">
          <strong className="font-semibold">{name}</strong> has not been tried on the last 30 days in its current form. Once it is
          on, its hits raise scores and open cases, starting with the next activity.
        </span>
      </p>
      <p className="mt-3 text-soft">
        {shadowHits > 0
          ? `In shadow it hit ${figure.format(shadowHits)} times in the last 7 days.`
          : "It has not run in shadow in the last 7 days either."}
      </p>
    </Dialog>
  );
}
