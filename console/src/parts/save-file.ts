import { ProblemError } from "@casehound/client";
import { wordsOf } from "./States.tsx";
import { toast } from "./Toasts.tsx";

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

type Saved = { content: Blob; name: string };

// Saves a file, or says why it could not be read. `what` begins the sentence, as in "The model".
export async function saveFile(what: string, read: () => Promise<Saved>): Promise<void> {
  try {
    const { content, name } = await read();
    save(content, name);
  } catch (error) {
    const isBusy = error instanceof ProblemError && error.type === "rate-limited";
    toast({ kind: "problem", words: isBusy ? error.message : `${what} was not downloaded: ${wordsOf(error)}` });
  }
}

// The name that the service suggests.
export function suggestedName({ headers }: Response, otherwise: string): string {
  return /filename="([\w.-]+)"/.exec(headers.get("content-disposition") ?? "")?.[1] ?? otherwise;
}
