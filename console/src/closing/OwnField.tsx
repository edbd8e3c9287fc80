import { useQuery } from "@tanstack/react-query";
import { dispositionWords } from "../parts/Badges.tsx";
import { inputLook } from "../parts/Field.tsx";
import { visible } from "../parts/visible.ts";
import { useWorkspace } from "../session/workspace.tsx";
import type { Draft } from "./draft.ts";
import { ownDispositionQuery } from "./own-dispositions.ts";

type Props = { draft: Draft; onDraft: (next: Draft) => void };

// Offers the tenant's own outcomes that count as the chosen one.
export function OwnField({ draft: { disposition, reason, own_disposition: own }, onDraft }: Props) {
  const { client } = useWorkspace();
  const { data } = useQuery(ownDispositionQuery(client));
  const offered = (data?.own_dispositions ?? []).filter((each) => each.disposition === disposition);
  if (disposition === null || offered.length === 0) return null;
  return (
    <label className="grid gap-1 text-sm font-medium">
      <span>
        More specific outcome <span className="font-normal text-faint">optional</span>
      </span>
      <select
        className={`${inputLook} font-normal`}
        value={own ?? ""}
        onChange={({ target: { value } }) => onDraft({ disposition, reason, ...(value !== "" && { own_disposition: value }) })}
      >
        <option value="">{dispositionWords[disposition]}</option>
        {offered.map(({ name }) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
