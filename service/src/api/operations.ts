import { accountOperations } from "./accounts.ts";
import { activityOperations } from "./activities.ts";
import { caseOperations } from "./cases.ts";
import type { Operation } from "./operation.ts";
import { tenantOperations } from "./tenants.ts";

// The one table: router, validation, OpenAPI document, client and isolation tests are made from it.
export const operations: readonly Operation[] = [
  ...caseOperations,
  ...accountOperations,
  ...activityOperations,
  ...tenantOperations,
];
