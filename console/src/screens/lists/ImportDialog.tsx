import type { List, ListCsvImportResult } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, fileLook } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { partsOf } from "./csv-parts.ts";
import { counted } from "./words.ts";

type Total = ListCsvImportResult & { done: number; parts: number };

const nothing: Total = { added: 0, updated: 0, unchanged: 0, refused: 0, reasons: [], refusals: [], done: 0, parts: 0 };
const refusalsShownMax = 20;

// Sends a file in parts, and shows how far it is and what was refused.
export function ImportDialog({ list, onClose }: { list: List; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const input = useRef<HTMLInputElement>(null);
  const [total, setTotal] = useState<Total | null>(null);
  const isDone = total !== null && total.done === total.parts;

  function send(): void {
    const file = input.current?.files?.[0];
    if (!file) return;
    task.run(async () => {
      const parts = partsOf(await file.text());
      let sum: Total = { ...nothing, parts: parts.length };
      setTotal(sum);
      for (const body of parts) {
        sum = plus(sum, await client.call("importList", { params: { list_name: list.name }, body }));
        setTotal(sum);
      }
      await cache.invalidateQueries({ queryKey: ["lists"] });
    });
  }

  return (
    <Dialog
      title={`Import into ${list.name}`}
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose} disabled={task.isBusy}>
            {isDone ? "Close" : "Cancel"}
          </Button>
          <Button look="primary" onClick={send} disabled={task.isBusy}>
            {task.isBusy ? "Importing ..." : "Import"}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-sm">
        <p className="text-soft">
          A CSV file whose first line names the column <code>value</code> and, if you like, <code>expires_at</code> and{" "}
          <code>reason</code>. A file with one value per line works too.
        </p>
        <input
          ref={input}
          type="file"
          accept=".csv,.txt,text/csv,text/plain"
          aria-label="CSV file"
          data-first-focus=""
          className={fileLook}
        />
        {total && <Progress total={total} />}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}

function Progress({ total }: { total: Total }) {
  const { added, updated, unchanged, refused, reasons, refusals, done, parts } = total;
  return (
    <div className="grid gap-2" role="status" aria-label="Import">
      <progress className="h-2 w-full" aria-label="Progress" max={Math.max(parts, 1)} value={done} />
      <p>
        {counted(added, "entry", "entries")} added, {updated.toLocaleString("en")} updated, {unchanged.toLocaleString("en")}{" "}
        already there, <strong className={refused > 0 ? "text-bad" : ""}>{refused.toLocaleString("en")} refused</strong>.
      </p>
      {reasons.length > 0 && (
        <ul className="list-disc pl-4 text-soft" aria-label="Why records were refused">
          {reasons.map(({ reason, count }) => (
            <li key={reason}>
              {count.toLocaleString("en")}: {reason}
            </li>
          ))}
        </ul>
      )}
      {refusals.length > 0 && (
        <details className="text-xs text-soft">
          <summary>The first refused records</summary>
          <ul className="mt-1 font-mono">
            {refusals.slice(0, refusalsShownMax).map(({ line, value }) => (
              <li key={line} className="[overflow-wrap:anywhere]">
                line {line}: {value}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function plus(sum: Total, part: ListCsvImportResult): Total {
  const counts = new Map(sum.reasons.map(({ reason, count }) => [reason, count]));
  for (const { reason, count } of part.reasons) counts.set(reason, (counts.get(reason) ?? 0) + count);
  return {
    ...sum,
    added: sum.added + part.added,
    updated: sum.updated + part.updated,
    unchanged: sum.unchanged + part.unchanged,
    refused: sum.refused + part.refused,
    reasons: [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count),
    refusals: [...sum.refusals, ...part.refusals],
    done: sum.done + 1,
  };
}
