import { expect, test } from "vitest";
import { joinCase, openCase, type CaseDocument } from "../../service/src/domain/case.ts";
import type { Finding } from "../../service/src/domain/finding.ts";
import { kinds, labelShares, makeTemplates, scoreShares, variants, type Template } from "./store-templates.ts";

const tenant_id = "7f1c2f9e-3c5b-4a6e-9a55-0d3a6f1b2c4d";
const finding: Finding = {
  source: "server",
  session_id: undefined,
  session_status: "ACTIVE",
  score: 3,
  label: "Bot",
  action: "MONITOR",
  summary: "100 % of its log-ins failed.",
  highlights: ["100 % of its log-ins failed."],
  explanation: {
    fraud_reason: "Failed log-ins",
    fraud_reason_description: "100 % of its log-ins failed.",
    fraud_types: ["Bot Creation"],
    model_behaviour: null,
  },
};

const idOf = (number: number) => `019a8b1c-0000-7000-8000-${String(number).padStart(12, "0")}`;

function detected(): CaseDocument[] {
  return Array.from({ length: 10 }, (_, place) => {
    const ids = (step: number) => ({
      case_id: idOf(place),
      state_id: idOf(100 + place * 10 + step),
      occurrence_id: idOf(1_000 + place * 10 + step),
      prediction_id: idOf(2_000 + place * 10 + step),
    });
    const now = `2026-11-15T09:30:0${place}.000Z`;
    const { document } = openCase({ tenant_id, website_account_id: `user-${place}` }, finding, ids(0), now);
    return place % 2 === 0 ? document : joinCase(document, finding, ids(1), now).document;
  });
}

// As PostgreSQL's format() does it.
function filled(template: Template, values: string[]): CaseDocument {
  const text = template.document.replaceAll(/%(?:(\d)\$s|%)/g, (_, place: string | undefined) =>
    place === undefined ? "%" : (values[Number(place) - 1] ?? ""),
  );
  // The test checks that this is a document.
  return JSON.parse(text) as CaseDocument;
}

test("store: every copy is a case as the service would have written it, and agrees with its columns", () => {
  const [id, tenant, created, changed] = [idOf(9), idOf(8), "2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
  const made = makeTemplates(detected());
  expect(made).toHaveLength(kinds.length * labelShares.length * scoreShares.length * variants);
  for (const [place, template] of made.entries()) {
    expect(template.place).toBe(place);
    const document = filled(template, [id, tenant, "member-7", created, changed]);
    expect(document).toMatchObject({
      case_id: id,
      tenant_id: tenant,
      website_account_id: "member-7",
      status: template.status,
      case_version: template.case_version,
      created_at: created,
      updated_at: template.is_changed ? changed : null,
      current_state: { case_status: template.status, score: template.overall_risk_score },
    });
    expect(document.details.primary_fraud_label).toBe(template.primary_fraud_label);
    expect(document.details.summary).toBe(finding.summary);
    expect(document.case_version).toBe(1 + document.state_history.length);
  }
});

test("store: the shares add up to one", () => {
  for (const shares of [kinds, labelShares, scoreShares]) {
    const sum = shares.reduce((total: number, [, share]) => total + share, 0);
    expect(sum).toBeCloseTo(1);
  }
});

test("store: one third of the copies each are closed, open, and open with new evidence", () => {
  const made = makeTemplates(detected());
  const third = made.length / 3;
  expect(made.filter(({ status }) => status === "CLOSED")).toHaveLength(third);
  expect(made.filter(({ status, is_changed }) => status === "OPEN" && !is_changed)).toHaveLength(third);
  expect(made.filter((each) => each.has_new_evidence)).toHaveLength(third);
});
