import type { PolicyDefinition } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Actor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";

const staleMs = 30_000;

type Props = { current: number; onUse: ((policy: PolicyDefinition) => void) | undefined };

// Who changed the policy and when. An earlier version can be loaded as a draft.
export function PolicyVersions({ current, onUse }: Props) {
  const { client } = useWorkspace();
  const read = useQuery({
    queryKey: ["policy", "versions"],
    queryFn: async ({ signal }) => (await client.call("listPolicyVersions", { signal })).versions,
    staleTime: staleMs,
  });
  return (
    <Section title="Versions">
      {read.isPending && <Loading lines={2} name="Loading the versions" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      <ol className="grid gap-2">
        {read.data?.map(({ policy_version: version, mode, rows, updated_at, updated_by }) => (
          <li key={version} className="flex flex-wrap items-center gap-x-3">
            <strong className="font-semibold">Version {version}</strong>
            <span>{mode === "on" ? "On" : "Shadow"}</span>
            <span className="text-soft">{rows.length === 1 ? "1 row" : `${rows.length} rows`}</span>
            <span className="[overflow-wrap:anywhere]">
              <Actor actor={updated_by} />
            </span>
            <span className="text-soft">
              <Moment at={updated_at} />
            </span>
            {onUse && version !== current && (
              <Button look="quiet" className="ml-auto" onClick={() => onUse({ mode, rows })}>
                Use as draft<span className="sr-only"> version {version}</span>
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}
