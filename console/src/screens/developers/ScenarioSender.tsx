import { useNavigate, useSearch } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { Button } from "../../parts/Button.tsx";
import { Alert } from "../../parts/Field.tsx";
import { PartNotAvailable } from "../../parts/NotAvailable.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { ScenarioRun } from "./ScenarioRun.tsx";
import { activitiesOf, newRun, scenarioIds, scenarios, type ScenarioId } from "./scenarios.ts";

// Sends a small scenario as a shop's servers would, so a developer can watch how it is scored.
export function ScenarioSender() {
  const { may } = useWorkspace();
  const { scenario = "takeover", run } = useSearch({ from: "/inside/developers" });
  return (
    <Section title="Try a scenario">
      <div className="grid gap-4">
        <Choice chosen={scenario} />
        {may("create:activities") ? (
          <Sending id={scenario} />
        ) : (
          <PartNotAvailable scope="create:activities" what="Sending activity from here" />
        )}
        {run !== undefined && <ScenarioRun id={scenario} run={run} />}
      </div>
    </Section>
  );
}

function Choice({ chosen }: { chosen: ScenarioId }) {
  const navigate = useNavigate({ from: "/developers" });
  return (
    <fieldset>
      <legend className="sr-only">Scenario</legend>
      <div className="grid grid-cols-5 gap-2 max-[84rem]:grid-cols-3 max-sm:grid-cols-1">
        {scenarioIds.map((id) => (
          <label
            key={id}
            className={`flex min-h-9 items-center gap-2 rounded-md border px-2.5 text-sm font-medium ${id === chosen ? "border-accent bg-accent-soft" : "border-edge/50 hover:bg-hover"} has-focus-visible:outline-2 has-focus-visible:outline-accent`}
          >
            <input
              type="radio"
              name="scenario"
              className="shrink-0 accent-accent outline-none"
              checked={id === chosen}
              onChange={() => void navigate({ search: { scenario: id }, replace: true, resetScroll: false })}
            />
            {scenarios[id].name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Sending({ id }: { id: ScenarioId }) {
  const { client, desk } = useWorkspace();
  const navigate = useNavigate({ from: "/developers" });
  const task = useTask();
  const { story, expects, steps } = scenarios[id];
  const count = steps(String, String).length;
  const send = () =>
    task.run(async () => {
      const run = newRun(Date.now(), Math.random());
      const body = { activities: activitiesOf(id, run) };
      // Every activity has an id, so a repeat is harmless.
      await desk.outbox.deliver("Sending a scenario", () => client.call("createActivities", { body }));
      await navigate({ search: { scenario: id, run }, resetScroll: false });
    });
  return (
    <div className="flex items-start gap-4 max-sm:flex-col">
      <div className="min-w-0 flex-1 text-sm">
        <p>{story}</p>
        <p className="text-soft">Expected: {expects}</p>
        <p className="mt-1 text-xs text-faint">
          This sends real activity to this tenant, for invented accounts whose names begin with “try-”. It counts in all figures.
        </p>
        {task.problem !== null && (
          <div className="mt-2">
            <Alert>{task.problem}</Alert>
          </div>
        )}
      </div>
      <Button look="primary" onClick={send} disabled={task.isBusy}>
        <Send size={14} aria-hidden />
        {task.isBusy ? "Sending…" : count === 1 ? "Send 1 event" : `Send ${count} events`}
      </Button>
    </div>
  );
}
