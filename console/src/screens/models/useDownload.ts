import type { Model } from "@casehound/client";
import { saveFile } from "../../parts/save-file.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { shortId } from "./words.ts";

// Saves a model's text as a file. The SHA-256 of the file is the model's id.
export function useDownload(): (model: Model) => Promise<void> {
  const { client } = useWorkspace();
  return ({ moment, model_id }) =>
    saveFile("The model", async () => {
      const { text } = await client.call("downloadModel", { params: { model_id } });
      return { content: new Blob([text], { type: "application/json" }), name: `${moment}-${shortId(model_id)}.json` };
    });
}
