import { Download, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { saveFile, suggestedName } from "../../parts/save-file.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { toCaseQuery, type QueueFilter } from "./search.ts";

// Downloads all cases of the queue as it is filtered and sorted, not only those that are loaded.
export function CsvButton({ filter }: { filter: QueueFilter }) {
  const { client, may } = useWorkspace();
  const [isBusy, setIsBusy] = useState(false);
  if (!may("read:cases")) return null;

  async function download(): Promise<void> {
    setIsBusy(true);
    await saveFile("The list", async () => {
      const response = await client.exportCsv("listCases", { query: toCaseQuery(filter) });
      return { content: await response.blob(), name: suggestedName(response, "cases.csv") };
    });
    setIsBusy(false);
  }

  const Icon = isBusy ? LoaderCircle : Download;
  return (
    <Button
      look="quiet"
      className="!h-7 !px-2 text-xs"
      disabled={isBusy}
      title="Download all cases of this list as CSV"
      onClick={() => void download()}
    >
      <Icon size={14} aria-hidden className={isBusy ? "motion-safe:animate-spin" : ""} />
      <span className="max-md:sr-only">{isBusy ? "Downloading…" : "CSV"}</span>
    </Button>
  );
}
