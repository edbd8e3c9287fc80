import { ProblemError, type Case, type CaseListItem } from "@casehound/client";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { dispositions } from "../domain/disposition.ts";
import { cellText, listText, rows, table } from "./table.ts";

const listOptions: Command["options"] = {
  ...apiOptions,
  status: { type: "string", describe: "OPEN or CLOSED", values: ["OPEN", "CLOSED"] },
  account: { type: "string", describe: "only cases of this account" },
  "claimed-by": { type: "string", describe: "me, none, or a person or client" },
  view: { type: "string", describe: "only cases of this saved view, in its order" },
  "handed-to": { type: "string", describe: "a person's id or a role: investigator, lead, admin" },
  limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
};

async function list({ client, options }: ApiCall): Promise<Outcome> {
  const status = readOneOf(options, "status", ["OPEN", "CLOSED"]);
  const account = textOption(options, "account");
  const holder = textOption(options, "claimed-by");
  const recipient = textOption(options, "handed-to");
  const limit = readWhole(options, "limit", { least: 1, most: 1000, fallback: 20 });
  const name = textOption(options, "view");
  // Imported only if needed, because this loads the schemas of all filters.
  const view = name === undefined ? null : await (await import("./views.ts")).findView(client, name);
  const result = await client.listCases({
    ...view?.filter,
    ...(view && { sort: view.sort }),
    limit,
    ...(status !== undefined && { status }),
    ...(account !== undefined && { website_account_id: account }),
    ...(holder !== undefined && { claimed_by: holder }),
    ...(recipient !== undefined && { handed_to: recipient }),
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
    ...(state.own_disposition !== undefined && { "own disposition": state.own_disposition }),
    occurrences: Object.keys(found.fraud_occurrences).length,
  });
  return [facts, "", cellText(details.summary), ...details.highlights.map((each) => `- ${cellText(each)}`)].join("\n");
}

// With --version, the case is closed only if it still has that version. Without it, the case is closed as it is now.
async function close({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const disposition = readOneOf(options, "disposition", dispositions);
  const reason = textOption(options, "reason");
  const list_entries = readListed(textOption(options, "list"));
  const own_disposition = textOption(options, "own-disposition");
  const closing = {
    ...(disposition !== undefined && { disposition }),
    ...(own_disposition !== undefined && { own_disposition }),
    ...(reason !== undefined && { reason }),
    ...(list_entries && { list_entries }),
  };
  const id = positionals[0] ?? "";
  if (textOption(options, "version") !== undefined) {
    const case_version = readVersion(options);
    const closed = await client.updateCase(id, { ...closing, status: "CLOSED", case_version });
    return { result: closed, text: `${id} is closed, version ${closed.case_version}` };
  }
  const outcome = await client.closeCase(id, { decide: () => closing });
  const words = outcome.closed ? "is closed" : "was already closed";
  return { result: outcome.case, text: `${id} ${words}, version ${outcome.case.case_version}` };
}

// The name of a list contains no equals sign.
function readListed(text: string | undefined): { list: string; value: string }[] | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf("=");
  if (at < 1 || at === text.length - 1) throw new UsageFault("--list must be <name>=<value>");
  return [{ list: text.slice(0, at), value: text.slice(at + 1) }];
}

async function claim({ client, positionals, options }: ApiCall): Promise<Outcome> {
  const id = positionals[0] ?? "";
  if (options["release"] === true) {
    await client.releaseCase(id);
    return { result: { case_id: id }, text: `${id} is released` };
  }
  const result = await client.claimCase(id, { take_over: options["take-over"] === true });
  return { result, text: `${id} is claimed until ${result.claim?.expires_at ?? ""}` };
}

async function note({ client, positionals: [id = "", text = ""] }: ApiCall): Promise<Outcome> {
  const result = await client.addCaseNote(id, { text });
  return { result, text: `${id} has a new note, version ${result.case_version}` };
}

function readVersion(options: ApiCall["options"]): number {
  return readWhole(options, "version", { least: 1, most: 2_147_483_647, fallback: 1 });
}

// Without --version, the case is handed over as it is now.
async function handOver({ client, positionals: [id = "", handed_to = "", text = ""], options }: ApiCall): Promise<Outcome> {
  const isAsSeen = textOption(options, "version") !== undefined;
  const case_version = isAsSeen ? readVersion(options) : (await client.getCase(id)).case_version;
  const result = await client.handOverCase(id, { case_version, handed_to, text });
  return { result, text: `${id} is handed over to ${handed_to}, version ${result.handover?.case_version ?? ""}` };
}

// Others may claim the first cases at the same moment, so several are tried.
const triedMax = 20;

async function next({ client }: ApiCall): Promise<Outcome> {
  const free = { status: "OPEN", claimed_by: "none", sort: "-overall_risk_score", limit: triedMax } as const;
  const { cases } = await client.listCases(free);
  for (const { case_id } of cases) {
    if (!(await isClaimed(client, case_id))) continue;
    const found = await client.getCase(case_id);
    return { result: found, text: caseText(found) };
  }
  return { result: {}, text: "no unclaimed case" };
}

async function isClaimed(client: ApiCall["client"], caseId: string): Promise<boolean> {
  try {
    await client.claimCase(caseId, {});
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.type === "item-already-exists") return false;
    throw error;
  }
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
    usage:
      "cases list [--status OPEN|CLOSED] [--account <id>] [--claimed-by <who>] [--handed-to <who>] [--view <name>] [--limit <n>]",
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
    usage:
      "cases close <case_id> [--disposition <outcome>] [--own-disposition <name>] [--reason <text>] [--list <name>=<value>] [--version <n>]",
    summary: "closes a case",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      disposition: { type: "string", describe: dispositions.join(", "), values: dispositions },
      "own-disposition": { type: "string", describe: "one of the tenant's own dispositions" },
      reason: { type: "string", describe: "why the case is closed" },
      list: { type: "string", describe: "also add this value to this list: <name>=<value>" },
      version: { type: "string", describe: "close only if the case still has this version" },
    },
    wants,
    run: overApi(close),
  },
  {
    name: "cases claim",
    usage: "cases claim <case_id> [--take-over] [--release]",
    summary: "claims a case, so that others see that you work on it",
    positionals: { min: 1, max: 1 },
    options: {
      ...apiOptions,
      "take-over": { type: "boolean", describe: "even if somebody else works on it" },
      release: { type: "boolean", describe: "ends the claim instead" },
    },
    wants,
    run: overApi(claim),
  },
  {
    name: "cases note",
    usage: "cases note <case_id> <text>",
    summary: "adds a note to a case",
    positionals: { min: 2, max: 2 },
    options: apiOptions,
    wants,
    run: overApi(note),
  },
  {
    name: "cases hand-over",
    usage: "cases hand-over <case_id> <recipient> <text> [--version <n>]",
    summary: "hands a case over to a person or a role, with a note",
    positionals: { min: 3, max: 3 },
    options: { ...apiOptions, version: { type: "string", describe: "hand over only if the case still has this version" } },
    wants,
    run: overApi(handOver),
  },
  {
    name: "cases next",
    usage: "cases next",
    summary: "claims and shows the riskiest open case that nobody works on",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(next),
  },
];
