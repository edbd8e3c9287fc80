import { chatTypes, webhookTypes, type Webhook } from "@casehound/client";
import { useState } from "react";
import { Field } from "../../parts/Field.tsx";
import { ChatFields, FormatField, type Format } from "./ChatFields.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Type = keyof typeof webhookTypes;

const allTypes = Object.keys(webhookTypes) as Type[];

// `of` is the webhook to change, or null for a new one. The secret of a new one is passed to `onMade`.
type Props = { of: Webhook | null; onClose: () => void; onMade: (secret: string) => void; onChanged: () => void };

export function WebhookDialog({ of, onClose, onMade, onChanged }: Props) {
  const { client } = useWorkspace();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(of?.types));
  const [format, setFormat] = useState<Format>(of?.format ?? "standard");
  const isChat = format !== "standard";
  const types = allTypes.filter((type) => !isChat || chatTypes.some((each) => each === type));
  const toggle = (type: Type) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    setChosen(next);
  };
  const save = async (typed: (name: string) => string) => {
    const body = { url: typed("url").trim(), types: types.filter((type) => chosen.has(type)) };
    const details = typed("ids") === "on" ? ("ids" as const) : ("none" as const);
    const viewId = typed("view");
    if (of === null) {
      const chat = isChat ? { format, details, ...(viewId !== "" && { view_id: viewId }) } : {};
      return onMade((await client.call("createWebhook", { body: { ...body, ...chat } })).secret);
    }
    const chat = isChat ? { details, view_id: viewId === "" ? null : viewId } : {};
    await client.call("updateWebhook", { params: { webhook_id: of.webhook_id }, body: { ...body, ...chat } });
    onChanged();
  };
  const texts =
    of === null
      ? { title: "New webhook", act: "Create webhook", actBusy: "Creating…" }
      : { title: "Edit webhook", act: "Save", actBusy: "Saving…" };
  return (
    <FormDialog {...texts} onClose={onClose} run={save}>
      {of === null && <FormatField format={format} onChange={setFormat} />}
      <Field
        name="url"
        label="Address"
        required
        defaultValue={of?.url}
        placeholder="https://crm.example/casehound"
        hint="We'll POST events here. The address must use https. Private addresses work only if the operator allows them."
        data-first-focus=""
      />
      {isChat && <ChatFields of={of} />}
      <fieldset className="grid gap-1">
        <legend className="mb-1 text-sm font-medium">Events to send (none selected means all)</legend>
        {types.map((type) => (
          <label key={type} className="flex items-center gap-2 rounded px-1 py-0.5 hover:bg-hover">
            <input type="checkbox" className="size-4 accent-accent" checked={chosen.has(type)} onChange={() => toggle(type)} />
            <span className="text-sm">{webhookTypes[type]}</span>
            <span className="ml-auto font-mono text-xs text-faint">{type}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
