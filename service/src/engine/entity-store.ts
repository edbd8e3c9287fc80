import {
  entityKey,
  entityKinds,
  findStates,
  type EntityId,
  type EntityKind,
  type EntityNames,
  type StoredState,
} from "../db/states.ts";
import type { Queryable } from "../db/postgres/database.ts";
import type { Entity } from "../detection/entity.ts";
import { Ring } from "../detection/ring.ts";

// `stored` are the facts as they were loaded, or null if the entity is new.
type Known = { id: EntityId; entity: Entity<unknown>; stored: string | null };

// Most events only read these, so they are saved only if something was added to them.
const seldomChanged: ReadonlySet<EntityKind> = new Set(["mailbox", "look", "block"]);

// The entities that a batch touches: loaded once, changed by each event in turn, saved once.
export class EntityStore {
  readonly #tx: Queryable;
  readonly #tenantId: string;
  // Keyed by kind, then by name. Joining the two into one key took a tenth of the engine's time.
  readonly #entities: Record<EntityKind, Map<string, Known>> = {
    account: new Map(),
    device: new Map(),
    ip: new Map(),
    network: new Map(),
    value: new Map(),
    payee: new Map(),
    instrument: new Map(),
    mailbox: new Map(),
    look: new Map(),
    block: new Map(),
  };
  readonly #asked = new Map<EntityKind, Set<string>>();

  constructor({ tx, tenantId }: { tx: Queryable; tenantId: string }) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  forgetAccounts(): void {
    this.#entities.account.clear();
    this.#asked.delete("account");
  }

  // Loads what was not asked for before.
  async load(wanted: EntityNames): Promise<void> {
    // The kind is part of the hashed key, so keys of different kinds never collide.
    const names = new Map<string, EntityId & { name: string }>();
    for (const kind of entityKinds) {
      const asked = this.#asked.get(kind) ?? new Set();
      this.#asked.set(kind, asked);
      for (const name of wanted[kind] ?? []) {
        if (asked.has(name)) continue;
        asked.add(name);
        const key = entityKey(kind, name);
        names.set(key, { kind, key, name });
      }
    }
    if (names.size === 0) return;
    for (const row of await findStates(this.#tx, this.#tenantId, [...names.values()])) {
      const { name, ...id } = names.get(row.key) ?? { ...row, name: "" };
      const entity = { ring: Ring.decode(row.ring), facts: JSON.parse(row.facts) };
      this.#entities[id.kind].set(name, { id, entity, stored: row.facts });
    }
  }

  has(kind: EntityKind, name: string): boolean {
    return this.#entities[kind].has(name);
  }

  get<F>(kind: EntityKind, name: string, make: () => F): Entity<F> {
    const known = this.#entities[kind].get(name);
    // All entities of one kind have the same type of facts.
    if (known) return known.entity as Entity<F>;
    const entity = { ring: Ring.empty(), facts: make() };
    this.#entities[kind].set(name, { id: { kind, key: entityKey(kind, name) }, entity, stored: null });
    return entity;
  }

  listChanged(): StoredState[] {
    const all = Object.values(this.#entities).flatMap((known) => [...known.values()]);
    return all.flatMap(({ id, entity, stored }): StoredState[] => {
      const facts = JSON.stringify(entity.facts);
      const isSame = !entity.ring.isChanged && (stored === null || stored === facts);
      return isSame && seldomChanged.has(id.kind) ? [] : [{ ...id, ring: entity.ring.encode(), facts }];
    });
  }
}
