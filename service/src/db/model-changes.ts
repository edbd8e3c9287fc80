import { notFound } from "../domain/failure.ts";
import { promote, retire, stateEvents, type Model } from "../domain/model.ts";
import { appendEvents } from "./events.ts";
import { findModel, listModels, saveModelStates } from "./models.ts";
import type { Queryable } from "./postgres/database.ts";
import { lockSettings } from "./rules.ts";

type Wanted = { model_id: string; to: "CHAMPION" | "RETIRED"; actor: string; now: string; data?: Record<string, unknown> };

// Promotes or retires a model and writes the events, under the lock on the tenant's settings. So simultaneous promotions happen
// one after the other, and each writes its events.
export async function changeModel(tx: Queryable, tenantId: string, wanted: Wanted): Promise<Model> {
  const { model_id, to, actor, now } = wanted;
  await lockSettings(tx, tenantId, now);
  const found = await findModel(tx, tenantId, model_id);
  if (!found) throw notFound("Model", model_id);
  const { model } = found;
  const by = { name: actor, now };
  const champion = (await listModels(tx, tenantId)).find((each) => each.moment === model.moment && each.state === "CHAMPION");
  const changes = to === "CHAMPION" ? promote(model, champion, by) : retire(model, by);
  if (changes.length === 0) return model;
  await saveModelStates(tx, tenantId, changes);
  await appendEvents(tx, tenantId, stateEvents(changes, { moment: model.moment, ...wanted.data }));
  return (await findModel(tx, tenantId, model.model_id))?.model ?? model;
}
