import type { Case, CaseListValue, List } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { inputLook } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ExpiryAndReason } from "./EntryDialog.tsx";
import { PreviewNote } from "./PreviewNote.tsx";
import { expiresAt } from "./expiry.ts";
import { useListQueries } from "./queries.ts";
import { kindFacts, nounOf } from "./words.ts";

type Props = { found: Pick<Case, "case_id">; onClose: () => void };

// Adds something that the case names to a list, with the case as the reason.
export function CaseListDialog({ found, onClose }: Props) {
  const queries = useListQueries();
  const values = useQuery(queries.caseValues(found.case_id));
  const lists = useQuery(queries.all);
  const title = "Add to a list";
  const failed = values.isLoadingError ? values : lists.isLoadingError ? lists : null;
  if (failed)
    return (
      <Dialog title={title} onClose={onClose}>
        <Trouble error={failed.error} onRetry={() => void failed.refetch()} />
      </Dialog>
    );
  if (!values.data || !lists.data)
    return (
      <Dialog title={title} onClose={onClose}>
        <Loading lines={4} name="Loading the values in this case" />
      </Dialog>
    );
  if (values.data.length === 0)
    return (
      <Dialog title={title} onClose={onClose}>
        <Empty title="Nothing to add">The case's evidence names no device, address, e-mail address, payee or instrument.</Empty>
      </Dialog>
    );
  return <Choosing found={found} values={values.data} lists={lists.data} onClose={onClose} />;
}

function Choosing({ found, values, lists, onClose }: Props & { values: CaseListValue[]; lists: List[] }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const id = useId();
  const [index, setIndex] = useState(0);
  const [name, setName] = useState<string | null>(null);
  const value = values[index];
  const fitting = lists.filter(({ type, kind }) => type === value?.type && (kind !== "allow" || may("manage:lists")));
  const list = fitting.find((each) => each.name === name) ?? fitting[0];
  return (
    <FormDialog
      title="Add to a list"
      act="Add"
      actBusy="Adding ..."
      onClose={onClose}
      refuse={() => (list ? null : "There is no list that takes this value.")}
      run={async (typed) => {
        if (!list || !value) return;
        const reason = typed("reason").trim();
        const from = { from_case_id: found.case_id, ...(reason !== "" && { reason }) };
        const entry = { value: value.value, ...expiresAt(typed("expiry"), Date.now()), ...from };
        await client.call("addListEntries", { params: { list_name: list.name }, body: { entries: [entry] } });
        await cache.invalidateQueries({ queryKey: ["lists"] });
        toast({ kind: "done", words: `${value.value} is on the list ${list.name}.` });
        onClose();
      }}
    >
      <fieldset className="grid min-w-0 grid-cols-1 gap-1">
        <legend className="mb-1 text-sm font-medium">What</legend>
        {values.slice(0, 12).map((each, at) => (
          <label key={`${each.type} ${each.value}`} className="flex flex-wrap items-baseline gap-x-2 text-sm">
            <input
              type="radio"
              name="which"
              checked={at === index}
              onChange={() => setIndex(at)}
              {...(at === 0 && { "data-first-focus": "" })}
            />
            <span className="w-28 shrink-0 text-soft max-sm:flex-1">{nounOf(each.type)}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-[13px] max-sm:basis-full max-sm:pl-5" title={each.value}>
              {each.value}
            </span>
            {each.source === "page" && (
              <span className="text-xs text-warn" title="Anybody can make a page name it">
                claimed by a page
              </span>
            )}
            {each.lists.length > 0 && <span className="text-xs text-faint">on {each.lists.join(", ")}</span>}
          </label>
        ))}
      </fieldset>
      <div className="grid gap-1">
        <label htmlFor={id} className="text-sm font-medium">
          List
        </label>
        <select id={id} className={inputLook} value={list?.name ?? ""} onChange={(event) => setName(event.target.value)}>
          {fitting.length === 0 && <option value="">No list takes this. Create one in Detection, Lists.</option>}
          {fitting.map((each) => (
            <option key={each.name} value={each.name}>
              {each.name} ({kindFacts[each.kind].name.toLowerCase()})
            </option>
          ))}
        </select>
      </div>
      {list && value && <PreviewNote list={list} value={value.value} />}
      <ExpiryAndReason />
    </FormDialog>
  );
}
