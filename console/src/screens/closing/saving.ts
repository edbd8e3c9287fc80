import {
  ProblemError,
  type OwnDisposition,
  type OwnDispositions,
  type ReasonTemplate,
  type ReasonTemplates,
} from "@casehound/client";
import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { ownDispositionQuery } from "../../closing/own-dispositions.ts";
import { templateQuery } from "../../closing/templates.ts";
import { useWorkspace } from "../../session/workspace.tsx";

// Saves all entries, based on the version that is shown. If a colleague was faster, theirs are read, and nothing is saved.
function useSaving<T>(queryKey: QueryKey, send: (entries: T[]) => Promise<unknown>): (entries: T[]) => Promise<void> {
  const cache = useQueryClient();
  return async (entries) => {
    try {
      cache.setQueryData(queryKey, await send(entries));
    } catch (error) {
      if (error instanceof ProblemError && error.type === "item-version-conflict") await cache.invalidateQueries({ queryKey });
      throw error;
    }
  };
}

export function useSavingTemplates({ templates_version }: ReasonTemplates) {
  const { client } = useWorkspace();
  return useSaving<ReasonTemplate>(templateQuery(client).queryKey, (templates) =>
    client.call("updateReasonTemplates", { body: { templates, templates_version } }),
  );
}

export function useSavingDispositions({ dispositions_version }: OwnDispositions) {
  const { client } = useWorkspace();
  return useSaving<OwnDisposition>(ownDispositionQuery(client).queryKey, (own_dispositions) =>
    client.call("updateDispositions", { body: { own_dispositions, dispositions_version } }),
  );
}
