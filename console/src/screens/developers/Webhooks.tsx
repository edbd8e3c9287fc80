import type { Webhook } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronRight, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { PartNotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Trouble, wordsOf } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { Age, Moment } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { formatWords } from "./ChatFields.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { WebhookDialog } from "./WebhookDialog.tsx";
import { WebhookSecretDialog } from "./WebhookSecretDialog.tsx";
import { readsOf } from "./reads.ts";

type Asked = "change" | "rotate" | "delete";
type Open =
  | { kind: "new" }
  | { kind: Asked; of: Webhook }
  | { kind: "secret"; secret: string; previousUntil: string | undefined };

// Where changes are sent, with the results of the deliveries.
export function Webhooks() {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const read = useQuery({ ...readsOf(client).webhooks(), enabled: may("manage:webhooks") });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const refresh = () => void cache.invalidateQueries({ queryKey: ["webhooks"] });
  const show = (secret: string, previousUntil?: string) => {
    refresh();
    setOpen({ kind: "secret", secret, previousUntil });
  };
  const rotate = async ({ webhook_id }: Webhook) => {
    const made = await client.call("rotateWebhookSecret", { params: { webhook_id } });
    show(made.secret, made.webhook.previous_secret_expires_at);
  };
  const closeChanged = () => {
    refresh();
    close();
  };
  const remove = async ({ webhook_id }: Webhook) => {
    await client.call("deleteWebhook", { params: { webhook_id } });
    closeChanged();
  };
  return (
    <Section title="Webhooks" aside={may("manage:webhooks") && <Aside onNew={() => setOpen({ kind: "new" })} />}>
      {!may("manage:webhooks") && <PartNotAvailable scope="manage:webhooks" what="The list of webhooks" />}
      {read.isLoading && <Loading lines={2} name="Loading the webhooks" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data?.webhooks.length === 0 && (
        <p className="text-sm text-soft">None yet. A webhook posts every change to cases, accounts and rules to your server.</p>
      )}
      <ul className="divide-y divide-line" aria-label="Webhooks">
        {read.data?.webhooks.map((each) => (
          <WebhookRow key={each.webhook_id} of={each} onAsk={(kind) => setOpen({ kind, of: each })} />
        ))}
      </ul>
      {(open?.kind === "new" || open?.kind === "change") && (
        <WebhookDialog of={open.kind === "new" ? null : open.of} onClose={close} onMade={show} onChanged={closeChanged} />
      )}
      {open?.kind === "secret" && <WebhookSecretDialog secret={open.secret} previousUntil={open.previousUntil} onClose={close} />}
      {open?.kind === "rotate" && <RotateDialog onClose={close} run={() => rotate(open.of)} />}
      {open?.kind === "delete" && (
        <SureDialog title="Delete this webhook?" act="Delete it" isHarsh onClose={close} run={() => remove(open.of)}>
          <p className="font-mono break-all">{open.of.url}</p>
          <p>Waiting messages will not be sent, and abandoned messages can no longer be resent.</p>
        </SureDialog>
      )}
    </Section>
  );
}

function Aside({ onNew }: { onNew: () => void }) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <GuideLink page="webhooks" about="webhooks" />
      <Button onClick={onNew}>
        <Plus size={15} aria-hidden /> New webhook
      </Button>
    </div>
  );
}

function RotateDialog({ onClose, run }: { onClose: () => void; run: () => Promise<void> }) {
  return (
    <SureDialog title="Rotate the secret?" act="Create a new secret" onClose={onClose} run={run}>
      <p>For 24 hours, messages are signed with both the new and the previous secret, so the receiver can switch.</p>
      <p>At most two secrets sign at a time. A secret that was replaced within the last 24 hours ends at once.</p>
    </SureDialog>
  );
}

type Said = Pick<Parameters<typeof toast>[0], "kind" | "words">;

