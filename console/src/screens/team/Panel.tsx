import type { Operations } from "@casehound/client";
import { Download } from "lucide-react";
import { useId, type ReactNode } from "react";
import { Button } from "../../parts/Button.tsx";
import { saveFile, suggestedName } from "../../parts/save-file.ts";
import { Trouble } from "../../parts/States.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Period } from "./queries.ts";

type Read = { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown };
type Listed = Extract<keyof Operations, "listPersonDays" | "listPersonFigures" | "listPrecision" | "listMoney">;
type Props = {
  title: string;
  hint?: string;
  list: Listed;
  period: Period;
  read: Read;
  empty: string | null;
  children: ReactNode;
};

// A table of figures that can be downloaded.
export function Panel({ title, hint, list, period, read, empty, children }: Props) {
  const { client } = useWorkspace();
  const task = useTask();
  const id = useId();
  const download = () =>
    task.run(() =>
      saveFile(title, async () => {
        const response = await client.exportCsv(list, { query: period });
        return { content: await response.blob(), name: suggestedName(response, `${list}.csv`) };
      }),
    );
  return (
    <section aria-labelledby={id} className="flex min-w-0 flex-col rounded-lg border border-line bg-surface">
      <header className="flex min-h-11 items-center justify-between gap-3 border-b border-line py-1.5 pr-2 pl-4">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        <Button
          look="quiet"
          className="no-print h-7 px-2 text-xs"
          aria-label={`CSV: ${title}`}
          disabled={task.isBusy}
          onClick={download}
        >
          <Download size={14} aria-hidden />
          CSV
        </Button>
      </header>
      <div className="min-w-0 flex-1 p-4">
        {read.isPending && <div role="status" aria-label="Loading" className="h-24 animate-pulse rounded bg-sunken" />}
        {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
        {empty === null ? children : <p className="text-sm text-soft">{empty}</p>}
      </div>
      {hint !== undefined && <p className="border-t border-line px-4 py-2 text-xs text-faint">{hint}</p>}
    </section>
  );
}

type Column = { name: string; isNumber?: boolean; look?: string };

export function FigureTable({ name, columns, children }: { name: string; columns: Column[]; children: ReactNode }) {
  return (
    <div className="max-h-96 overflow-auto" tabIndex={0} role="region" aria-label={`${name}, table`}>
      <table className="w-full border-collapse text-sm tabular-nums">
        <thead className="sticky top-0 bg-surface text-xs text-faint">
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={`py-1 pr-4 font-medium whitespace-nowrap last:pr-0 ${column.isNumber ? "text-right" : "text-left"} ${column.look ?? ""}`}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export const cellLook = "py-1.5 pr-4 text-right last:pr-0";
export const nameLook = "max-w-72 min-w-36 py-1.5 pr-4 text-left font-normal [overflow-wrap:anywhere]";
