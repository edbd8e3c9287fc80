import { findModel } from "../db/models.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { ModelFault, parseModel } from "../detection/model/format.ts";
import { serve, type ServedModel } from "../detection/model/serving.ts";

const keptMax = 20;

// A cache of the most recently used models, which explain decisions. Parsing a model of 200 trees takes 20 ms. A model's id is
// the hash of its text, so an entry never becomes stale.
export class ServedModels {
  readonly #kept = new Map<string, ServedModel | undefined>();

  // Undefined if the model is gone or cannot be read. The engine logs a model that it cannot read.
  async find(database: Queryable, tenantId: string, id: string): Promise<ServedModel | undefined> {
    const key = `${tenantId} ${id}`;
    const found = this.#kept.has(key) ? undefined : await findModel(database, tenantId, id);
    if (found) this.#kept.set(key, servedOrNone(found));
    if (!this.#kept.has(key)) return undefined;
    const model = this.#kept.get(key);
    // The most recently used entry is the last one in the map.
    this.#kept.delete(key);
    this.#kept.set(key, model);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
    return model;
  }
}

function servedOrNone({ model, text }: NonNullable<Awaited<ReturnType<typeof findModel>>>): ServedModel | undefined {
  try {
    return serve(parseModel(text), model.moment, model.model_id);
  } catch (fault) {
    if (fault instanceof ModelFault) return undefined;
    throw fault;
  }
}
