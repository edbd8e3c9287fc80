import { insertModel, saveModelStates } from "../../service/src/db/models.ts";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { lockSettings } from "../../service/src/db/rules.ts";
import { encodeModel } from "../../service/src/detection/model/format.ts";
import { findPlace } from "../../service/src/detection/vector.ts";

const leaf = (value: number) => ({ value, cover: 10 });

// Stores a model as training does, and returns its id. The limit makes it different from every other model.
export async function storeModel(database: Database, tenantId: string, limit: number): Promise<string> {
  const field = findPlace("event.value")?.code ?? "";
  const tree = { field, threshold: limit, missing: "left" as const, left: leaf(-1), right: leaf(1) };
  const trained = { rows: 2, frauds: 1, seed: 1 };
  const { id, text } = encodeModel({ prior: { a: 0, b: 1 }, trees: [tree], trained });
  const at = new Date().toISOString();
  const figures = { trees: 1, rows: 2, frauds: 1, offset: 0, held_out: null };
  const times = { trained_from: at, trained_until: at, created_at: at, created_by: "system" };
  await database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, at);
    await insertModel(tx, tenantId, { model_id: id, moment: "value", text, figures, ...times });
    await saveModelStates(tx, tenantId, [{ model_id: id, state: "RETIRED", by: "system", at }]);
  });
  return id;
}
