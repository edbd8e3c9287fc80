import { Plus, X } from "lucide-react";
import { useId } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { Id } from "../../parts/Id.tsx";
import { visible } from "../../parts/visible.ts";
import { roleName, useRoles } from "./roles.ts";

export type GroupRow = { id: number; group: string; role: string };
// `suggestions`: the id of a list of names that can be chosen.
type Props = { rows: GroupRow[]; onChange: (rows: GroupRow[]) => void; suggestions?: string };

export function GroupRows({ rows, onChange, suggestions }: Props) {
  const hints = useId();
  const change = (id: number, to: { group?: string; role?: string }) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...to } : row)));
  const add = () => onChange([...rows, { id: (rows.at(-1)?.id ?? 0) + 1, group: "", role: "investigator" }]);
  return (
    <>
      {rows.map(({ id, group, role }, index) => (
        <div key={id} className="grid gap-1">
          <div className="flex flex-wrap items-center gap-2 sm:flex-nowrap">
            <input
              aria-label={`Group ${index + 1}`}
              aria-describedby={`${hints}-${id}`}
              placeholder="Group"
              className={inputLook}
              value={group}
              maxLength={256}
              required
              list={suggestions}
              onChange={({ target }) => change(id, { group: target.value })}
            />
            <RoleSelect label={`Role of group ${index + 1}`} value={role} onChange={(value) => change(id, { role: value })} />
            <IconButton name={`Remove group ${index + 1}`} onClick={() => onChange(rows.filter((row) => row.id !== id))}>
              <X size={15} aria-hidden />
            </IconButton>
          </div>
          <p id={`${hints}-${id}`} className="text-xs text-warn [overflow-wrap:anywhere] empty:hidden">
            {visible(group) !== group && (
              <>
                This name has invisible characters: <Id id={group} />
              </>
            )}
          </p>
        </div>
      ))}
      <Button className="justify-self-start" onClick={add}>
        <Plus size={15} aria-hidden /> Add a group
      </Button>
    </>
  );
}

type Select = { label: string; value: string; isDisabled?: boolean; onChange: (role: string) => void };

export function RoleSelect({ label, value, isDisabled = false, onChange }: Select) {
  const roles = useRoles();
  return (
    <select
      aria-label={label}
      className={`${inputLook} !w-40 max-w-full shrink-0`}
      value={value}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.value)}
    >
      {roles.map(({ role }) => (
        <option key={role} value={role}>
          {roleName(role)}
        </option>
      ))}
    </select>
  );
}
