import type { Tenant } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useId, useRef, type FormEvent } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Alert, inputLook } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { Loading, Trouble } from "../../parts/States.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { readsOf } from "./reads.ts";

export function Origins() {
  const { client } = useWorkspace();
  const read = useQuery(readsOf(client).tenant());
  return (
    <Section title="Allowed origins">
      {read.isPending && <Loading lines={2} />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && <OriginList tenant={read.data} />}
    </Section>
  );
}

function OriginList({ tenant: { allowed_origins: origins } }: { tenant: Tenant }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const mayChange = may("update:tenant");

  // The list is replaced as a whole: what a colleague has added since is read first.
  const save = (change: (now: string[]) => string[]) =>
    task.run(async () => {
      const now = await client.call("getTenant", {});
      const body = { allowed_origins: change(now.allowed_origins) };
      cache.setQueryData(["tenant"], await client.call("updateTenant", { body }));
      if (input.current) input.current.value = "";
    });

  function add(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const origin = typedIn(event.currentTarget)("origin").trim().replace(/\/$/, "");
    if (origin !== "") save((now) => (now.includes(origin) ? now : [...now, origin]));
  }

  return (
    <div className="grid gap-3">
      {origins.length === 0 && <NoOrigins />}
      <ul className="grid gap-1" aria-label="Allowed origins">
        {origins.map((origin) => (
          <li key={origin} className="flex h-8 items-center justify-between gap-2 rounded-md bg-sunken pl-2.5 font-mono text-xs">
            <span className="truncate" title={origin}>
              {origin}
            </span>
            {mayChange && (
              <IconButton
                name={`Remove ${origin}`}
                disabled={task.isBusy}
                onClick={() => save((now) => now.filter((each) => each !== origin))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
      {!mayChange && <p className="text-xs text-soft">Admins can change them.</p>}
      {mayChange && (
        <form onSubmit={add} className="grid gap-1">
          <label htmlFor={id} className="text-xs font-medium text-soft">
            A further origin
          </label>
          <div className="flex gap-2">
            <input
              ref={input}
              id={id}
              name="origin"
              placeholder="https://shop.example"
              className={`${inputLook} !h-8`}
              required
            />
            <Button type="submit" disabled={task.isBusy}>
              Add
            </Button>
          </div>
        </form>
      )}
      {task.problem !== null && <Alert>{task.problem}</Alert>}
    </div>
  );
}

function NoOrigins() {
  return <p className="text-sm text-warn">None yet: what browsers send is refused until the site's origin is named here.</p>;
}
