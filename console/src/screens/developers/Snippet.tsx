import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CopyBlock } from "../../parts/Copy.tsx";
import { PartNotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { readsOf } from "./reads.ts";

export function Snippet() {
  const { client, may } = useWorkspace();
  const read = useQuery({ ...readsOf(client).snippet(), enabled: may("read:snippet") });
  const [chosen, choose] = useState(0);
  const snippets = read.data?.snippets ?? [];
  const at = snippets[chosen];
  return (
    <Section
      title="Web snippet"
      aside={
        snippets.length > 1 && (
          <div role="group" aria-label="Way to send" className="flex rounded-md border border-line p-0.5">
            {snippets.map(({ framework }, index) => (
              <button
                key={framework}
                type="button"
                aria-pressed={index === chosen}
                onClick={() => choose(index)}
                className={`rounded px-2 py-0.5 text-xs font-medium ${index === chosen ? "bg-accent-soft text-accent" : "text-soft hover:text-ink"}`}
              >
                {framework}
              </button>
            ))}
          </div>
        )
      }
    >
      {!may("read:snippet") && <PartNotAvailable scope="read:snippet" />}
      {read.isLoading && <Loading lines={2} />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {at && (
        <>
          <CopyBlock name={`the ${at.framework} snippet`} text={at.snippet} />
          <p className="mt-2 text-xs text-soft">
            Put it in the head of every page. Its key is public: it can only send events, and only from the origins below.
          </p>
        </>
      )}
    </Section>
  );
}
