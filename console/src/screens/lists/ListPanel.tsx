import type { List } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { Download, Plus, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { Entries } from "./Entries.tsx";
import { EntryDialog } from "./EntryDialog.tsx";
import { ImportDialog } from "./ImportDialog.tsx";
import { KindChoice } from "./KindChoice.tsx";
import { counted, kindFacts, lookupOf, typeNames } from "./words.ts";

type Ask = "add" | "import" | "delete" | null;

export function ListPanel({ list, onDeleted }: { list: List; onDeleted: () => void }) {
  const { may, client } = useWorkspace();
  const cache = useQueryClient();
  const [ask, setAsk] = useState<Ask>(null);
  const mayAdd = may("update:lists") && (list.kind !== "allow" || may("manage:lists"));
  const close = () => setAsk(null);
  return (
    <Section title={list.name} aside={<KindChoice list={list} />}>
      <div className="grid grid-cols-1 gap-4">
        <div className="grid gap-1 text-sm text-soft">
          {list.description !== "" && <p className="text-ink">{list.description}</p>}
          <p>
            {typeNames[list.type]}. What hits the list {kindFacts[list.kind].means}. It was hit {counted(list.hits_7d, "time")} in
            7 days.
          </p>
          <p>
            In rules: <code className="font-mono text-xs text-ink">{lookupOf(list)}</code>
            {list.used_by.length > 0 && ` · used by ${list.used_by.join(", ")}`}
            {list.is_in_policy && " · in the policy"}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {mayAdd && (
            <Button look="primary" onClick={() => setAsk("add")}>
              <Plus size={15} aria-hidden /> Add an entry
            </Button>
          )}
          {mayAdd && (
            <Button onClick={() => setAsk("import")}>
              <Upload size={14} aria-hidden /> Import CSV
            </Button>
          )}
          <ExportButton list={list} />
          {may("manage:lists") && (
            <IconButton name={`Delete the list ${list.name}`} onClick={() => setAsk("delete")} className="ml-auto">
              <Trash2 size={15} aria-hidden />
            </IconButton>
          )}
        </div>
        {!mayAdd && <p className="text-xs text-soft">Only leads and admins can add to an allow list.</p>}
        <Entries list={list} />
      </div>
      {ask === "add" && <EntryDialog list={list} onClose={close} />}
      {ask === "import" && <ImportDialog list={list} onClose={close} />}
      {ask === "delete" && (
        <SureDialog
          title={`Delete the list ${list.name}`}
          act="Delete it"
          isHarsh
          onClose={close}
          run={async () => {
            await client.call("deleteList", { params: { list_name: list.name } });
            await cache.invalidateQueries({ queryKey: ["lists"] });
            toast({ kind: "done", words: `The list ${list.name} was deleted.` });
            onDeleted();
          }}
        >
          <p>
            Its {counted(list.entries, "entry", "entries")} are deleted with it, and cannot be brought back. Export them first if
            you may need them.
          </p>
        </SureDialog>
      )}
    </Section>
  );
}

// Reads the list in parts and saves it as one file.
function ExportButton({ list }: { list: List }) {
  const { client } = useWorkspace();
  const [done, setDone] = useState<number | null>(null);
  async function save(): Promise<void> {
    const parts: string[] = [];
    let cursor: string | null = "";
    setDone(0);
    try {
      while (cursor !== null) {
        const query = cursor === "" ? {} : { cursor };
        const part: { csv: string; next_cursor: string | null } = await client.call("exportList", {
          params: { list_name: list.name },
          query,
        });
        parts.push(part.csv);
        cursor = part.next_cursor;
        setDone(parts.length);
      }
      const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
      const link = Object.assign(document.createElement("a"), { href: url, download: `${list.name}.csv` });
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      toast({ kind: "problem", words: `The list could not be exported. ${wordsOf(error)}` });
    }
    setDone(null);
  }
  return (
    <Button onClick={() => void save()} disabled={done !== null}>
      <Download size={14} aria-hidden /> {done === null || done < 2 ? "Export CSV" : `Exporting, part ${done}`}
    </Button>
  );
}
