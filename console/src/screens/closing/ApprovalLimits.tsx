import type { ApprovalSettings } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { settingsQuery } from "../../approving/queries.ts";
import { Button } from "../../parts/Button.tsx";
import { Alert, inputLook } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble, wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { AmountRows } from "./AmountRows.tsx";

// Which changes need a second person. Only admins can edit it.
export function ApprovalLimits() {
  const { client } = useWorkspace();
  const read = useQuery(settingsQuery(client));
  if (read.isPending) return <Loading lines={3} name="Loading the approval settings" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <LimitsForm stored={read.data} />
    </>
  );
}

// A draft keeps the version that it started from, so no input is lost when a colleague saves first.
function LimitsForm({ stored }: { stored: ApprovalSettings }) {
  const { may } = useWorkspace();
  const [draft, setDraft] = useState<ApprovalSettings | null>(null);
  const { problem, isBusy, save } = useSaving(() => setDraft(null));
  const isOff = !may("update:tenant");
  const settings = draft ?? stored;
  const isStale = settings.approval_settings_version !== stored.approval_settings_version;
  const isChanged = draft !== null && (isStale || JSON.stringify(draft) !== JSON.stringify(stored));
  const fault = isStale ? "Somebody else changed these settings. Your changes have not been saved." : problem;
  const change = (some: Partial<ApprovalSettings>) => setDraft({ ...settings, ...some });
  return (
    <Section
      title="Changes that need a second person"
      aside={<GuideLink page="investigators#a-second-person" about="approvals" />}
    >
      <p className="mb-4 max-w-[52rem] text-soft">
        Nobody can make these changes alone. The console offers to request approval, and another person approves exactly what the
        requester saw. {isOff && "Only admins can change this."}
      </p>
      <fieldset disabled={isOff} className="grid gap-4">
        <Bulk settings={settings} onChange={change} onNone={() => setDraft(withoutBulk(settings))} />
        <Check label="Blocking an account" value={settings.blocking} onValue={(blocking) => change({ blocking })} />
        <AmountRows amounts={settings.amounts} onAmounts={(amounts) => change({ amounts })} />
        <Check
          label="Apply to API clients too"
          hint="Clients cannot request approval. Their change is refused, and a person has to make it."
          value={settings.includes_clients}
          onValue={(includes_clients) => change({ includes_clients })}
        />
      </fieldset>
      {fault !== null && (
        <div className="mt-4">
          <Alert>{fault}</Alert>
        </div>
      )}
      {!isOff && (
        <div className="mt-4 flex justify-end gap-2">
          <Button disabled={!isChanged || isBusy} onClick={() => setDraft(null)}>
            {isStale ? "Show the current settings" : "Reset"}
          </Button>
          <Button look="primary" disabled={!isChanged || isStale || isBusy} onClick={() => void save(settings)}>
            {isBusy ? "Saving…" : "Save"}
          </Button>
        </div>
      )}
    </Section>
  );
}

function useSaving(onSaved: () => void) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { queryKey } = settingsQuery(client);
  async function save({ updated_at: _at, updated_by: _by, ...body }: ApprovalSettings): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      cache.setQueryData(queryKey, await client.call("updateApprovalSettings", { body }));
      void cache.invalidateQueries({ queryKey: ["approvals", "check"] });
      onSaved();
      toast({ kind: "done", words: "Saved. The new settings apply from now on." });
    } catch (error) {
      setProblem(wordsOf(error));
      // Loads what a colleague saved first.
      void cache.invalidateQueries({ queryKey });
    }
    setBusy(false);
  }
  return { problem, isBusy, save };
}

function withoutBulk({ bulk_over: _over, bulk_minutes: _minutes, ...rest }: ApprovalSettings): ApprovalSettings {
  return rest;
}

type BulkProps = { settings: ApprovalSettings; onChange: (some: Partial<ApprovalSettings>) => void; onNone: () => void };

function Bulk({ settings: { bulk_over: over, bulk_minutes: minutes = 60 }, onChange, onNone }: BulkProps) {
  const id = useId();
  return (
    <div className="grid gap-2">
      <Check
        label="Closing many cases"
        value={over !== undefined}
        onValue={(isOn) => (isOn ? onChange({ bulk_over: 20, bulk_minutes: 60 }) : onNone())}
      />
      {over !== undefined && (
        <div className="ml-6 flex flex-wrap items-center gap-2">
          <label htmlFor={`${id}-over`}>More than</label>
          <input
            id={`${id}-over`}
            type="number"
            min={1}
            max={500}
            className={`${inputLook} !w-20`}
            value={over}
            onChange={({ target }) => onChange({ bulk_over: Number(target.value) })}
          />
          <label htmlFor={`${id}-minutes`}>cases by one person within</label>
          <input
            id={`${id}-minutes`}
            type="number"
            min={1}
            max={1440}
            className={`${inputLook} !w-20`}
            value={minutes}
            onChange={({ target }) => onChange({ bulk_minutes: Number(target.value) })}
          />
          <span>minutes</span>
        </div>
      )}
    </div>
  );
}

type CheckProps = { label: string; hint?: string; value: boolean; onValue: (value: boolean) => void };

function Check({ label, hint, value, onValue }: CheckProps) {
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-0.5 size-4 accent-accent"
        checked={value}
        onChange={({ target }) => onValue(target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-soft">{hint}</span>}
      </span>
    </label>
  );
}
