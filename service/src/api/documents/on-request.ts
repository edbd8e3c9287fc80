import type { DocsFile } from "@casehound/site/site";
import { problems } from "../http/problem.ts";
import { openapiDocument } from "./openapi.ts";

export type Documents = {
  openapi: () => string;
  // Null if the documentation has no such page.
  docs: (page: string) => Promise<DocsFile | null>;
  tag: () => Promise<string>;
};

// Each is made when it is first requested. Making all of them took a quarter of the time of a start.
export function documentsOnRequest(publicUrl: string): Documents {
  let openapi: string | undefined;
  const docs = madeOnce(() => openDocs(publicUrl));
  const tag = madeOnce(async () => (await import("@casehound/tag")).tagScript());
  return {
    openapi: () => (openapi ??= JSON.stringify(openapiDocument(publicUrl))),
    docs: async (page) => (await docs())(page),
    tag,
  };
}

// A failure is not kept, so the next request tries again: the process may have had no file descriptor left.
function madeOnce<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

async function openDocs(publicUrl: string): Promise<(page: string) => DocsFile | null> {
  const { servedDocs } = await import("@casehound/site/site");
  return servedDocs(() => ({ publicUrl, document: openapiDocument(publicUrl), problems }));
}
