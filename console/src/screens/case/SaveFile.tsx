import type { Case } from "@casehound/client";
import { FileDown } from "lucide-react";
import { IconButton } from "../../parts/Button.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { useWorkspace } from "../../session/workspace.tsx";

// Saves the case as one page that can be read anywhere. The audit trail says who saved it.
export function SaveFile({ found: { case_id } }: { found: Case }) {
  const { client } = useWorkspace();
  const save = () =>
    saveFile("The case", async () => {
      const { html, file_name: name } = await client.call("createCaseFile", { params: { case_id } });
      return { content: new Blob([html], { type: "text/html" }), name };
    });
  return (
    <IconButton name="Save the case as a file" onClick={() => void save()}>
      <FileDown size={16} aria-hidden />
    </IconButton>
  );
}
