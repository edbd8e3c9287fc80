import type { QuarantineEntry } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { readsOf } from "./reads.ts";

const reasonWords: Record<QuarantineEntry["reason"], string> = {
  "bad-gzip": "invalid gzip",
  "unpacked-too-large": "too large when decompressed",
  "too-deep": "nested too deeply",
  "too-many-members": "too many members",
  "not-json": "not JSON",
  "not-an-array": "not a list of events",
  "too-many-events": "too many events at once",
  "not-an-object": "an event that is not an object",
  "no-event-id": "an event without an id",
  "no-event-type": "an event without a type",
  "bad-timestamp": "an event without a usable time",
  "too-old": "too old",
  unstorable: "text that cannot be stored",
  "id-reused": "an id used for two events",
  "over-quota": "more than the quotas allow",
  "wrong-hash": "a wrong hash",
  "foreign-tenant-id": "another tenant's id",
};

const count = new Intl.NumberFormat();

// What browsers sent that could not be used, or not as it was. Renders nothing if there is none.
export function QuarantineHint() {
  const { client } = useWorkspace();
  const { data, isLoadingError, error } = useQuery(readsOf(client).quarantine());
  if (isLoadingError)
    return <p className="text-sm text-soft">Events that were not accepted could not be loaded: {wordsOf(error)}</p>;
  if (!data || data.counts.length === 0) return null;
  const byReason = new Map<QuarantineEntry["reason"], number>();
  for (const { reason, count: n } of data.counts) byReason.set(reason, (byReason.get(reason) ?? 0) + n);
  const total = [...byReason.values()].reduce((sum, n) => sum + n, 0);
  const reasons = [...byReason].toSorted(([, a], [, b]) => b - a);
  return (
    <details className="rounded-md border border-line bg-warn-soft text-sm">
      <summary className="flex items-center gap-2 px-3 py-2 text-warn">
        <TriangleAlert size={15} className="shrink-0" aria-hidden />
        <span className="min-w-0">
          <strong className="font-semibold">
            {total === 1 ? "1 browser event was" : `${count.format(total)} browser events were`} not accepted as sent:
          </strong>{" "}
          {reasons.map(([reason, n]) => `${reasonWords[reason]} (${count.format(n)})`).join(", ")}
        </span>
      </summary>
      <ul className="grid gap-2 border-t border-line bg-surface px-3 py-2">
        {data.quarantine.map((entry) => (
          <li key={entry.quarantine_id} className="grid gap-1 border-b border-line pb-2 last:border-0 last:pb-0">
            <p>
              {entry.detail}{" "}
              <span className="text-faint">
                <Age at={entry.received_at} suffix=" ago" />
              </span>
            </p>
            <code className="line-clamp-2 font-mono text-xs break-all text-soft">{entry.excerpt}</code>
          </li>
        ))}
        {data.next_cursor !== null && (
          <li className="text-soft">
            These are the latest {data.quarantine.length}.{" "}
            <Link to="/detection" search={{ tab: "not-accepted" }} className="text-accent underline">
              Show all that are kept
            </Link>
          </li>
        )}
      </ul>
    </details>
  );
}
