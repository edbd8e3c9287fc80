import type { Identity } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useId } from "react";
import { Alert } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";

type Setting = Identity["identity_verification"];

const settings: { value: Setting; name: string; words: string }[] = [
  {
    value: "off",
    name: "Off",
    words: "Only your server vouches for a page, by tying its session to an account. Tokens are verified if there is a secret.",
  },
  {
    value: "observe",
    name: "Observe",
    words: "A valid token or your server vouches for a page. Everything else is counted as unverified.",
  },
  {
    value: "required",
    name: "Required",
    words: "Only a valid token vouches for a page. Choose this once nearly all events are signed.",
  },
];

export function IdentitySetting({ identity: { identity_verification: now, secrets } }: { identity: Identity }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const id = useId();
  const mayChange = may("update:tenant");
  const choose = (identity_verification: Setting) =>
    task.run(async () => {
      await client.call("updateTenant", { body: { identity_verification } });
      await cache.invalidateQueries({ queryKey: ["tenant"] });
    });
  return (
    <fieldset className="grid gap-2" disabled={!mayChange || task.isBusy}>
      <legend className="mb-1 text-xs font-medium text-soft">Verification</legend>
      {settings.map(({ value, name, words }) => (
        <label key={value} className="flex items-start gap-2 text-sm">
          <input
            type="radio"
            name={id}
            className="mt-0.5 size-4 shrink-0 accent-accent"
            aria-describedby={`${id}-${value}`}
            checked={now === value}
            disabled={value !== "off" && secrets.length === 0}
            onChange={() => choose(value)}
          />
          <span>
            <span className="block font-medium">{name}</span>
            <span id={`${id}-${value}`} className="text-soft">
              {words}
            </span>
          </span>
        </label>
      ))}
      {secrets.length === 0 && <p className="text-xs text-soft">Observe and Required need a secret.</p>}
      {!mayChange && <p className="text-xs text-soft">Admins can change this.</p>}
      {task.problem !== null && <Alert>{task.problem}</Alert>}
    </fieldset>
  );
}
