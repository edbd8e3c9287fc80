import { Type } from "typebox";
import { listActivitiesOfDecisions } from "../db/timeline.ts";
import { findListed } from "../db/value-lists.ts";
import { listedRow } from "../detection/listed-event.ts";
import { keyOf, type ListType } from "../domain/list.ts";
import { CaseValue } from "../domain/list-preview.ts";
import { sources } from "../domain/source.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { caseSpan, requireCase } from "./timeline.ts";

const activitiesMax = 1_000;
const valuesMax = 50;
// In the order in which they are offered.
const types = ["device", "ip", "email", "payee", "instrument", "account"] as const satisfies ListType[];

// What the case's evidence names. The source says who named it: anybody can make a page name a stranger's device.
async function caseValues(services: Services, call: Call): Promise<Reply> {
  const found = await requireCase(services, call);
  const { tenant_id: tenantId, scopes } = call.caller;
  const prediction_ids = Object.values(found.fraud_occurrences).map((each) => each.prediction_id);
  const page = { ...caseSpan(found), prediction_ids, after: null, limit: activitiesMax };
  const rows = await listActivitiesOfDecisions(services.database, tenantId, page);
  const values = new Map<string, CaseValue & { key: string }>();
  for (const { source, values: own } of rows.map(listedRow)) {
    for (const type of types) {
      const value = own[type];
      const keyed = value === undefined ? null : keyOf(type, value);
      if (value === undefined || keyed === null || "problem" in keyed) continue;
      const known = values.get(`${type} ${keyed.key}`) ?? { type, value, source, activities: 0, lists: [], key: keyed.key };
      const strongest = sources.indexOf(source) > sources.indexOf(known.source) ? source : known.source;
      values.set(`${type} ${keyed.key}`, { ...known, source: strongest, activities: known.activities + 1 });
    }
  }
  const all = [...values.values()]
    .toSorted((a, b) => types.indexOf(typeOf(a)) - types.indexOf(typeOf(b)) || b.activities - a.activities)
    .slice(0, valuesMax);
  const listed = scopes.has("read:lists") ? await findListed(services.database, tenantId, all) : () => [];
  return dataReply({ values: all.map(({ key, ...value }) => ({ ...value, lists: listed(value.type, key) })) });
}

function typeOf({ type }: CaseValue): (typeof types)[number] {
  return types.find((each) => each === type) ?? "account";
}

export const caseValueOperations: Operation[] = [
  operation({
    id: "listCaseValues",
    method: "GET",
    path: "/cases/{case_id}/values",
    scope: "read:case",
    tag: "Lists",
    summary: "List what a case could add to lists",
    description: "The devices, addresses, e-mail addresses, payees, instruments and accounts that the case's evidence names.",
    success: {
      status: 200,
      description: "The values",
      schema: Type.Object({ values: Type.Array(CaseValue) }, { additionalProperties: false }),
    },
    problems: ["bad-request", "item-not-found"],
    handle: caseValues,
  }),
];
