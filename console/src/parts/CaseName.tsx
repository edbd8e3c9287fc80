import { unknownAccount, type CaseListItem } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../session/workspace.tsx";
import { subjectName } from "./subject.ts";

type Props = { row: Pick<CaseListItem, "case_id" | "website_account_id">; className: string };

// What a row of the list of cases is about. The row itself does not contain the subject of a case without an account.
export function CaseName({ row, className }: Props) {
  const { queries } = useWorkspace();
  const { data } = useQuery({ ...queries.digest(row), enabled: row.website_account_id === unknownAccount });
  const name = subjectName(row.website_account_id, data?.subject);
  return (
    <span className={className} title={name}>
      <bdi>{name}</bdi>
    </span>
  );
}
