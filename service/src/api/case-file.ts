import { hash } from "node:crypto";
import { appendEvents, listEventsOf } from "../db/events.ts";
import { unknownAccount } from "../domain/account.ts";
import { CaseFile, caseFileHtml, type CaseFacts } from "../domain/case-file.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { requireCase } from "./timeline.ts";

const eventsMax = 1_000;

// The file is recorded with its checksum, so that it can be told later whether a copy is the one that was made.
async function makeFile(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId, slug, actor, scopes } = call.caller;
  const found = await requireCase(services, call);
  const { case_id: id, case_version: version, website_account_id: accountId } = found;
  const mayReadAccount = accountId !== unknownAccount && scopes.has("read:enduseraccount");
  const [latest, account] = await Promise.all([
    listEventsOf(services.database, tenantId, { resource: { type: "case", id }, before: null, limit: eventsMax }),
    mayReadAccount ? services.findAccount(tenantId, accountId) : undefined,
  ]);
  const facts: CaseFacts = { found, events: latest.toReversed(), account: account ?? null };
  const at = services.now();
  const data = JSON.stringify(
    { case: facts.found, events: facts.events, account: facts.account, made_at: at, made_by: actor },
    null,
    1,
  );
  const html = caseFileHtml({ facts, data, sha256: hash("sha256", data), at, by: actor, tenant: slug });
  const sha256 = hash("sha256", html);
  const event = {
    type: "case.saved_as_file",
    occurred_at: at,
    actor,
    resource: { type: "case", id, version },
    data: { sha256 },
  } as const;
  await services.database.transaction((tx) => appendEvents(tx, tenantId, [event]));
  return dataReply({ file_name: `case-${id}-v${version}.html`, html, sha256 } satisfies CaseFile);
}

export const caseFileOperations: Operation[] = [
  operation({
    id: "createCaseFile",
    method: "POST",
    path: "/cases/{case_id}/file",
    scope: "read:case",
    tag: "Cases",
    summary: "Save a case as one file",
    description: `Returns a page with the case's reasons, evidence and history, its last ${eventsMax.toLocaleString("en")} events, and the account as it is now if the caller has \`read:enduseraccount\`. The page needs nothing else to be read, and contains the same facts as JSON with their checksum. The case's log says who made the file, with the checksum of the file. An erasure does not reach files that were saved before.`,
    success: { status: 200, description: "The file", schema: CaseFile },
    problems: ["bad-request", "item-not-found"],
    handle: makeFile,
  }),
];
