import type { List } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { KindMark } from "./KindMark.tsx";
import { kindFacts, kindsOf, type ListKind } from "./words.ts";

// Acts at once and can be undone.
export function KindChoice({ list }: { list: List }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const kinds = kindsOf(list.type);
  if (!may("manage:lists") || kinds.length < 2) return <KindMark kind={list.kind} />;
  async function choose(kind: ListKind, isUndo = false): Promise<void> {
    try {
      await client.call("updateList", { params: { list_name: list.name }, body: { kind } });
      const action = { name: "Undo", run: () => void choose(list.kind, true) };
      const words = `What hits ${list.name} now ${kindFacts[kind].means}.`;
      toast({ kind: "done", words, ...(!isUndo && { action }) });
    } catch (error) {
      toast({ kind: "problem", words: `${list.name} was not changed. ${wordsOf(error)}` });
    }
    await cache.invalidateQueries({ queryKey: ["lists"] });
  }
  return (
    <select
      aria-label={`Kind of ${list.name}`}
      className="h-8 rounded-md border border-edge/50 bg-surface px-2 text-sm"
      value={list.kind}
      onChange={({ target: { value } }) => {
        const kind = kinds.find((each) => each === value);
        if (kind) void choose(kind);
      }}
    >
      {kinds.map((each) => (
        <option key={each} value={each}>
          {kindFacts[each].name}
        </option>
      ))}
    </select>
  );
}
