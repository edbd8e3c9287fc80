import type { Approval } from "@casehound/client";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { type Command, type Outcome } from "./command.ts";
import { approvalStatuses } from "../domain/approval.ts";
import { cellText, listText, rows, table } from "./table.ts";

async function list({ client, options }: ApiCall): Promise<Outcome> {
  const status = readOneOf(options, "status", approvalStatuses);
  const limit = readWhole(options, "limit", { least: 1, most: 1000, fallback: 20 });
  const result = await client.listApprovals({ limit, ...(status !== undefined && { status }) });
  const lines = result.approvals.map((each) => [
    each.approval_id,
    each.status,
    each.website_account_id ?? each.case_count,
    each.because.join(", "),
    each.requested_at,
    each.requested_by,
  ]);
  const text = table(["request", "status", "cases or account", "because", "requested", "by"], lines);
  return { result, text: lines.length === 0 ? "no approval requests" : listText(text, result) };
}

async function show({ client, positionals: [id = ""] }: ApiCall): Promise<Outcome> {
  const result = await client.getApproval(id);
  return { result, text: approvalText(result) };
}

function approvalText(found: Approval): string {
  const { closing, decided_by, decision_note, note, website_account_id: account } = found;
  const facts = rows({
    request: found.approval_id,
    status: decided_by === undefined ? found.status : `${found.status} by ${decided_by}`,
    requested: `${found.requested_at} by ${found.requested_by}`,
    expires: found.expires_at,
    ...(found.because.length > 0 && { because: found.because.join(", ") }),
    ...(account !== undefined && { account }),
    ...(note !== undefined && { message: note }),
    ...(decision_note !== undefined && { answer: decision_note }),
    closing: cellText(JSON.stringify(closing)),
  });
  const lines = found.cases.map(({ case_id, case_version, current_version, status }) => [
    case_id,
    case_version,
    current_version,
    status,
  ]);
  return lines.length === 0 ? facts : [facts, "", table(["case", "seen", "now", "status"], lines)].join("\n");
}

// The command line acts as a client, and only people can approve.
async function reject({ client, positionals: [id = "", note = ""] }: ApiCall): Promise<Outcome> {
  const result = await client.decideApproval(id, { status: "REJECTED", ...(note !== "" && { note }) });
  return { result, text: `${id} is rejected` };
}

export const approvalCommands: Command[] = [
  {
    name: "approvals list",
    usage: "approvals list [--status <status>] [--limit <n>]",
    summary: "lists approval requests, newest first",
    positionals: { min: 0, max: 0 },
    options: {
      ...apiOptions,
      status: { type: "string", describe: "PENDING, APPROVED, ...", values: [...approvalStatuses] },
      limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
    },
    wants,
    run: overApi(list),
  },
  {
    name: "approvals show",
    usage: "approvals show <approval_id>",
    summary: "shows an approval request and what it would apply",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(show),
  },
  {
    name: "approvals reject",
    usage: "approvals reject <approval_id> [<note>]",
    summary: "rejects an approval request; people approve in the console",
    positionals: { min: 1, max: 2 },
    options: apiOptions,
    wants,
    run: overApi(reject),
  },
];
