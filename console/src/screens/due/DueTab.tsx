import type { DueTimes } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { DraftEnd, useDraft } from "../../parts/Draft.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { DaysOff } from "./DaysOff.tsx";
import { TargetTable } from "./TargetTable.tsx";

const staleMs = 30_000;
const queryKey = ["due-times"];
const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

// Shows how soon cases must be decided. Admins can edit it.
export function DueTab() {
  const { client } = useWorkspace();
  const read = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.call("getDueTimes", { signal }),
    staleTime: staleMs,
  });
  const tenant = useQuery({
    queryKey: ["tenant"],
    queryFn: ({ signal }) => client.call("getTenant", { signal }),
    staleTime: staleMs,
  });
  if (read.isPending) return <Loading lines={6} name="Loading the due times" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <DueForm stored={read.data} zone={tenant.data?.time_zone} />
    </>
  );
}

function DueForm({ stored, zone }: { stored: DueTimes; zone: string | undefined }) {
  const { client, may } = useWorkspace();
  const { settings, change, state } = useDraft({
    stored,
    versionOf: (times) => times.due_times_version,
    queryKey,
    send: (body) => client.call("updateDueTimes", { body }),
    name: "due times",
    saved: "The due times were saved. They apply to cases opened or reopened from now on.",
  });
  const isOff = !may("update:tenant");
  return (
    <div className="mx-auto grid max-w-[88rem] gap-4 p-5">
      <Section title="Due times" aside={<GuideLink page="investigators#due-times" about="due times" />}>
        <p className="mb-4 max-w-[46rem] text-soft">
          The first row that matches the score and label of a case says when the case is due. Cases that match no row have no due
          time. {isOff && "Only admins can change them."}
        </p>
        <TargetTable targets={settings.targets} isOff={isOff} onTargets={(targets) => change({ targets })} />
        <Hours times={settings} zone={zone} isOff={isOff} onChange={change} />
        <DaysOff days={settings.days_off} isOff={isOff} onDays={(days_off) => change({ days_off })} />
        <DraftEnd draft={state} isOff={isOff} />
      </Section>
    </div>
  );
}

type HoursProps = { times: DueTimes; zone: string | undefined; isOff: boolean; onChange: (some: Partial<DueTimes>) => void };

function Hours({ times: { days, start, end }, zone, isOff, onChange }: HoursProps) {
  const id = useId();
  const toggle = (day: number) =>
    onChange({ days: days.includes(day) ? days.filter((each) => each !== day) : [...days, day].toSorted((a, b) => a - b) });
  return (
    <fieldset className="mt-5 grid gap-3 border-t border-line pt-4" disabled={isOff}>
      <legend className="float-left mb-2 w-full text-sm font-medium">Working hours{zone !== undefined && ` (${zone})`}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        {weekdays.map((name, index) => (
          <label key={name} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={days.includes(index + 1)}
              disabled={days.length === 1 && days.includes(index + 1)}
              onChange={() => toggle(index + 1)}
            />
            {name}
          </label>
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <label htmlFor={`${id}-start`}>From</label>
        <input
          id={`${id}-start`}
          className={`${inputLook} !w-20`}
          pattern="([01][0-9]|2[0-3]):[0-5][0-9]"
          value={start}
          onChange={({ target }) => onChange({ start: target.value })}
        />
        <label htmlFor={`${id}-end`}>to</label>
        <input
          id={`${id}-end`}
          className={`${inputLook} !w-20`}
          value={end}
          onChange={({ target }) => onChange({ end: target.value })}
        />
        <span className="text-xs text-soft">24:00 is midnight.</span>
      </div>
    </fieldset>
  );
}
