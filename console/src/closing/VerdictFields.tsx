import { dispositions, reasonCharactersMax, type ReasonTemplate } from "@casehound/client";
import { useId, useRef, type KeyboardEvent, type RefObject } from "react";
import { dispositionWords } from "../parts/Badges.tsx";
import { Kbd } from "../parts/Button.tsx";
import { OfferField } from "../parts/OfferField.tsx";
import type { Draft } from "./draft.ts";
import { OwnField } from "./OwnField.tsx";
import { templatesFor, useTemplates, type FraudLabel } from "./templates.ts";

type Props = {
  // The labels of the cases.
  labels: readonly FraudLabel[];
  draft: Draft;
  onDraft: (next: Draft) => void;
  onSubmit: () => void;
  isDisabled: boolean;
};

// Outcome and reason, for one case or many. Keys 1 to 3 choose an outcome outside the text field, and / offers templates.
// Ctrl+Enter submits from anywhere.
export function VerdictFields({ labels, draft, onDraft, onSubmit, isDisabled }: Props) {
  const name = useId();
  const first = draft.disposition === null ? 0 : dispositions.indexOf(draft.disposition);
  const reason = useRef<HTMLTextAreaElement>(null);
  return (
    <fieldset
      disabled={isDisabled}
      className="grid min-w-0 grid-cols-1 gap-4"
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
              onChange={() => onDraft({ disposition: each, reason: draft.reason })}
            />
            <span className="flex-1 text-sm font-medium whitespace-nowrap">{dispositionWords[each]}</span>
            <Kbd>{index + 1}</Kbd>
          </label>
        ))}
      </div>
      <OwnField draft={draft} onDraft={onDraft} />
      <ReasonField labels={labels} draft={draft} onDraft={onDraft} field={reason} />
    </fieldset>
  );
}

type ReasonProps = Pick<Props, "labels" | "draft" | "onDraft"> & { field: RefObject<HTMLTextAreaElement | null> };

function ReasonField({ labels, draft, onDraft, field }: ReasonProps) {
  const templates = useTemplates(labels);
  return (
    <div className="grid grid-cols-1 gap-1">
      <div className="flex items-baseline justify-between gap-2 text-sm font-medium">
        <span>
          Reason <span className="font-normal text-faint">optional</span>
        </span>
        {templates.length > 0 && (
          <span className="text-xs font-normal text-faint">
            <Kbd>/</Kbd> offers templates
          </span>
        )}
      </div>
      <OfferField<ReasonTemplate>
        field={field}
        name="Reason"
        offersName="Templates"
        charactersMax={reasonCharactersMax}
        isInDialog
        text={draft.reason}
        onText={(text) => onDraft({ ...draft, reason: text })}
        // A template for one outcome chooses it, unless another one is chosen.
        onChosen={({ disposition = null }, text) =>
          onDraft({ ...draft, disposition: draft.disposition ?? disposition, reason: text })
        }
        offersFor={(text, caret) => templatesFor(templates, { text, caret, disposition: draft.disposition })}
        insertionOf={({ text }) => text}
        idOf={({ name: of }) => String(templates.findIndex((each) => each.name === of))}
        show={({ name: of, text }) => (
          <>
            <span className="font-medium">{of}</span>
            <span className="min-w-0 basis-full truncate text-xs text-faint">{text}</span>
          </>
        )}
      />
    </div>
  );
}

type Pressed = Pick<Props, "draft" | "onDraft" | "onSubmit"> & { reason: RefObject<HTMLTextAreaElement | null> };

function press(event: KeyboardEvent, { draft, onDraft, onSubmit, reason }: Pressed): void {
  const isInText = event.target === reason.current;
  const isSend = event.key === "Enter" && (!isInText || event.ctrlKey || event.metaKey);
  const chosen = isInText ? undefined : dispositions[Number(event.key) - 1];
  if (isSend) onSubmit();
  if (chosen) {
    onDraft(draft.disposition === chosen ? draft : { disposition: chosen, reason: draft.reason });
    // Focus the chosen option, so Tab moves on to the reason.
    const radios = event.currentTarget.querySelectorAll<HTMLInputElement>("input[type=radio]");
    radios[dispositions.indexOf(chosen)]?.focus();
  }
  // The slash is typed into the reason, which then offers the templates.
  if (event.key === "/" && !isInText) reason.current?.focus();
  if (isSend || chosen) event.preventDefault();
}
