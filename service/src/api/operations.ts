import { accountOperations } from "./accounts.ts";
import { activityOperations } from "./activities.ts";
import { backtestOperations } from "./backtests.ts";
import { caseOperations } from "./cases.ts";
import { clientOperations } from "./clients.ts";
import { decisionOperations } from "./decisions.ts";
import type { Operation } from "./operation.ts";
import { tenantMetricsOperations } from "./tenant-metrics.ts";
import { quarantineOperations } from "./quarantine.ts";
import { ruleOperations } from "./rules.ts";
import { snippetOperations } from "./snippet.ts";
import { tenantOperations } from "./tenants.ts";
import { thresholdOperations } from "./thresholds.ts";
import { userOperations } from "./users.ts";

// The one table: router, validation, OpenAPI document, client and isolation tests are made from it.
export const operations: readonly Operation[] = [
  ...caseOperations,
  ...accountOperations,
  ...activityOperations,
  ...ruleOperations,
  ...thresholdOperations,
  ...backtestOperations,
  ...decisionOperations,
  ...quarantineOperations,
  ...tenantOperations,
  ...clientOperations,
  ...userOperations,
  ...snippetOperations,
  ...tenantMetricsOperations,
];
