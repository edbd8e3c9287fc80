import type { Case, CaseListItem } from "@casehound/client";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { textOption, type Command, type Outcome } from "./command.ts";
import { dispositions } from "../domain/case.ts";
import { cellText, listText, rows, table } from "./table.ts";

const listOptions: Command["options"] = {
  ...apiOptions,
  status: { type: "string", describe: "OPEN or CLOSED", values: ["OPEN", "CLOSED"] },
  account: { type: "string", describe: "only cases of this account" },
  limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
};

async function list({ client, options }: ApiCall): Promise<Outcome> {
  const status = readOneOf(options, "status", ["OPEN", "CLOSED"]);
  const account = textOption(options, "account");
  const limit = readWhole(options, "limit", { least: 1, most: 1000, fallback: 20 });
  const result = await client.listCases({
    limit,
    ...(status !== undefined && { status }),
    ...(account !== undefined && { website_account_id: account }),
  });
  return { result, text: result.cases.length === 0 ? "no cases" : listText(caseTable(result.cases), result) };
}

function caseTable(cases: CaseListItem[]): string {
  const lines = cases.map((each) => [
    each.case_id,
    each.status,
    each.case_version,
    each.overall_risk_score,
    each.primary_fraud_label,
    each.recommended_action,
    each.created_at,
    `${each.website_account_id}${each.end_user_is_blocked ? " (blocked)" : ""}`,
  ]);
  return table(["case", "status", "version", "score", "label", "recommended", "created", "account"], lines);
}

async function show({ client, positionals }: ApiCall): Promise<Outcome> {
  const found = await client.getCase(positionals[0] ?? "");
  return { result: found, text: caseText(found) };
}

function caseText(found: Case): string {
  const { details, current_state: state } = found;
  const facts = rows({
    case: found.case_id,
    status: `${found.status}, version ${found.case_version}`,
    account: `${found.website_account_id}${found.end_user_is_blocked ? " (blocked)" : ""}`,
    score: `${details.overall_risk_score} of 5, ${details.fraud_labels.join(", ")}`,
    recommended: `${details.recommended_action} (not enforced)`,
    created: found.created_at,
    "last change": `${state.changed_at} by ${state.changed_by}: ${state.reason}`,
    ...(state.disposition !== undefined && { disposition: state.disposition }),
    occurrences: Object.keys(found.fraud_occurrences).length,
  });
  return [facts, "", cellText(details.summary), ...details.highlights.map((each) => `- ${cellText(each)}`)].join("\n");
}

// With --version, the case is closed only if it still has that version. Without it, the case is closed as it is now.
async function close({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const disposition = readOneOf(options, "disposition", dispositions);
  const reason = textOption(options, "reason");
  const closing = { ...(disposition !== undefined && { disposition }), ...(reason !== undefined && { reason }) };
  const id = positionals[0] ?? "";
  if (textOption(options, "version") !== undefined) {
    const case_version = readWhole(options, "version", { least: 1, most: 2_147_483_647, fallback: 1 });
    const closed = await client.updateCase(id, { ...closing, status: "CLOSED", case_version });
    return { result: closed, text: `${id} is closed, version ${closed.case_version}` };
  }
  const outcome = await client.closeCase(id, { decide: () => closing });
  const words = outcome.closed ? "is closed" : "was already closed";
  return { result: outcome.case, text: `${id} ${words}, version ${outcome.case.case_version}` };
}

export const caseCommands: Command[] = [
  {
    name: "cases",
    usage: "cases [<case_id>] [--tenant <slug>] [--status OPEN|CLOSED]",
    summary: "the same as cases list or cases show",
    positionals: { min: 0, max: 1 },
    options: listOptions,
    wants,
    run: overApi((call) => (call.positionals[0] === undefined ? list(call) : show(call))),
  },
  {
    name: "cases list",
    usage: "cases list [--status OPEN|CLOSED] [--account <id>] [--limit <n>]",
    summary: "lists cases, newest first",
    positionals: { min: 0, max: 0 },
    options: listOptions,
    wants,
    run: overApi(list),
  },
  {
    name: "cases show",
    usage: "cases show <case_id>",
    summary: "shows a case and why it was opened",
    positionals: { min: 1, max: 1 },
    options: apiOptions,
    wants,
    run: overApi(show),
  },
  {
    name: "cases close",
    usage: "cases close <case_id> [--disposition <outcome>] [--reason <text>] [--version <n>]",
    summary: "closes a case",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      disposition: { type: "string", describe: dispositions.join(", "), values: dispositions },
      reason: { type: "string", describe: "why the case is closed" },
      version: { type: "string", describe: "close only if the case still has this version" },
    },
    wants,
    run: overApi(close),
  },
];
