import { noteCharactersMax } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import type { KeyboardEvent, RefObject } from "react";
import { OfferField } from "../parts/OfferField.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { offersFor } from "./mentions.ts";

type Props = {
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: () => void;
};

// The text of a new note. After @, it offers colleagues.
export function NoteField({ field, text, onText, onSend }: Props) {
  const { queries } = useWorkspace();
  const colleagues = useQuery(queries.colleagues()).data ?? [];

  function press(event: KeyboardEvent): boolean {
    const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isSend) onSend();
    // In a dialog, Escape closes the dialog.
    else if (event.key === "Escape" && !field.current?.closest("dialog")) field.current?.blur();
    else return false;
    return true;
  }

  return (
    <OfferField
      field={field}
      name="New note"
      offersName="Colleagues"
      placeholder="What should your colleagues know? Type @ to mention one."
      charactersMax={noteCharactersMax}
      text={text}
      onText={onText}
      press={press}
      offersFor={(typed, caret) => offersFor(typed, caret, colleagues)}
      insertionOf={({ email }) => `@${email} `}
      idOf={({ user_id }) => user_id}
      show={({ name, email }) => (
        <>
          <span className="font-medium">{name}</span>
          <span className="truncate text-xs text-faint">{email}</span>
        </>
      )}
    />
  );
}
