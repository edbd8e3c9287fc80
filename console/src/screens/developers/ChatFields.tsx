import type { Webhook } from "@casehound/client";
import { useId } from "react";
import { inputLook } from "../../parts/Field.tsx";
import { visible } from "../../parts/visible.ts";
import { useViews } from "../../views/views.ts";

export type Format = Webhook["format"];

export const formatWords: Record<Format, string> = {
  standard: "Signed events for your own server",
  slack: "Messages for Slack",
  teams: "Messages for Microsoft Teams",
};

export function FormatField({ format, onChange }: { format: Format; onChange: (format: Format) => void }) {
  const id = useId();
  return (
    <label htmlFor={id} className="grid gap-1 text-sm font-medium">
      What to send
      <select
        id={id}
        className={`${inputLook} font-normal`}
        value={format}
        onChange={(event) => onChange(event.target.value as Format)}
      >
        {Object.entries(formatWords).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

// Fields that only chat formats have.
export function ChatFields({ of }: { of: Webhook | null }) {
  const id = useId();
  const shared = useViews().filter((view) => view.is_shared);
  return (
    <>
      <label htmlFor={id} className="grid gap-1 text-sm font-medium">
        Only cases in this shared view
        <select id={id} name="view" defaultValue={of?.view_id ?? ""} className={`${inputLook} font-normal`}>
          <option value="">All cases</option>
          {shared.map(({ view_id, name }) => (
            <option key={view_id} value={view_id}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="ids" defaultChecked={of?.details === "ids"} className="size-4 accent-accent" />
        Include account ids, and who made the change
      </label>
    </>
  );
}
