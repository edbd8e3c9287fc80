import { findClosingSetting } from "../db/closing-settings.ts";
import type { Queryable } from "../db/postgres/database.ts";
import {
  ReasonTemplates,
  ReasonTemplatesChange,
  changeTemplates,
  defaultTemplates,
  orderedTemplate,
  templateFaults,
  templatesMax,
  type ReasonTemplate,
} from "../domain/reason-template.ts";
import { replaceClosingSetting } from "./closing-settings.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const kind = "reason_templates";

async function findTemplates(database: Queryable, tenantId: string): Promise<ReasonTemplates> {
  const wanted = { kind, initial: defaultTemplates } as const;
  const { definition, version, ...rest } = await findClosingSetting<ReasonTemplate[]>(database, tenantId, wanted);
  return { templates: definition.map(orderedTemplate), templates_version: version, ...rest };
}

async function read({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await findTemplates(database, caller.tenant_id));
}

function update(services: Services, { caller, body }: Call<ReasonTemplatesChange>): Promise<Reply> {
  const faults = templateFaults(body.templates);
  if (faults.length > 0) throw invalid(faults);
  return replaceClosingSetting(services, caller, {
    kind,
    find: findTemplates,
    change: (found, actor) => changeTemplates(found, body, actor),
    toStored: ({ templates: definition, templates_version: version, ...rest }) => ({ version, definition, ...rest }),
    eventType: "reason_templates.updated",
    tell: ({ templates: { length: entries } }) => ({ entries }),
  });
}

const tag = "Cases";
const path = "/reason-templates";

export const reasonTemplateOperations: Operation[] = [
  operation({
    id: "getReasonTemplates",
    method: "GET",
    path,
    scope: "read:case",
    tag,
    summary: "Read the reason templates",
    description:
      "Texts for the reason of a close, which the console offers by label and disposition. Version 1 holds the default templates.",
    success: { status: 200, description: "The templates", schema: ReasonTemplates },
    problems: [],
    handle: read,
  }),
  operation({
    id: "updateReasonTemplates",
    method: "PUT",
    path,
    scope: "update:tenant",
    tag,
    summary: "Change the reason templates",
    description: `Replaces all templates, at most ${templatesMax}. Reasons that were already given do not change.`,
    body: ReasonTemplatesChange,
    success: { status: 200, description: "The templates after the change", schema: ReasonTemplates },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: {
      templates: [
        { name: "Customer denies it", text: "The customer says that this was not them.", labels: ["Account Takeover"] },
      ],
      templates_version: 1,
    },
    handle: update,
  }),
];
