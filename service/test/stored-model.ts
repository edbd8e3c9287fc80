import { insertModel, saveModelStates } from "../src/db/models.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { lockSettings } from "../src/db/rules.ts";
import { encodeModel } from "../src/detection/model/format.ts";
import type { Model } from "../src/detection/model/trees.ts";
import type { Moment } from "../src/domain/label.ts";
import type { Figures } from "../src/domain/model.ts";

type Given = { model: Model; moment: Moment; state: "CHAMPION" | "CHALLENGER" | "RETIRED"; figures: Figures; at: string };

// Stores a model as training does. Returns its id. Benchmarks use it too.
export async function storeModel(database: Database, tenantId: string, given: Given): Promise<string> {
  const { model, moment, state, figures, at } = given;
  const { id, text } = encodeModel(model);
  const times = { trained_from: at, trained_until: at, created_at: at };
  await database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, at);
    await insertModel(tx, tenantId, { model_id: id, moment, text, figures, ...times, created_by: "system" });
    await saveModelStates(tx, tenantId, [{ model_id: id, state, by: "system", at }]);
  });
  return id;
}
