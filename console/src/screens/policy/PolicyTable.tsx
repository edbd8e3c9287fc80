import type { PolicyOutcome, PolicyRow } from "@casehound/client";
import { Ellipsis, Lock } from "lucide-react";
import { IconButton } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { momentsOf, policyActionWords, scoresOf } from "./words.ts";

type Counts = PolicyOutcome["rows"];
type Props = {
  rows: PolicyRow[];
  // How many activities each row decided in the try-out.
  counts: Counts | undefined;
  // Absent if the person may not change the policy.
  onRows: ((rows: PolicyRow[]) => void) | undefined;
  onEdit: (index: number) => void;
};

export function PolicyTable({ rows, counts, onRows, onEdit }: Props) {
  return (
    <div className="relative overflow-x-auto rounded-lg border border-line">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">The rows of the policy. The first row that matches decides.</caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            {["#", "Name", "Moment", "Score", "Label", "List", "Answer"].map((name) => (
              <th key={name} scope="col" className="py-2 pr-3 font-medium first:pl-4">
                {name}
              </th>
            ))}
            {counts && (
              <th scope="col" className="py-2 pr-3 text-right font-medium">
                30 days
              </th>
            )}
            <th className="w-12 py-2 pr-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Row key={index} row={row} place={index} count={counts?.[index]}>
              {onRows && <RowMenu rows={rows} index={index} onRows={onRows} onEdit={onEdit} />}
            </Row>
          ))}
          <tr className="text-soft">
            <td className="py-2 pr-3 pl-4">–</td>
            <td className="py-2 pr-3" colSpan={5}>
              Everything else
            </td>
            <td className="py-2 pr-3">
              <Answer action="ALLOW" />
            </td>
            <td colSpan={counts ? 2 : 1} />
          </tr>
        </tbody>
      </table>
    </div>
  );
}

type RowProps = { row: PolicyRow; place: number; count: Counts[number] | undefined; children: React.ReactNode };

function Row({ row, place, count, children }: RowProps) {
  return (
    <tr className="border-b border-line">
      <td className="py-2 pr-3 pl-4 text-faint">{place + 1}</td>
      <td className="max-w-56 truncate py-2 pr-3 font-medium" title={row.name}>
        {row.name ?? "–"}
      </td>
      <td className="py-2 pr-3">{momentsOf(row)}</td>
      <td className="py-2 pr-3">{scoresOf(row)}</td>
      <td className="py-2 pr-3">{row.labels?.join(", ") ?? "Any"}</td>
      <td className="max-w-40 min-w-16 py-2 pr-3 [overflow-wrap:anywhere]">{row.lists?.join(", ") ?? "Any"}</td>
      <td className="py-2 pr-3">
        <span className="inline-flex items-center gap-1.5">
          <Answer action={row.action} />
          {row.set_quarantined === true && (
            <span className="inline-flex items-center gap-1 text-xs text-soft" title="Also quarantines the account">
              <Lock size={13} aria-hidden /> quarantines
            </span>
          )}
        </span>
      </td>
      {count && (
        <td className="py-2 pr-3 text-right whitespace-nowrap">
          {count.activities.toLocaleString()}
          <span className="block text-xs text-faint">known frauds: {count.frauds.toLocaleString()}</span>
        </td>
      )}
      <td className="py-2 pr-2">{children}</td>
    </tr>
  );
}

function Answer({ action }: { action: PolicyRow["action"] }) {
  const { name, look } = policyActionWords[action];
  return <span className={`rounded px-1.5 py-px text-xs font-semibold ${look}`}>{name}</span>;
}

type MenuProps = { rows: PolicyRow[]; index: number; onRows: (rows: PolicyRow[]) => void; onEdit: (index: number) => void };

function RowMenu({ rows, index, onRows, onEdit }: MenuProps) {
  const name = `Actions for row ${index + 1}`;
  const items = [
    { name: "Edit…", run: () => onEdit(index) },
    ...(index > 0 ? [{ name: "Move up", run: () => onRows(swapped(rows, index - 1)) }] : []),
    ...(index < rows.length - 1 ? [{ name: "Move down", run: () => onRows(swapped(rows, index)) }] : []),
    { name: "Remove", run: () => onRows(rows.filter((_, place) => place !== index)) },
  ];
  const trigger = (
    <IconButton name={name}>
      <Ellipsis size={16} aria-hidden />
    </IconButton>
  );
  return <Menu name={name} trigger={trigger} groups={[{ items }]} />;
}

// Swaps this row and the next.
function swapped(rows: PolicyRow[], index: number): PolicyRow[] {
  return [...rows.slice(0, index), ...rows.slice(index, index + 2).toReversed(), ...rows.slice(index + 2)];
}
