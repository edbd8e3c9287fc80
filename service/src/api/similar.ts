import { listCases } from "../db/lists.ts";
import { findDecisions } from "../db/similar.ts";
import type { Features } from "../detection/catalogue.ts";
import { reportName } from "../detection/report.ts";
import { similarityOf } from "../detection/similarity.ts";
import { unpack } from "../detection/vector.ts";
import { unknownAccount } from "../domain/account.ts";
import type { CaseDocument } from "../domain/case.ts";
import type { StoredDecision } from "../domain/decision.ts";
import { compareEvidence } from "../domain/evidence.ts";
import type { Occurrence } from "../domain/finding.ts";
import { SimilarCases, comparedMax, similarFrom, summarize, type SimilarCase } from "../domain/similar.ts";
import { judgedIn } from "../domain/snooze.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { requireCase } from "./timeline.ts";

const partSize = 20;

type Candidate = { document: CaseDocument; lead: Occurrence };

async function similarCases(services: Services, call: Call): Promise<Reply> {
  const { database } = services;
  const { tenant_id: tenantId } = call.caller;
  const found = withLead(await requireCase(services, call));
  const candidates = found ? await listCandidates(services, tenantId, found) : [];
  if (!found || candidates.length === 0) return dataReply(summarize([]));
  const vectors = await findDecisions(
    database,
    tenantId,
    [found, ...candidates].map(({ lead }) => lead),
  );
  const own = featuresOf(vectors.get(found.lead.prediction_id));
  const compared = candidates.flatMap((each): SimilarCase[] => {
    const features = featuresOf(vectors.get(each.lead.prediction_id));
    if (!own || !features) return [];
    return shown(each, hasSharedReason(found.lead, each.lead) ? similarityOf(own, features) : 0);
  });
  return dataReply(summarize(compared));
}

// The story of a case is its strongest evidence.
function withLead(document: CaseDocument): Candidate | null {
  const [lead] = Object.values(document.fraud_occurrences).toSorted(compareEvidence);
  return lead ? { document, lead } : null;
}

// The latest closed cases with an outcome, each account once. Otherwise an account with many cases would decide the share alone.
async function listCandidates(services: Services, tenantId: string, { document }: Candidate): Promise<Candidate[]> {
  const filter = { status: "CLOSED", label: document.details.primary_fraud_label };
  const page = { filter, sort: "-updated_at", after: null, limit: comparedMax + 1 } as const;
  const items = await listCases(services.database, tenantId, page);
  const others = items.filter(({ case_id }) => case_id !== document.case_id).slice(0, comparedMax);
  const accounts = new Set<string>();
  const candidates: Candidate[] = [];
  // In parts, because documents can be large, and other requests get their turn in between.
  for (let from = 0; from < others.length; from += partSize) {
    const part = others.slice(from, from + partSize);
    const found = await Promise.all(part.map(({ case_id }) => services.findCase(tenantId, case_id)));
    for (const stored of found) {
      // Written by us.
      const each = stored && withLead(JSON.parse(stored.text) as CaseDocument);
      const account = each?.document.website_account_id ?? unknownAccount;
      if (!each?.document.current_state.disposition || accounts.has(account)) continue;
      if (account !== unknownAccount) accounts.add(account);
      candidates.push(each);
    }
  }
  return candidates;
}

function featuresOf(decision: string | undefined): Features | null {
  if (decision === undefined) return null;
  // Written by us.
  const { f } = JSON.parse(decision) as StoredDecision;
  return f === undefined ? null : unpack(f);
}

// Cases whose strongest evidence has no reason in common are not alike, however close their figures are. A report has no reasons.
function hasSharedReason(one: Occurrence, other: Occurrence): boolean {
  const [a, b] = [judgedIn([one], reportName).rules, judgedIn([other], reportName).rules];
  return a.length + b.length === 0 || a.some((rule) => b.includes(rule));
}

function shown({ document }: Candidate, similarity: number): SimilarCase[] {
  const { case_id, website_account_id, details, current_state: state } = document;
  if (!state.disposition) return [];
  const { disposition, changed_at: decided_at, changed_by: decided_by } = state;
  const { overall_risk_score, subject } = details;
  const rounded = Math.round(similarity * 100) / 100;
  const about = { case_id, website_account_id, ...(subject && { subject }), overall_risk_score };
  return [{ ...about, disposition, decided_at, decided_by, similarity: rounded }];
}

export const similarOperations: Operation[] = [
  operation({
    id: "listSimilarCases",
    method: "GET",
    path: "/cases/{case_id}/similar",
    scope: "read:case",
    furtherScope: "read:cases",
    tag: "Cases",
    summary: "See how similar cases were decided",
    description: `Compares the strongest evidence of the case with that of the latest ${comparedMax} closed cases with the same label. Two cases are similar if they have a reason in common and their values are at least ${similarFrom * 100} % alike. This also requires the scope read:cases.`,
    success: { status: 200, description: "The similar cases and how they were decided", schema: SimilarCases },
    problems: ["bad-request", "item-not-found"],
    handle: similarCases,
  }),
];
