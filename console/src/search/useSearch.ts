import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useWorkspace } from "../session/workspace.tsx";
import { hitGroups, type HitGroup, type Target } from "./hits.tsx";

const settleMs = 120;
const textCharactersMax = 512;

// `isSettled`: the groups are the answer to the text as it is now.
export type Searching = { groups: HitGroup[]; isSettled: boolean; isComplete: boolean; hasFailed: boolean };

// Searches as somebody types. The last answer stays until the next one arrives, so the list does not flicker.
export function useSearch(given: string): Searching {
  const { queries, may } = useWorkspace();
  const text = given.trim().slice(0, textCharactersMax);
  const asked = useSettled(text);
  const isAllowed = may("read:cases") && may("read:enduseraccounts");
  const { data, isFetching, isPlaceholderData, isError } = useQuery({
    ...queries.search(asked),
    enabled: isAllowed && asked !== "",
    placeholderData: keepPreviousData,
    retry: 1,
  });
  const isEmpty = text === "" || !isAllowed;
  return {
    groups: isEmpty || !data ? [] : hitGroups(data),
    isSettled: isEmpty || (asked === text && !isFetching && !isPlaceholderData),
    isComplete: data?.is_complete ?? true,
    hasFailed: isError && !isEmpty,
  };
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export function useOpenTarget(): (target: Target) => void {
  const navigate = useNavigate();
  return (target) => {
    if (target.to === "account") void navigate({ to: "/accounts/$accountId", params: { accountId: target.id } });
    else if (target.to === "case") void navigate({ to: "/cases/$caseId", params: { caseId: target.id } });
    else void navigate({ to: "/links", search: { account: target.account, at: target.at } });
  };
}
