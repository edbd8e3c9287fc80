import { useQuery } from "@tanstack/react-query";
import { Navigate, useParams } from "@tanstack/react-router";
import { Empty, Loading, Trouble } from "../parts/States.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { filterOf } from "./views.ts";

// The address of a view in e-mails, which does not reveal the filter. It redirects to the queue.
export function ViewScreen() {
  const { queries } = useWorkspace();
  const { viewId } = useParams({ from: "/inside/views/$viewId" });
  const read = useQuery(queries.views());
  if (read.isPending) return <Loading name="Loading the view" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} isScreen />;
  const view = read.data.find(({ view_id }) => view_id === viewId);
  if (view) return <Navigate to="/" search={filterOf(view)} replace />;
  return (
    <Empty title="This view no longer exists" isScreen>
      It was deleted, or is no longer shared with you.
    </Empty>
  );
}