function WebhookRow({ of, onAsk }: { of: Webhook; onAsk: (kind: Asked) => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { webhook_id, url, types, is_enabled: isOn, waiting, dead, created_at, previous_secret_expires_at: until } = of;
  const params = { webhook_id };
  const act = async (work: () => Promise<Said>) => {
    try {
      toast(await work());
    } catch (error) {
      toast({ kind: "problem", words: wordsOf(error) });
    }
    void cache.invalidateQueries({ queryKey: ["webhooks"] });
  };
  const test = () =>
    act(async () => {
      const { delivered, status, error, milliseconds } = await client.call("testWebhook", { params });
      if (delivered) return done(`The receiver answered ${status} after ${milliseconds} ms.`);
      return { kind: "problem", words: `The test message did not arrive: ${error ?? "no reason was given"}.` };
    });
  const toggle = () =>
    act(async () => {
      await client.call("updateWebhook", { params, body: { is_enabled: !isOn } });
      return done(
        isOn
          ? "The webhook is off. Its messages wait until it is on again."
          : "The webhook is on and continues where it stopped.",
      );
    });
  const resend = (body: { event_id?: number }) =>
    act(async () => {
      const { resent } = await client.call("resendWebhookDeliveries", { params, body });
      const many = resent === 1 ? "1 message" : `${resent} messages`;
      return done(isOn ? `Resending ${many}.` : `${many} will be resent when the webhook is switched on.`);
    });
  return (
    <li className="grid gap-2 py-2.5 first:pt-0">
      <div className="grid gap-1">
        <div>
          <p className="flex flex-wrap items-center gap-x-2">
            <span className="font-mono text-sm break-all">{url}</span>
            {!isOn && <span className="rounded bg-warn-soft px-1.5 text-xs font-medium text-warn">Off</span>}
          </p>
          <p className="text-xs text-faint">
            {of.format !== "standard" && `${formatWords[of.format]} · `}
            {types.length === 0 ? "Every type" : types.join(", ")} · created <Age at={created_at} suffix=" ago" />
          </p>
          {of.disabled_reason !== undefined && <p className="text-xs text-warn">{of.disabled_reason}</p>}
          {until !== undefined && (
            <p className="text-xs text-warn">
              The previous secret also signs until <Moment at={until} />.
            </p>
          )}
        </div>
        <WebhookButtons of={of} onTest={() => void test()} onToggle={() => void toggle()} onAsk={onAsk} />
      </div>
      <div className="max-w-md">
        <CopyLine label="Webhook id" text={webhook_id} />
      </div>
      <Button look="quiet" className="-ml-3 justify-self-start" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronRight size={14} aria-hidden className={`transition-transform ${isOpen ? "rotate-90" : ""}`} />
        {`Deliveries: ${waiting} waiting, `}
        <span className={dead > 0 ? "text-bad" : ""}>{dead} abandoned</span>
      </Button>
      {isOpen && <Deliveries of={of} onResend={(body) => void resend(body)} />}
    </li>
  );
}

const done = (words: string): Said => ({ kind: "done", words });

type ButtonProps = { of: Webhook; onTest: () => void; onToggle: () => void; onAsk: (kind: Asked) => void };

function WebhookButtons({ of: { url, is_enabled: isOn }, onTest, onToggle, onAsk }: ButtonProps) {
  return (
    <div className="-ml-3 flex flex-wrap gap-1">
      <Button look="quiet" onClick={onTest} aria-label={`Send a test message to ${url}`}>
        Test
      </Button>
      <Button look="quiet" onClick={onToggle} aria-label={`Switch ${isOn ? "off" : "on"} ${url}`}>
        {isOn ? "Switch off" : "Switch on"}
      </Button>
      <Button look="quiet" onClick={() => onAsk("change")} aria-label={`Change ${url}`}>
        Change…
      </Button>
      <Button look="quiet" onClick={() => onAsk("rotate")} aria-label={`Rotate the secret of ${url}`}>
        Rotate…
      </Button>
      <Button look="quiet" onClick={() => onAsk("delete")} aria-label={`Delete ${url}`}>
        Delete…
      </Button>
    </div>
  );
}
