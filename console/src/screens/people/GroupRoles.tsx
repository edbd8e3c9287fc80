import { Field } from "../../parts/Field.tsx";
import { GroupRows, RoleSelect } from "./GroupRows.tsx";
import type { IssuerDraft } from "./issuer-draft.ts";

type Props = { draft: IssuerDraft; onChange: (change: Partial<IssuerDraft>) => void };

// Which groups give which role, and what happens to everybody else.
export function GroupRoles({ draft, onChange }: Props) {
  const { role_groups: rows } = draft;
  return (
    <fieldset className="grid gap-3 rounded-lg border border-line p-3">
      <legend className="px-1 text-sm font-medium">Roles by group</legend>
      <p className="text-xs text-soft">
        {rows.length === 0
          ? "Until you add a group, people keep their role in Casehound."
          : "At each sign-in, people get the role of the first group in this list that they belong to."}
      </p>
      <GroupRows rows={rows} onChange={(role_groups) => onChange({ role_groups })} />
      {rows.length > 0 && <Otherwise draft={draft} onChange={onChange} />}
    </fieldset>
  );
}

function Otherwise({ draft, onChange }: Props) {
  return (
    <>
      <div className="grid gap-1 text-sm" role="radiogroup" aria-label="People in none of these groups">
        <p className="font-medium">People in none of these groups</p>
        <Choice isOn={draft.without_group === "refuse"} onChoose={() => onChange({ without_group: "refuse" })}>
          cannot sign in
        </Choice>
        <div className="flex flex-wrap items-center gap-2">
          <Choice isOn={draft.without_group === "default_role"} onChoose={() => onChange({ without_group: "default_role" })}>
            get the role
          </Choice>
          <RoleSelect
            label="Role of everybody else"
            value={draft.default_role}
            isDisabled={draft.without_group === "refuse"}
            onChange={(default_role) => onChange({ default_role })}
          />
        </div>
      </div>
      <Field
        name="groups_claim"
        label="Groups claim"
        value={draft.groups_claim}
        onChange={({ target }) => onChange({ groups_claim: target.value })}
        maxLength={200}
        required
        autoComplete="off"
        hint="The claim that lists a person's groups, usually groups. Microsoft Entra ID sends group ids, not names."
      />
    </>
  );
}

function Choice({ isOn, onChoose, children }: { isOn: boolean; onChoose: () => void; children: string }) {
  return (
    <label className="inline-flex items-center gap-2">
      <input type="radio" name="without_group" checked={isOn} onChange={onChoose} className="accent-accent" />
      {children}
    </label>
  );
}
