import { releasedByDefault, type Figures, type Model, type StateChange } from "../domain/model.ts";
import type { Moment } from "../domain/label.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type ModelRow = Row & {
  model_id: string;
  moment: Moment;
  state: Model["state"];
  figures: Figures;
  trained_from: string;
  trained_until: string;
  created_at: string;
  created_by: string;
  promoted_at: string | null;
  promoted_by: string | null;
  retired_at: string | null;
  retired_by: string | null;
};

function toModel({ promoted_at, promoted_by, retired_at, retired_by, ...row }: ModelRow): Model {
  return {
    model_id: row.model_id,
    moment: row.moment,
    state: row.state,
    figures: row.figures,
    trained_from: row.trained_from,
    trained_until: row.trained_until,
    created_at: row.created_at,
    created_by: row.created_by,
    ...(promoted_at !== null && { promoted_at }),
    ...(promoted_by !== null && { promoted_by }),
    ...(retired_at !== null && { retired_at }),
    ...(retired_by !== null && { retired_by }),
  };
}

export type NewModel = Omit<Model, "state"> & { text: string };

// Returns false if the tenant already has this model, which happens if there was nothing new to learn.
export async function insertModel(tx: Queryable, tenantId: string, added: NewModel): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into models (
      tenant_id, model_id, moment, state, text, figures, trained_from, trained_until, created_at, created_by
    )
    values (
      ${tenantId}, ${added.model_id}, ${added.moment}, 'RETIRED', ${added.text}, ${JSON.stringify(added.figures)},
      ${added.trained_from}, ${added.trained_until}, ${added.created_at}, ${added.created_by}
    )
    on conflict (tenant_id, model_id) do nothing
    returning 1 as added`);
  return rows.length > 0;
}

// Deletes the oldest retired models of a moment.
export async function deleteModelsBeyond(
  tx: Queryable,
  tenantId: string,
  { moment, keptMax }: { moment: Moment; keptMax: number },
): Promise<void> {
  await tx.query(sql`
    delete from models
    where tenant_id = ${tenantId}
      and state = 'RETIRED'
      and model_id in (
        select model_id
        from models
        where tenant_id = ${tenantId} and moment = ${moment}
        order by created_at desc, model_id
        offset ${keptMax}
      )`);
}

// Newest first, without their texts and profiles, which would be most of the response.
export async function listModels(database: Queryable, tenantId: string): Promise<Model[]> {
  const rows = await database.query<ModelRow>(sql`
    select model_id, moment, state, figures - 'profile' as figures, trained_from, trained_until, created_at, created_by,
      promoted_at, promoted_by, retired_at, retired_by
    from models
    where tenant_id = ${tenantId}
    order by created_at desc, model_id`);
  return rows.map(toModel);
}

export type StoredModel = { model: Model; text: string };

// Finds a model by its id or by the first 12 characters of it, which decisions store.
export async function findModel(database: Queryable, tenantId: string, id: string): Promise<StoredModel | undefined> {
  if (!/^[0-9a-f]{12}([0-9a-f]{52})?$/.test(id)) return undefined;
  const [row] = await database.query<ModelRow & { text: string }>(sql`
    select model_id, moment, state, figures, trained_from, trained_until, created_at, created_by,
      promoted_at, promoted_by, retired_at, retired_by, text
    from models
    where tenant_id = ${tenantId} and model_id >= ${id} and model_id < ${`${id}g`}
    limit 1`);
  return row && { model: toModel(row), text: row.text };
}

export type ServingRow = { model_id: string; moment: Moment; state: "CHAMPION" | "CHALLENGER"; text: string };

export async function listServing(tx: Queryable, tenantId: string): Promise<ServingRow[]> {
  return tx.query<Row & ServingRow>(sql`
    select model_id, moment, state, text
    from models
    where tenant_id = ${tenantId} and state in ('CHAMPION', 'CHALLENGER')`);
}

export async function findReleasedRules(tx: Queryable, tenantId: string): Promise<string[]> {
  const [row] = await tx.query<{ released_rules: string[] | null }>(sql`
    select released_rules
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row?.released_rules ?? [...releasedByDefault];
}

// The caller has locked the tenant's settings. Retirements are written first, because a moment can have only one champion.
export async function saveModelStates(tx: Queryable, tenantId: string, changes: StateChange[]): Promise<void> {
  const order = changes.toSorted((one, other) => Number(other.state === "RETIRED") - Number(one.state === "RETIRED"));
  for (const { model_id, state, by, at } of order) {
    const isRetired = state === "RETIRED";
    const isPromoted = state === "CHAMPION";
    await tx.query(sql`
      update models
      set state = ${state},
        promoted_at = case when ${isPromoted} then ${at}::timestamptz else promoted_at end,
        promoted_by = case when ${isPromoted} then ${by} else promoted_by end,
        retired_at = case when ${isRetired} then ${at}::timestamptz end,
        retired_by = case when ${isRetired} then ${by} end
      where tenant_id = ${tenantId} and model_id = ${model_id}`);
  }
  if (changes.length > 0) await raiseModelsRevision(tx, tenantId);
}

export async function saveReleasedRules(tx: Queryable, tenantId: string, ruleIds: string[]): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set released_rules = ${ruleIds}
    where tenant_id = ${tenantId}`);
  await raiseModelsRevision(tx, tenantId);
}

export async function saveFigures(
  tx: Queryable,
  tenantId: string,
  { model_id, figures }: Pick<Model, "model_id" | "figures">,
): Promise<void> {
  await tx.query(sql`
    update models
    set figures = ${JSON.stringify(figures)}
    where tenant_id = ${tenantId} and model_id = ${model_id}`);
}

// Lists the challengers of all tenants that were already rating activity at this time.
export async function listChallengers(
  database: Queryable,
  createdBefore: string,
): Promise<{ tenant_id: string; model_id: string }[]> {
  return askTenants<Row & { tenant_id: string; model_id: string }>(
    database,
    sql`
    select tenant_id, model_id
    from models
    where state = 'CHALLENGER' and created_at <= ${createdBefore}`,
  );
}

async function raiseModelsRevision(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(sql`
    update detection_settings
    set models_revision = models_revision + 1
    where tenant_id = ${tenantId}`);
}
