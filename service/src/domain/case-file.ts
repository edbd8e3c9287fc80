import { Type, type Static } from "typebox";
import type { Account } from "./account.ts";
import type { Case, CaseDocument } from "./case.ts";
import type { LoggedEvent } from "./event.ts";
import type { Occurrence } from "./finding.ts";

export const CaseFile = Type.Object(
  {
    file_name: Type.String(),
    html: Type.String({ description: "One page without scripts or anything from elsewhere. Save it as UTF-8." }),
    sha256: Type.String({ description: "Of the page's bytes, in hexadecimal. The case's log has it too." }),
  },
  { additionalProperties: false, $id: "CaseFile" },
);
export type CaseFile = Static<typeof CaseFile>;

export type CaseFacts = { found: CaseDocument; events: LoggedEvent[]; account: Account | null };
// `data` is the same facts as JSON, and `sha256` is the checksum of that text.
type Made = { facts: CaseFacts; data: string; sha256: string; at: string; by: string; tenant: string };

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// What others wrote is isolated, so that its direction of writing changes nothing around it, and control characters are shown.
function text(value: string | number | boolean | null | undefined): string {
  const shown = String(value ?? "").replaceAll(/[\p{Cc}\p{Cf}]/gu, (each) =>
    each === "\n" ? each : `[U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
  return `<bdi>${shown.replaceAll(/[&<>"']/g, (each) => entities[each] ?? each)}</bdi>`;
}

function table(columns: string[], rows: string[][]): string {
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n");
  return `<table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

function facts(rows: [string, string][]): string {
  return `<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("\n")}</dl>`;
}

function evidence(occurrence: Occurrence): string {
  const { explanation, generated_at, risk_score, count, first_at, last_at } = occurrence;
  const rows = (explanation.model_behaviour ?? []).flatMap(({ model_name, top_contributors }) =>
    top_contributors.map((part) => [
      text(model_name),
      text(part.plain_name),
      text(part.feature_value),
      text(part.shap_value.toFixed(2)),
      text(part.description),
    ]),
  );
  const seen = first_at !== undefined && last_at !== undefined ? `${text(first_at)} to ${text(last_at)}` : text(generated_at);
  return [
    `<section><h3>${text(explanation.fraud_reason)}</h3>`,
    `<p>${text(explanation.fraud_reason_description)}</p>`,
    facts([
      ["Score", text(risk_score)],
      ["Seen", count === undefined ? seen : `${seen}, ${text(count)} ${count === 1 ? "time" : "times"}`],
      ["Source", text(explanation.evidence ?? "Not recorded")],
      ["Session", text(occurrence.session_id || "None")],
      ["Occurrence", text(occurrence.occurrence_id)],
    ]),
    rows.length === 0 ? "" : table(["Rule or model", "Fact", "Value", "Weight", "Meaning"], rows),
    "</section>",
  ].join("\n");
}

const style = `
  body { font: 14px/1.5 system-ui, sans-serif; color: #1a1d21; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #d5d9de; } h3 { font-size: 1rem; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; } dt { color: #59616b; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid #e6e9ec; overflow-wrap: anywhere; }
  th { color: #59616b; font-weight: 500; } section { break-inside: avoid; } code { overflow-wrap: anywhere; } bdi { white-space: pre-wrap; }
  details pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }`;

function accountFacts(account: Account): string {
  const flags = (["is_blocked", "is_quarantined", "is_fraudulent"] as const).filter((flag) => account[flag]);
  return facts([
    ["Account", text(account.website_account_id)],
    ["CRM id", text(account.crm_account_id ?? "None")],
    ["Flags", flags.length === 0 ? "None" : flags.map((flag) => text(flag.slice("is_".length))).join(", ")],
    ["Last session", text(account.last_session_updated_on ?? "None")],
  ]);
}

function outcomeOf({ disposition, own_disposition: own }: Case["current_state"]): string {
  return own === undefined ? text(disposition) : `${text(own)} (${text(disposition)})`;
}

function byWhom({ changed_by: by, approved_by: approver }: Case["current_state"]): string {
  return approver === undefined ? text(by) : `${text(by)} (requested), ${text(approver)} (approved)`;
}

// The case as one page that needs nothing else: no script, no style and no picture from elsewhere.
export function caseFileHtml({ facts: { found, events, account }, data, sha256, at, by, tenant }: Made): string {
  const { details, current_state: state } = found;
  const states = [...found.state_history, state].map((each) => [
    text(each.changed_at),
    byWhom(each),
    text(each.case_status),
    text(each.score),
    outcomeOf(each),
    text(each.reason),
  ]);
  const log = events.map((event) => [
    text(event.event_id),
    text(event.occurred_at),
    text(event.actor),
    text(event.type),
    text(event.resource.version),
  ]);
  const strongest = Object.values(found.fraud_occurrences).toSorted(
    (a, b) => b.risk_score - a.risk_score || (a.generated_at < b.generated_at ? 1 : -1),
  );
  return [
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">',
    `<title>Case ${found.case_id}</title><style>${style}</style></head><body>`,
    `<h1>Case ${text(found.case_id)}</h1>`,
    facts([
      ["Status", `${text(found.status)}, version ${text(found.case_version)}`],
      ["Account", text(found.website_account_id)],
      ...(details.subject
        ? [["About", `${text(details.subject.kind)} ${text(details.subject.id)}`] satisfies [string, string]]
        : []),
      ["Risk", `${text(details.overall_risk_score)} of 5`],
      ["Labels", details.fraud_labels.map(text).join(", ")],
      ["Recommended", `${text(details.recommended_action)} (not enforced)`],
      ["Opened", text(found.created_at)],
      ["Last change", `${text(state.changed_at)} by ${byWhom(state)}`],
      ["Outcome", state.disposition ? outcomeOf(state) : text("None")],
      ["Reason", text(state.reason)],
    ]),
    `<h2>Why</h2><p>${text(details.summary)}</p><ul>${details.highlights.map((each) => `<li>${text(each)}</li>`).join("\n")}</ul>`,
    `<h2>Evidence</h2>${strongest.map(evidence).join("\n")}`,
    account === null ? "" : `<h2>Account now</h2>${accountFacts(account)}`,
    `<h2>History</h2>${table(["Time (UTC)", "By", "Status", "Score", "Outcome", "Reason"], states)}`,
    `<h2>Audit trail</h2>${table(["No.", "Time (UTC)", "By", "Event", "Version"], log)}`,
    `<h2>About this file</h2><p>Made at ${text(at)} by ${text(by)} of the tenant ${text(tenant)}. All times are UTC. The text below has everything in this file as JSON. Its SHA-256 is <code>${sha256}</code>.</p>`,
    `<details><summary>Data</summary><pre id="data">${data.replaceAll(/[&<>]/g, (each) => entities[each] ?? each)}</pre></details>`,
    "</body></html>\n",
  ].join("\n");
}
