import { findClosingSetting } from "../db/closing-settings.ts";
import type { Queryable } from "../db/postgres/database.ts";
import type { CaseChange } from "../domain/case.ts";
import {
  OwnDispositions,
  OwnDispositionsChange,
  changeOwnDispositions,
  orderedDisposition,
  ownDispositionFaults,
  ownDispositionsMax,
  resolved,
  type OwnDisposition,
} from "../domain/own-disposition.ts";
import { replaceClosingSetting } from "./closing-settings.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const kind = "own_dispositions";

async function findOwnDispositions(database: Queryable, tenantId: string): Promise<OwnDispositions> {
  const wanted = { kind, initial: [] } as const;
  const { definition, version, ...rest } = await findClosingSetting<readonly OwnDisposition[]>(database, tenantId, wanted);
  return { own_dispositions: definition.map(orderedDisposition), dispositions_version: version, ...rest };
}

type Wanted = { id: string; change: CaseChange };

// Adds to each change the disposition that its own one counts as. Called after the key is claimed, so that a repeat returns the first
// result even if the tenant has removed the disposition since.
export async function resolveOwnDispositions(tx: Queryable, tenantId: string, wanted: Wanted[]): Promise<Wanted[]> {
  if (wanted.every(({ change }) => change.own_disposition === undefined)) return wanted;
  const { own_dispositions: known } = await findOwnDispositions(tx, tenantId);
  return wanted.map(({ id, change }) => {
    const found = resolved(change, known);
    if ("field" in found) throw invalid([found]);
    return { id, change: found };
  });
}

async function read({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await findOwnDispositions(database, caller.tenant_id));
}

function update(services: Services, { caller, body }: Call<OwnDispositionsChange>): Promise<Reply> {
  const faults = ownDispositionFaults(body.own_dispositions);
  if (faults.length > 0) throw invalid(faults);
  return replaceClosingSetting(services, caller, {
    kind,
    find: findOwnDispositions,
    change: (found, actor) => changeOwnDispositions(found, body, actor),
    toStored: ({ own_dispositions: definition, dispositions_version: version, ...rest }) => ({ version, definition, ...rest }),
    eventType: "dispositions.updated",
    tell: ({ own_dispositions: { length: entries } }) => ({ entries }),
  });
}

const tag = "Cases";
const path = "/dispositions";

export const ownDispositionOperations: Operation[] = [
  operation({
    id: "getDispositions",
    method: "GET",
    path,
    scope: "read:case",
    tag,
    summary: "Read the tenant's own dispositions",
    description:
      "Each counts as one of CONFIRMED_FRAUD, FALSE_POSITIVE and INCONCLUSIVE. Labels, rules and models know only those three.",
    success: { status: 200, description: "The own dispositions", schema: OwnDispositions },
    problems: [],
    handle: read,
  }),
  operation({
    id: "updateDispositions",
    method: "PUT",
    path,
    scope: "update:tenant",
    tag,
    summary: "Change the tenant's own dispositions",
    description: `Replaces all own dispositions, at most ${ownDispositionsMax}. Closed cases keep what they were closed with.`,
    body: OwnDispositionsChange,
    success: { status: 200, description: "The own dispositions after the change", schema: OwnDispositions },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: { own_dispositions: [{ name: "Card testing", disposition: "CONFIRMED_FRAUD" }], dispositions_version: 1 },
    handle: update,
  }),
];
