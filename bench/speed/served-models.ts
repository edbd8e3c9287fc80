import type { Database } from "../../service/src/db/postgres/database.ts";
import { momentNames } from "../../service/src/domain/moment.ts";
import { storeModel } from "../../service/test/stored-model.ts";
import { trainAlone } from "./models.ts";

const rows = 20_000;

// Gives a tenant a champion and a challenger for everything that models rate. Returns the number of trees of each.
export async function serveModels(database: Database, tenantId: string): Promise<number> {
  const { model } = trainAlone(rows);
  const { frauds } = model.trained;
  const figures = { trees: model.trees.length, rows, frauds, offset: 0, held_out: null };
  const at = new Date().toISOString();
  let seed = 0;
  for (const moment of momentNames) {
    for (const state of ["CHAMPION", "CHALLENGER"] as const) {
      // Models with the same content have the same id.
      seed++;
      const own = { ...model, trained: { ...model.trained, seed } };
      await storeModel(database, tenantId, { model: own, moment, state, figures, at });
    }
  }
  return model.trees.length;
}
