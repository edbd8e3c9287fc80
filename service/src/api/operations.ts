import { accountOperations } from "./accounts.ts";
import { activityOperations } from "./activities.ts";
import { approvalDecisionOperations } from "./approval-decisions.ts";
import { approvalSettingsOperations } from "./approval-settings.ts";
import { approvalOperations } from "./approvals.ts";
import { assessmentOperations } from "./assessments.ts";
import { backtestOperations } from "./backtests.ts";
import { caseFileOperations } from "./case-file.ts";
import { caseValueOperations } from "./case-values.ts";
import { caseOperations } from "./cases.ts";
import { claimOperations } from "./claims.ts";
import { clientOperations } from "./clients.ts";
import { decisionOperations } from "./decisions.ts";
import { dueTimeOperations } from "./due-times.ts";
import { eventOperations } from "./events.ts";
import { figureOperations } from "./figures.ts";
import { handoverOperations } from "./handovers.ts";
import { identityOperations } from "./identity.ts";
import { importOperations } from "./imports.ts";
import { inboxOperations } from "./inbox.ts";
import { labelOperations } from "./labels.ts";
import { linkOperations } from "./links.ts";
import { listEntryOperations } from "./list-entries.ts";
import { listFileOperations } from "./list-files.ts";
import { listOperations } from "./lists.ts";
import { modelOperations } from "./models.ts";
import type { Operation } from "./operation.ts";
import { noteOperations } from "./notes.ts";
import { notificationOperations } from "./notifications.ts";
import { overviewOperations } from "./overview.ts";
import { ownDispositionOperations } from "./own-dispositions.ts";
import { policyOperations } from "./policy.ts";
import { tenantMetricsOperations } from "./tenant-metrics.ts";
import { provisioningOperations } from "./provisioning.ts";
import { quarantineOperations } from "./quarantine.ts";
import { randomCheckOperations } from "./random-checks.ts";
import { reasonTemplateOperations } from "./reason-templates.ts";
import { ruleOperations } from "./rules.ts";
import { scimDiscoveryOperations } from "./scim/discovery.ts";
import { scimGroupOperations } from "./scim/groups.ts";
import { scimPeopleOperations } from "./scim/people.ts";
import { searchOperations } from "./search.ts";
import { sessionOperations } from "./sessions.ts";
import { signInIssuerOperations } from "./sign-in-issuers.ts";
import { similarOperations } from "./similar.ts";
import { snippetOperations } from "./snippet.ts";
import { snoozeOperations } from "./snoozes.ts";
import { tenantOperations } from "./tenants.ts";
import { thresholdOperations } from "./thresholds.ts";
import { roleOperations } from "./roles.ts";
import { userFactorOperations } from "./user-factors.ts";
import { userOperations } from "./users.ts";
import { timelineOperations } from "./timeline.ts";
import { viewOperations } from "./views.ts";
import { webhookOperations } from "./webhooks.ts";

// The only table of operations. The router, validation, the OpenAPI document, the client and the isolation tests are made from
// it.
export const operations: readonly Operation[] = [
  ...caseOperations,
  ...claimOperations,
  ...noteOperations,
  ...similarOperations,
  ...approvalOperations,
  ...approvalDecisionOperations,
  ...approvalSettingsOperations,
  ...handoverOperations,
  ...inboxOperations,
  ...notificationOperations,
  ...caseFileOperations,
  ...snoozeOperations,
  ...ownDispositionOperations,
  ...reasonTemplateOperations,
  ...searchOperations,
  ...viewOperations,
  ...eventOperations,
  ...sessionOperations,
  ...timelineOperations,
  ...linkOperations,
  ...overviewOperations,
  ...figureOperations,
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
  ...dueTimeOperations,
  ...identityOperations,
  ...clientOperations,
  ...userOperations,
  ...userFactorOperations,
  ...roleOperations,
  ...signInIssuerOperations,
  ...provisioningOperations,
  ...scimDiscoveryOperations,
  ...scimPeopleOperations,
  ...scimGroupOperations,
  ...snippetOperations,
  ...tenantMetricsOperations,
  ...webhookOperations,
];
