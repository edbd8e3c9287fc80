import { encodeModel } from "../../service/src/detection/model/format.ts";
import { insertModel, saveModelStates } from "../../service/src/db/models.ts";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { lockSettings } from "../../service/src/db/rules.ts";
import { momentNames } from "../../service/src/domain/moment.ts";
import { trainAlone } from "./models.ts";

const rows = 20_000;

// Gives a tenant a champion and a challenger for everything that models rate. Returns the number of trees of each.
export async function serveModels(database: Database, tenantId: string): Promise<number> {
  const { model } = trainAlone(rows);
  const at = new Date().toISOString();
  const { frauds } = model.trained;
  const figures = { trees: model.trees.length, rows, frauds, offset: 0, held_out: null };
  await database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, at);
    let seed = 0;
    for (const moment of momentNames) {
      for (const state of ["CHAMPION", "CHALLENGER"] as const) {
        // Models with the same content have the same id.
        seed++;
        const { id, text } = encodeModel({ ...model, trained: { ...model.trained, seed } });
        await insertModel(tx, tenantId, {
          model_id: id,
          moment,
          text,
          figures,
          trained_from: at,
          trained_until: at,
          created_at: at,
          created_by: "system",
        });
        await saveModelStates(tx, tenantId, [{ model_id: id, state, by: "system", at }]);
      }
    }
  });
  return model.trees.length;
}
