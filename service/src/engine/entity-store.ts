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

type Known = { id: EntityId; entity: Entity<unknown> };

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

  constructor({ tx, tenantId }: { tx: Queryable; tenantId: string }) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  async load(wanted: EntityNames): Promise<void> {
    // The kind is part of the hashed key, so keys of different kinds never collide.
    const names = new Map<string, EntityId & { name: string }>();
    for (const kind of entityKinds) {
      for (const name of wanted[kind] ?? []) {
        const key = entityKey(kind, name);
        names.set(key, { kind, key, name });
      }
    }
    if (names.size === 0) return;
    for (const row of await findStates(this.#tx, this.#tenantId, [...names.values()])) {
      const { name, ...id } = names.get(row.key) ?? { ...row, name: "" };
      this.#entities[id.kind].set(name, { id, entity: { ring: Ring.decode(row.ring), facts: JSON.parse(row.facts) } });
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
    this.#entities[kind].set(name, { id: { kind, key: entityKey(kind, name) }, entity });
    return entity;
  }

  listChanged(): StoredState[] {
    return Object.values(this.#entities)
      .flatMap((known) => [...known.values()])
      .filter(({ id, entity }) => !seldomChanged.has(id.kind) || entity.ring.isChanged)
      .map(({ id, entity }): StoredState => ({ ...id, ring: entity.ring.encode(), facts: JSON.stringify(entity.facts) }));
  }
}
