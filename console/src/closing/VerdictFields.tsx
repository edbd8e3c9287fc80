import { dispositions, reasonCharactersMax } from "@casehound/client";
import { useId, useRef, type KeyboardEvent, type RefObject } from "react";
import { dispositionWords } from "../parts/Badges.tsx";
import { Kbd } from "../parts/Button.tsx";
import type { Draft } from "./draft.ts";

type Props = { draft: Draft; onDraft: (next: Draft) => void; onSubmit: () => void; isDisabled: boolean };

// Outcome and reason, for one case or many. Keys 1 to 3 choose an outcome outside the text field. Ctrl+Enter submits from
// anywhere.
export function VerdictFields({ draft, onDraft, onSubmit, isDisabled }: Props) {
  const name = useId();
  const first = draft.disposition === null ? 0 : dispositions.indexOf(draft.disposition);
  const reason = useRef<HTMLTextAreaElement>(null);
  return (
    <fieldset
      disabled={isDisabled}
      className="grid gap-4"
      onKeyDown={(event) => press(event, { draft, onDraft, onSubmit, reason })}
    >
      <div role="radiogroup" aria-label="Outcome" className="grid grid-cols-3 gap-2 max-sm:grid-cols-1">
        {dispositions.map((each, index) => (
          <label
            key={each}
            className={`flex h-10 items-center gap-2 rounded-md border px-3 ${draft.disposition === each ? "border-accent bg-accent-soft" : "border-edge/50 hover:bg-hover"} has-focus-visible:outline-2 has-focus-visible:outline-accent`}
          >
            <input
              type="radio"
              name={name}
              className="accent-accent outline-none"
              data-first-focus={index === first ? "" : undefined}
              checked={draft.disposition === each}
              onChange={() => onDraft({ ...draft, disposition: each })}
            />
            <span className="flex-1 text-sm font-medium whitespace-nowrap">{dispositionWords[each]}</span>
            <Kbd>{index + 1}</Kbd>
          </label>
        ))}
      </div>
      <label className="grid gap-1">
        <span className="text-sm font-medium">
          Reason <span className="font-normal text-faint">optional</span>
        </span>
        <textarea
          ref={reason}
          rows={3}
          maxLength={reasonCharactersMax}
          className="w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-2 text-sm"
          value={draft.reason}
          onChange={(event) => onDraft({ ...draft, reason: event.target.value })}
        />
      </label>
    </fieldset>
  );
}

type Pressed = Pick<Props, "draft" | "onDraft" | "onSubmit"> & { reason: RefObject<HTMLTextAreaElement | null> };

function press(event: KeyboardEvent, { draft, onDraft, onSubmit, reason }: Pressed): void {
  const isInText = event.target === reason.current;
  const isSend = event.key === "Enter" && (!isInText || event.ctrlKey || event.metaKey);
  const chosen = isInText ? undefined : dispositions[Number(event.key) - 1];
  if (isSend) onSubmit();
  if (chosen) {
    onDraft({ ...draft, disposition: chosen });
    // Focus the chosen option, so Tab moves on to the reason.
    const radios = event.currentTarget.querySelectorAll<HTMLInputElement>("input[type=radio]");
    radios[dispositions.indexOf(chosen)]?.focus();
  }
  if (isSend || chosen) event.preventDefault();
}
