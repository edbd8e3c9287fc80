import type { Policy } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { ChangedMeanwhile } from "../../parts/ChangedMeanwhile.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { PolicyTable } from "./PolicyTable.tsx";
import { PolicyVersions } from "./PolicyVersions.tsx";
import { RowDialog } from "./RowDialog.tsx";
import { Trial } from "./Trial.tsx";
import { usePolicyDraft, type PolicyDrafting } from "./usePolicyDraft.ts";

const staleMs = 30_000;
const rowsMax = 50;

// Shows and edits what to answer at a log-in or checkout.
export function PolicyTab() {
  const { client } = useWorkspace();
  const read = useQuery({
    queryKey: ["policy"],
    queryFn: ({ signal }) => client.call("getPolicy", { signal }),
    staleTime: staleMs,
  });
  if (read.isPending) return <Loading lines={6} name="Loading the policy" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <PolicyForm stored={read.data} />
    </>
  );
}

function PolicyForm({ stored }: { stored: Policy }) {
  const { may } = useWorkspace();
  const drafting = usePolicyDraft(stored);
  const [edited, setEdited] = useState<number | null>(null);
  const mayManage = may("manage:rules");
  const { wanted, problem, tried } = drafting;
  const aside = (
    <div className="flex flex-wrap items-center gap-3">
      <span className="text-xs text-faint">
        version {stored.policy_version}, changed <Age at={stored.updated_at} suffix=" ago" /> by {nameOfActor(stored.updated_by)}
      </span>
      <GuideLink page="policies" about="the policy" />
    </div>
  );
  return (
    <div className="mx-auto grid max-w-[88rem] grid-cols-1 gap-4 p-5">
      <Section title="What to do" aside={aside}>
        <p className="mb-4 max-w-[52rem] text-soft">
          When your server asks about a log-in, a sign-up, a change or a payment, the first row that matches decides. If no row
          matches, the answer is Allow. A blocked account always gets Block.
          {!mayManage && " Only leads and admins can change the policy."}
        </p>
        <Mode drafting={drafting} isOff={!mayManage} />
        <Conflict stored={stored} drafting={drafting} />
        <PolicyTable
          rows={wanted.rows}
          counts={tried?.tried.rows}
          onRows={mayManage ? (rows) => drafting.change({ rows }) : undefined}
          onEdit={setEdited}
        />
        {problem !== null && (
          <div className="mt-4">
            <Alert>Not accepted: {problem}.</Alert>
          </div>
        )}
        {mayManage && <Acts drafting={drafting} onAdd={() => setEdited(wanted.rows.length)} />}
      </Section>
      {tried && <Trial of={tried} />}
      <PolicyVersions current={stored.policy_version} onUse={mayManage ? drafting.change : undefined} />
      {edited !== null && (
        <RowDialog
          key={edited}
          row={wanted.rows[edited]}
          onClose={() => setEdited(null)}
          onRow={(row) => {
            drafting.change({ rows: [...wanted.rows.slice(0, edited), row, ...wanted.rows.slice(edited + 1)] });
            setEdited(null);
          }}
        />
      )}
    </div>
  );
}

function Mode({ drafting: { wanted, change }, isOff }: { drafting: PolicyDrafting; isOff: boolean }) {
  const modes = [
    { mode: "on" as const, name: "On", hint: "The policy decides the answer." },
    {
      mode: "shadow" as const,
      name: "Shadow",
      hint: "The answer is always Allow, and says what the policy would have answered.",
    },
  ];
  return (
    <fieldset disabled={isOff} className="mb-4 flex flex-wrap gap-4">
      <legend className="sr-only">Mode</legend>
      {modes.map(({ mode, name, hint }) => (
        <label key={mode} className="flex items-center gap-2">
          <input
            type="radio"
            name="policy-mode"
            className="accent-accent"
            checked={wanted.mode === mode}
            onChange={() => change({ mode })}
          />
          <span className="font-medium">{name}</span>
          <span className="text-xs text-soft">{hint}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Acts({ drafting, onAdd }: { drafting: PolicyDrafting; onAdd: () => void }) {
  const { wanted, busy, isTouched, isOld, attempt, save, putBack } = drafting;
  const isBusy = busy !== null;
  return (
    <div className="mt-4 flex flex-wrap items-center gap-2">
      <Button onClick={onAdd} disabled={isBusy || wanted.rows.length >= rowsMax}>
        <Plus size={15} aria-hidden /> Add a row
      </Button>
      <span className="flex-1" />
      <Button look="quiet" onClick={putBack} disabled={!isTouched || isBusy}>
        Reset
      </Button>
      <Button onClick={() => void attempt()} disabled={isBusy}>
        {busy === "try" ? "Trying…" : "Try on the last 30 days"}
      </Button>
      <Button look="primary" onClick={() => void save()} disabled={!isTouched || isBusy || isOld}>
        Save the policy
      </Button>
    </div>
  );
}

function Conflict({ stored, drafting: { isOld, putBack, goOn } }: { stored: Policy; drafting: PolicyDrafting }) {
  if (!isOld) return null;
  return (
    <ChangedMeanwhile stored={stored} onUseTheirs={putBack} onContinue={goOn}>
      . Your changes were not saved, but they are kept here.
    </ChangedMeanwhile>
  );
}
