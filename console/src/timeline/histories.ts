import { useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { historiesOf, type Histories } from "../data/histories.ts";
import { useWorkspace } from "../session/workspace.tsx";

export function useHistories(): Histories {
  const { client } = useWorkspace();
  return useMemo(() => historiesOf(client), [client]);
}

// A rule by the name that people know it by; who may not read rules sees their ids.
export function useRuleNames(): (ruleId: string) => string {
  const { may } = useWorkspace();
  const names = useQuery({ ...useHistories().ruleNames(), enabled: may("read:rules") });
  return (ruleId) => names.data?.get(ruleId) ?? ruleId;
}

// Whose timeline it is: the account's own events stand out, and what is read of sessions is kept with it.
export type Whose = { key: QueryKey; websiteAccountId: string; caseId?: string };
