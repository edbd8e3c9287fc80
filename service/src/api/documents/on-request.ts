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
  let docs: Promise<(page: string) => DocsFile | null> | undefined;
  let tag: Promise<string> | undefined;
  return {
    openapi: () => (openapi ??= JSON.stringify(openapiDocument(publicUrl))),
    docs: async (page) => (await (docs ??= openDocs(publicUrl)))(page),
    tag: () => (tag ??= import("@casehound/tag").then(({ tagScript }) => tagScript())),
  };
}

async function openDocs(publicUrl: string): Promise<(page: string) => DocsFile | null> {
  const { servedDocs } = await import("@casehound/site/site");
  return servedDocs(() => ({ publicUrl, document: openapiDocument(publicUrl), problems }));
}
