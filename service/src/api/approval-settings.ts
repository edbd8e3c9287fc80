import { findClosingSetting } from "../db/closing-settings.ts";
import type { Queryable } from "../db/postgres/database.ts";
import {
  ApprovalSettings,
  ApprovalSettingsChange,
  approvalSettingsFaults,
  changeApprovalSettings,
  noApprovalSettings,
  orderedSettings,
  type StoredApprovalSettings,
} from "../domain/approval-settings.ts";
import { replaceClosingSetting } from "./closing-settings.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const kind = "approvals";

export async function findApprovalSettings(database: Queryable, tenantId: string): Promise<ApprovalSettings> {
  const wanted = { kind, initial: noApprovalSettings } as const;
  const { definition, version, ...rest } = await findClosingSetting<StoredApprovalSettings>(database, tenantId, wanted);
  return { ...orderedSettings(definition), approval_settings_version: version, ...rest };
}

async function read({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await findApprovalSettings(database, caller.tenant_id));
}

function update(services: Services, { caller, body }: Call<ApprovalSettingsChange>): Promise<Reply> {
  const faults = approvalSettingsFaults(body);
  if (faults.length > 0) throw invalid(faults);
  return replaceClosingSetting(services, caller, {
    kind,
    find: findApprovalSettings,
    change: (found, actor) => changeApprovalSettings(found, body, actor),
    toStored: ({ approval_settings_version: version, updated_at, updated_by, ...definition }) => ({
      version,
      definition,
      updated_at,
      updated_by,
    }),
    eventType: "approval_settings.updated",
    tell: orderedSettings,
  });
}

const common = { path: "/approval-settings", tag: "Approvals" } as const;

export const approvalSettingsOperations: Operation[] = [
  operation({
    ...common,
    id: "getApprovalSettings",
    method: "GET",
    scope: "read:case",
    summary: "Read which changes need a second person",
    success: { status: 200, description: "The settings", schema: ApprovalSettings },
    problems: [],
    handle: read,
  }),
  operation({
    ...common,
    id: "updateApprovalSettings",
    method: "PUT",
    scope: "update:tenant",
    summary: "Set which changes need a second person",
    description:
      "Replaces all settings, if `approval_settings_version` is the current one. They apply to people, and to clients only with `includes_clients`. Pending requests stay as they are.",
    body: ApprovalSettingsChange,
    success: { status: 200, description: "The settings after the change", schema: ApprovalSettings },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: {
      bulk_over: 20,
      bulk_minutes: 60,
      blocking: true,
      amounts: [{ currency: "EUR", above: 5000 }],
      includes_clients: false,
      approval_settings_version: 1,
    },
    handle: update,
  }),
];
