import { dispositions, type OwnDisposition, type OwnDispositions } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { nameOfActor } from "../../parts/Actor.tsx";
import { ownDispositionQuery } from "../../closing/own-dispositions.ts";
import { dispositionWords } from "../../parts/Badges.tsx";
import { Field, inputLook } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { EntryList, withEntry } from "./EntryList.tsx";
import { useSavingDispositions } from "./saving.ts";

// Shows the tenant's own outcomes and what each counts as. Admins edit them.
export function OwnOutcomes() {
  const { client } = useWorkspace();
  const read = useQuery(ownDispositionQuery(client));
  if (read.isPending) return <Loading lines={3} name="Loading the outcomes" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <OutcomeList stored={read.data} />
    </>
  );
}

function OutcomeList({ stored }: { stored: OwnDispositions }) {
  const { may } = useWorkspace();
  const save = useSavingDispositions(stored);
  const mayManage = may("update:tenant");
  const aside = (
    <div className="flex flex-wrap items-center gap-3">
      {stored.dispositions_version > 1 && (
        <span className="text-xs text-faint">
          version {stored.dispositions_version}, changed <Age at={stored.updated_at} suffix=" ago" /> by{" "}
          {nameOfActor(stored.updated_by)}
        </span>
      )}
      <GuideLink page="investigators#custom-outcomes" about="custom outcomes" />
    </div>
  );
  return (
    <Section title="Custom outcomes" aside={aside}>
      <p className="mb-2 max-w-[52rem] text-soft">
        Your team’s own outcomes are more specific than confirmed fraud, false positive and inconclusive. Each counts as one of
        the three.
        {stored.own_dispositions.length === 0 && " There are none yet."}
        {!mayManage && " Only admins can change them."}
      </p>
      <EntryList
        name="Custom outcomes"
        entries={stored.own_dispositions}
        save={mayManage ? save : undefined}
        add="Add an outcome"
        onDeleted="Cases that were closed with it keep it."
        dialog={(own, onClose) => <OutcomeDialog own={own} stored={stored} onClose={onClose} />}
        show={({ name, disposition }) => (
          <>
            <p className="min-w-0 flex-1 basis-72 font-medium [overflow-wrap:anywhere]">{visible(name)}</p>
            <p className="basis-56 text-sm text-soft">counts as {dispositionWords[disposition].toLowerCase()}</p>
          </>
        )}
      />
    </Section>
  );
}

type DialogProps = { own: OwnDisposition | null; stored: OwnDispositions; onClose: () => void };

// Adds an outcome, or changes one, which is found by its name.
function OutcomeDialog({ own, stored: { own_dispositions: all, ...stored }, onClose }: DialogProps) {
  const save = useSavingDispositions({ own_dispositions: all, ...stored });
  return (
    <FormDialog
      title={own ? "Edit the outcome" : "Add an outcome"}
      width="small"
      act="Save"
      actBusy="Saving…"
      onClose={onClose}
      refuse={(typed) => {
        const name = typed("name").trim();
        if (name === "") return "An outcome needs a name.";
        return name !== own?.name && all.some((each) => each.name === name) ? "Another outcome has this name." : null;
      }}
      run={async (typed) => {
        const disposition = dispositions.find((each) => each === typed("disposition")) ?? "CONFIRMED_FRAUD";
        await save(withEntry(all, own?.name, { name: typed("name").trim(), disposition }));
        onClose();
      }}
    >
      <Field
        name="name"
        label="Name"
        maxLength={60}
        defaultValue={own?.name}
        hint={own ? "Cases that were closed with the old name keep it." : undefined}
        data-first-focus=""
      />
      <label className="grid gap-1 text-sm font-medium">
        Counts as
        <select name="disposition" defaultValue={own?.disposition} className={`${inputLook} font-normal`}>
          {dispositions.map((each) => (
            <option key={each} value={each}>
              {dispositionWords[each]}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
