import type { Tenant } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { useId, useRef, useState, type FormEvent } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Alert, inputLook } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { Loading, Trouble } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
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

// The service replaces the whole list, so read it first to keep what a colleague has added.
function useSaving(): (change: (now: string[]) => string[]) => Promise<void> {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  return async (change) => {
    const now = await client.call("getTenant", {});
    const body = { allowed_origins: change(now.allowed_origins) };
    cache.setQueryData(["tenant"], await client.call("updateTenant", { body }));
  };
}

function OriginList({ tenant: { allowed_origins: origins } }: { tenant: Tenant }) {
  const { may } = useWorkspace();
  const save = useSaving();
  const task = useTask();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const mayChange = may("update:tenant");

  const [removed, setRemoved] = useState<string | null>(null);

  function add(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const origin = typedIn(event.currentTarget)("origin").trim().replace(/\/$/, "");
    if (origin === "") return;
    task.run(async () => {
      await save((now) => (now.includes(origin) ? now : [...now, origin]));
      if (input.current) input.current.value = "";
    });
  }

  return (
    <div className="grid gap-3">
      {origins.length === 0 && (
        <p className="text-sm text-warn">None yet. Events from browsers are rejected until you add the site's origin.</p>
      )}
      <ul className="grid gap-1" aria-label="Allowed origins">
        {origins.map((origin) => (
          <Origin key={origin} origin={origin} isBusy={task.isBusy} onRemove={mayChange ? () => setRemoved(origin) : null} />
        ))}
      </ul>
      {mayChange && (
        <form onSubmit={add} className="grid gap-1">
          <label htmlFor={id} className="text-xs font-medium text-soft">
            Add an origin
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
      {!mayChange && <p className="text-xs text-soft">Admins can change them.</p>}
      {removed !== null && (
        <RemoveDialog
          origin={removed}
          onClose={() => setRemoved(null)}
          run={async () => {
            await save((now) => now.filter((each) => each !== removed));
            setRemoved(null);
          }}
        />
      )}
    </div>
  );
}

type RemoveProps = { origin: string; onClose: () => void; run: () => Promise<void> };

function RemoveDialog({ origin, onClose, run }: RemoveProps) {
  return (
    <SureDialog title="Remove an allowed origin" act="Remove it" isHarsh onClose={onClose} run={run}>
      <p>
        Events from browsers on <span className="font-mono text-ink [overflow-wrap:anywhere]">{origin}</span> are rejected from
        then on: they are not stored or scored, and open no case. Events from the site's servers are not affected.
      </p>
      <p>You can add the origin again at any time, but events rejected in the meantime are lost.</p>
    </SureDialog>
  );
}

function Origin({ origin, isBusy, onRemove }: { origin: string; isBusy: boolean; onRemove: (() => void) | null }) {
  return (
    <li className="flex h-8 items-center justify-between gap-2 rounded-md bg-sunken pl-2.5 font-mono text-xs">
      <span className="truncate" title={origin}>
        {origin}
      </span>
      {onRemove && (
        <IconButton name={`Remove ${origin}`} disabled={isBusy} onClick={onRemove}>
          <X size={14} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}
