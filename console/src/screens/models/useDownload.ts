import type { Model } from "@casehound/client";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { shortId } from "./words.ts";

// Saves a model's text as a file. The SHA-256 of the file is the model's id.
export function useDownload(): (model: Model) => Promise<void> {
  const { client } = useWorkspace();
  return async ({ moment, model_id }) => {
    try {
      const { text } = await client.call("downloadModel", { params: { model_id } });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      link.download = `${moment}-${shortId(model_id)}.json`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      toast({ kind: "problem", words: `The model was not downloaded: ${wordsOf(error)}` });
    }
  };
}
