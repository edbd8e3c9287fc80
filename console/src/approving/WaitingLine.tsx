import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { UserCheck } from "lucide-react";
import { nameOfActor } from "../parts/Actor.tsx";
import { Age } from "../parts/Time.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { caseApprovalsQuery } from "./queries.ts";

// Says on a case's page that its close waits for a second person.
export function WaitingLine({ caseId }: { caseId: string }) {
  const { client } = useWorkspace();
  const { data: waiting = [] } = useQuery(caseApprovalsQuery(client, caseId));
  const [first] = waiting;
  if (!first) return null;
  return (
    <Link
      to="/approvals"
      search={{ open: first.approval_id }}
      className="no-print flex min-h-7 items-center gap-1.5 text-xs text-accent hover:underline"
    >
      <UserCheck size={14} aria-hidden className="shrink-0" />
      <span>
        {nameOfActor(first.requested_by)} requested approval to close this case · <Age at={first.requested_at} suffix=" ago" />
      </span>
    </Link>
  );
}
