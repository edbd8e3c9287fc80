import type { ScoredActivity } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { PartNotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { LatestTable } from "./LatestTable.tsx";
import { QuarantineHint } from "./QuarantineHint.tsx";
import { latestMax, readsOf } from "./reads.ts";

const quietMs = 15 * 60_000;
const count = new Intl.NumberFormat();

// Answers "is it connected?": what arrived last, from where, and what could not be used.
export function Connection() {
  const { client, may } = useWorkspace();
  const isAllowed = may("read:enduseraccounts");
  const latest = useQuery({ ...readsOf(client).latest(), enabled: isAllowed });
  if (!isAllowed)
    return (
      <Section title="Is it connected?">
        <PartNotAvailable scope="read:enduseraccounts" />
      </Section>
    );
  return (
    <Section title="Is it connected?" aside={latest.data && <State activities={latest.data.activities} />}>
      {latest.isPending && <Loading lines={5} name="Loading the latest events" />}
      {latest.isError && <Trouble error={latest.error} onRetry={() => void latest.refetch()} />}
      {latest.data && (
        <div className="grid gap-4">
          <Figures activities={latest.data.activities} />
          {may("read:metrics") && <QuarantineHint />}
          <LatestTable activities={latest.data.activities} />
        </div>
      )}
    </Section>
  );
}

function State({ activities: [newest] }: { activities: ScoredActivity[] }) {
  const isQuiet = newest !== undefined && Date.now() - Date.parse(newest.received_at) > quietMs;
  const look = newest === undefined ? "bg-sunken text-soft" : isQuiet ? "bg-warn-soft text-warn" : "bg-good-soft text-good";
  const words = newest === undefined ? "No events received yet" : isQuiet ? "Quiet" : "Connected";
  return (
    <span role="status" className={`inline-flex items-center gap-1.5 rounded px-2 py-0.5 text-xs font-semibold ${look}`}>
      <span aria-hidden className="size-1.5 rounded-full bg-current" />
      {words}
    </span>
  );
}

function Figures({ activities }: { activities: ScoredActivity[] }) {
  const { client, may } = useWorkspace();
  const day = useQuery({ ...readsOf(client).ofTheDay(), enabled: may("read:metrics") });
  const lastOf = (origin: ScoredActivity["origin"]) => {
    const found = activities.find((each) => each.origin === origin);
    if (found) return <Age at={found.received_at} suffix=" ago" />;
    return activities.length < latestMax ? "never" : `not among the last ${latestMax}`;
  };
  const missing = may("read:metrics") ? (day.isError ? "not known" : "…") : "not available";
  const dayWords = day.data === undefined ? missing : count.format(day.data);
  return (
    <dl className="grid grid-cols-3 gap-4">
      <Figure name="From browsers">{lastOf("browser")}</Figure>
      <Figure name="From your servers">{lastOf("server")}</Figure>
      <Figure name="Events in the last 24 hours">{dayWords}</Figure>
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold">{children}</dd>
    </div>
  );
}
