import { accountOperations } from "./accounts.ts";
import { activityOperations } from "./activities.ts";
import { assessmentOperations } from "./assessments.ts";
import { backtestOperations } from "./backtests.ts";
import { caseFileOperations } from "./case-file.ts";
import { caseValueOperations } from "./case-values.ts";
import { caseOperations } from "./cases.ts";
import { claimOperations } from "./claims.ts";
import { clientOperations } from "./clients.ts";
import { decisionOperations } from "./decisions.ts";
import { eventOperations } from "./events.ts";
import { identityOperations } from "./identity.ts";
import { importOperations } from "./imports.ts";
import { labelOperations } from "./labels.ts";
import { linkOperations } from "./links.ts";
import { listEntryOperations } from "./list-entries.ts";
import { listFileOperations } from "./list-files.ts";
import { listOperations } from "./lists.ts";
import { modelOperations } from "./models.ts";
import type { Operation } from "./operation.ts";
import { noteOperations } from "./notes.ts";
import { overviewOperations } from "./overview.ts";
import { policyOperations } from "./policy.ts";
import { tenantMetricsOperations } from "./tenant-metrics.ts";
import { quarantineOperations } from "./quarantine.ts";
import { randomCheckOperations } from "./random-checks.ts";
import { ruleOperations } from "./rules.ts";
import { searchOperations } from "./search.ts";
import { sessionOperations } from "./sessions.ts";
import { snippetOperations } from "./snippet.ts";
import { snoozeOperations } from "./snoozes.ts";
import { tenantOperations } from "./tenants.ts";
import { thresholdOperations } from "./thresholds.ts";
import { userOperations } from "./users.ts";
import { timelineOperations } from "./timeline.ts";
import { webhookOperations } from "./webhooks.ts";

// The only table of operations. The router, validation, the OpenAPI document, the client and the isolation tests are made from
// it.
export const operations: readonly Operation[] = [
  ...caseOperations,
  ...claimOperations,
  ...noteOperations,
  ...caseFileOperations,
  ...snoozeOperations,
  ...searchOperations,
  ...eventOperations,
  ...sessionOperations,
  ...timelineOperations,
  ...linkOperations,
  ...overviewOperations,
  ...accountOperations,
  ...activityOperations,
  ...assessmentOperations,
  ...importOperations,
  ...labelOperations,
  ...caseValueOperations,
  ...listEntryOperations,
  ...listFileOperations,
  ...listOperations,
  ...ruleOperations,
  ...thresholdOperations,
  ...policyOperations,
  ...backtestOperations,
  ...decisionOperations,
  ...modelOperations,
  ...randomCheckOperations,
  ...quarantineOperations,
  ...tenantOperations,
  ...identityOperations,
  ...clientOperations,
  ...userOperations,
  ...snippetOperations,
  ...tenantMetricsOperations,
  ...webhookOperations,
];
