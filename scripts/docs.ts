// Writes the documentation as files that any web server can serve: npm run docs [-- folder].
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { docsFiles } from "@casehound/site/site";
import { openapiDocument } from "../service/src/api/documents/openapi.ts";
import { problems } from "../service/src/api/http/problem.ts";
import { readConfig } from "../service/src/config.ts";

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../docs/dist"));
// Appears only in the reference's examples.
const publicUrl = readConfig().publicUrl ?? "http://127.0.0.1:8080";
mkdirSync(folder, { recursive: true });
const document = openapiDocument(publicUrl);
const files = docsFiles({ publicUrl, document, problems });
for (const [name, { body }] of files) writeFileSync(join(folder, name), body);
writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
console.log(`${files.size + 1} files in ${folder}`);
