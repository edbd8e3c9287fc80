import { useQuery, type QueryKey } from "@tanstack/react-query";
import { useMemo } from "react";
import { historiesOf, type Histories } from "../data/histories.ts";
import { useWorkspace } from "../session/workspace.tsx";
import type { CaseEvidence } from "./grouping.ts";

export function useHistories(): Histories {
  const { client } = useWorkspace();
  return useMemo(() => historiesOf(client), [client]);
}

// Names a rule by its display name. People who may not read rules see the id.
export function useRuleNames(): (ruleId: string) => string {
  const { may } = useWorkspace();
  const names = useQuery({ ...useHistories().ruleNames(), enabled: may("read:rules") });
  return (ruleId) => names.data?.get(ruleId) ?? ruleId;
}

// Whose timeline it is. The account's own events are highlighted, and the sessions read are cached under this key.
export type Whose = { key: QueryKey; websiteAccountId: string; evidence?: CaseEvidence };
