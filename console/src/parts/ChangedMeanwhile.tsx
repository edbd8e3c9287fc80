import type { ReactNode } from "react";
import { nameOfActor } from "./Actor.tsx";
import { Button } from "./Button.tsx";
import { ageWords } from "./Time.tsx";

type Stored = { updated_at: string; updated_by: string };
type Props = { stored: Stored; onUseTheirs: () => void; onContinue: () => void; children: ReactNode };

// Shown if somebody else saved while a person was editing. Nothing typed is lost.
export function ChangedMeanwhile({ stored, onUseTheirs, onContinue, children }: Props) {
  return (
    <div role="alert" className="my-4 rounded-lg border border-warn/40 bg-warn-soft p-3">
      <p className="text-warn">
        <strong className="font-semibold">Changed {ageWords(stored.updated_at)} ago</strong> by {nameOfActor(stored.updated_by)}
        {children}
      </p>
      <div className="mt-2 flex justify-end gap-2">
        <Button onClick={onUseTheirs}>Use theirs</Button>
        <Button look="primary" onClick={onContinue}>
          Continue with mine
        </Button>
      </div>
    </div>
  );
}
