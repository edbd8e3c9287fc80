import type { ApprovalSettings } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { settingsQuery } from "../../approving/queries.ts";
import { DraftEnd, useDraft } from "../../parts/Draft.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
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

function LimitsForm({ stored }: { stored: ApprovalSettings }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const { settings, setDraft, change, state } = useDraft({
    stored,
    versionOf: (each) => each.approval_settings_version,
    queryKey: settingsQuery(client).queryKey,
    send: async ({ updated_at: _at, updated_by: _by, ...body }) => {
      const saved = await client.call("updateApprovalSettings", { body });
      void cache.invalidateQueries({ queryKey: ["approvals", "check"] });
      return saved;
    },
    name: "settings",
    saved: "Saved. The new settings apply from now on.",
  });
  const isOff = !may("update:tenant");
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
      <DraftEnd draft={state} isOff={isOff} />
    </Section>
  );
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
