import { useQuery } from "@tanstack/react-query";
import { Empty } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

// "No cases" must not be taken for "not connected".
export function EmptyQueue({ isFiltered }: { isFiltered: boolean }) {
  const { queries, may } = useWorkspace();
  const last = useQuery({ ...queries.lastActivity(), enabled: may("read:metrics") });
  return (
    <Empty title={isFiltered ? "No case fits these filters" : "No open cases"}>
      {last.data !== undefined &&
        (last.data === null ? (
          <p>No event came in within the last 24 hours: is the site connected?</p>
        ) : (
          <p>
            The last event came in <Age at={last.data} suffix=" ago" />.
          </p>
        ))}
    </Empty>
  );
}
