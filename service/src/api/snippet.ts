import { Type } from "typebox";
import { findTenant } from "../db/tenants.ts";
import { notFound } from "../domain/failure.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

async function read(services: Services, { caller }: Call): Promise<Reply> {
  const tenant = await findTenant(services.database, caller.slug);
  if (!tenant) throw notFound("Tenant", caller.slug);
  const { app_key: key, slug, tenant_id } = tenant;
  const snippets = [
    { framework: "HTML", snippet: tagSnippet(services.publicUrl, key) },
    { framework: "Clickstream SDK", snippet: sdkSnippet(services.publicUrl, key) },
  ];
  return dataReply({ snippets, tenant_name: slug, app_id: key, tenant_id });
}

function tagSnippet(publicUrl: string, key: string): string {
  const source = `${publicUrl}/tag.js`.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<script async src="${source}" data-app-key="${key}"></script>`;
}

// For a site that has the SDK already: only its endpoint and its key change.
function sdkSnippet(publicUrl: string, key: string): string {
  const options = { appId: key, endpoint: `${publicUrl}/collect/${key}` };
  return `import { ClickstreamAnalytics } from "@aws/clickstream-web";

ClickstreamAnalytics.init(${JSON.stringify(options, null, 2)});`;
}

const Snippets = Type.Object(
  {
    snippets: Type.Array(Type.Object({ framework: Type.String(), snippet: Type.String() }, { additionalProperties: false })),
    tenant_name: Type.String({ description: "The tenant's slug." }),
    app_id: Type.String({ description: "The key in the collector's path. It is public." }),
    tenant_id: Type.String(),
  },
  { additionalProperties: false, $id: "Snippets" },
);

export const snippetOperations: Operation[] = [
  operation({
    id: "getSnippet",
    method: "GET",
    path: "/snippet",
    scope: "read:snippet",
    tag: "Tenant",
    summary: "Get the snippets to paste into a web page",
    description: "The page's origin must be among the tenant's allowed_origins, or its events are refused.",
    success: { status: 200, description: "A snippet for each way to send events", schema: Snippets },
    problems: ["item-not-found"],
    handle: read,
  }),
];
