import { findReleasedRules, listServing, type ServingRow } from "../db/models.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { ModelFault, parseModel } from "../detection/model/format.ts";
import { noModels, serve, type ServedModel, type Serving } from "../detection/model/serving.ts";
import type { Moment } from "../domain/label.ts";

const tenantsMax = 200;

// Parses a tenant's models once per revision. A model of 200 trees takes 1 MB.
export class ModelSets {
  readonly #sets = new Map<string, { revision: number; serving: Serving }>();
  readonly #onFault: (row: Pick<ServingRow, "model_id" | "moment">, fault: unknown) => void;

  constructor(onFault: (row: Pick<ServingRow, "model_id" | "moment">, fault: unknown) => void) {
    this.#onFault = onFault;
  }

  // Tenants that never had a model have the revision 0.
  async current(tx: Queryable, tenantId: string, revision: number): Promise<Serving> {
    if (revision === 0) return noModels;
    const known = this.#sets.get(tenantId);
    if (known?.revision === revision) return known.serving;
    const rows = await listServing(tx, tenantId);
    const serving: Serving = {
      champions: this.#served(rows, "CHAMPION"),
      challengers: this.#served(rows, "CHALLENGER"),
      released: new Set(await findReleasedRules(tx, tenantId)),
    };
    if (this.#sets.size >= tenantsMax) this.#sets.clear();
    this.#sets.set(tenantId, { revision, serving });
    return serving;
  }

  #served(rows: ServingRow[], state: ServingRow["state"]): Partial<Record<Moment, ServedModel>> {
    const found: Partial<Record<Moment, ServedModel>> = {};
    for (const row of rows.filter((each) => each.state === state)) {
      try {
        found[row.moment] = serve(parseModel(row.text), row.moment, row.model_id);
      } catch (fault) {
        // Without the model, the tenant's rules alone decide.
        if (!(fault instanceof ModelFault)) throw fault;
        this.#onFault(row, fault);
      }
    }
    return found;
  }
}
