import { useQuery } from "@tanstack/react-query";
import { Empty, wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

// Readers must not mistake "no cases" for "not connected".
export function EmptyQueue({ isFiltered }: { isFiltered: boolean }) {
  const { queries } = useWorkspace();
  const counts = useQuery(queries.caseCounts());
  const last = counts.data?.last_activity_at;
  return (
    <Empty title={isFiltered ? "No cases match these filters" : "No open cases"}>
      {last === undefined && counts.isError && <p>The time of the last event could not be loaded: {wordsOf(counts.error)}</p>}
      {last !== undefined &&
        (last === null ? (
          <p>No events received yet. Is the site connected?</p>
        ) : (
          <p>
            The last event arrived <Age at={last} suffix=" ago" />.
          </p>
        ))}
    </Empty>
  );
}
