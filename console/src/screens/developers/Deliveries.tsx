import type { Webhook, WebhookDelivery } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Button } from "../../parts/Button.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age, Until } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { deliveriesShown, readsOf } from "./reads.ts";

const looks: Record<WebhookDelivery["state"], { words: string; look: string }> = {
  WAITING: { words: "Waiting", look: "bg-sunken text-soft" },
  DELIVERED: { words: "Delivered", look: "bg-good-soft text-good" },
  DEAD: { words: "Abandoned", look: "bg-bad-soft text-bad" },
};

type Props = { of: Webhook; onResend: (body: { event_id?: number }) => void };

// The latest deliveries to one webhook, with their results.
export function Deliveries({ of, onResend }: Props) {
  const { client } = useWorkspace();
  const read = useQuery(readsOf(client).deliveries(of.webhook_id));
  return (
    <div className="grid gap-2 rounded-md bg-sunken/50 p-3">
      {read.isLoading && <Loading lines={3} name="Loading the deliveries" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data?.deliveries.length === 0 && <p className="text-sm text-soft">Nothing has been sent yet.</p>}
      {of.dead + of.waiting > 0 && (
        <Button className="!h-auto justify-self-start py-1.5 !whitespace-normal" onClick={() => onResend({})}>
          Resend all waiting and abandoned messages
        </Button>
      )}
      <ul className="divide-y divide-line" aria-label={`Deliveries to ${of.url}`}>
        {read.data?.deliveries.map((each) => (
          <DeliveryRow key={each.event_id} of={each} onResend={() => onResend({ event_id: each.event_id })} />
        ))}
      </ul>
      {typeof read.data?.next_cursor === "string" && (
        <p className="text-xs text-faint">Only the last {deliveriesShown} are shown. The API returns the others.</p>
      )}
    </div>
  );
}

function DeliveryRow({ of, onResend }: { of: WebhookDelivery; onResend: () => void }) {
  const { event_id, type, resource, state, attempts, last_error: error, last_attempt_at: lastAt } = of;
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-1.5 text-sm">
      <span className={`w-20 shrink-0 rounded px-1.5 text-center text-xs leading-5 font-medium ${looks[state].look}`}>
        {looks[state].words}
      </span>
      <div className="min-w-48 flex-1">
        <p>
          <span className="font-mono text-xs">{type}</span>{" "}
          <span className="font-mono text-xs break-all text-soft">{resource.id}</span>
        </p>
        <p className="text-xs text-faint">
          event {event_id} · {attempts === 1 ? "1 attempt" : `${attempts} attempts`}
          {lastAt !== undefined && (
            <>
              , the last <Age at={lastAt} suffix=" ago" />
            </>
          )}
          {state === "WAITING" && <NextAttempt of={of} isFirst={attempts === 0} />}
          {error !== undefined && <span className="text-bad"> · {error}</span>}
        </p>
      </div>
      {of.waits_for === undefined && (
        <Button look="quiet" onClick={onResend} aria-label={`Resend event ${event_id}`}>
          Resend
        </Button>
      )}
    </li>
  );
}

function NextAttempt({ of: { next_attempt_at: at, waits_for: before }, isFirst }: { of: WebhookDelivery; isFirst: boolean }) {
  if (before !== undefined) return <>, will be sent after event {before}</>;
  if (at === undefined) return <>, will be sent when the webhook is on</>;
  return (
    <>
      , {isFirst ? "first attempt" : "next attempt"} <Until at={at} />
    </>
  );
}
