import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { send } from "../../service/test/send.ts";
import { drain } from "../histories/ending.ts";
import { takeToken, type Doors, type Setting } from "../histories/mission.ts";
import type { Findings } from "../part.ts";

const batch = 20;
const pauseMs = 50;

type Kind = { type: string; attributes?: Record<string, number> };
const kinds: Kind[] = [
  { type: "login_succeeded" },
  { type: "login_failed" },
  { type: "payment", attributes: { amount: 42 } },
  { type: "page_view" },
  { type: "email_changed" },
];

// Sends a shop's activity to both processes in turn, and counts what they accepted.
export class Sender {
  readonly #setting: Setting;
  readonly #doors: Doors;
  readonly #token: string;
  readonly #violations: string[] = [];
  #accepted = 0;

  private constructor(setting: Setting, doors: Doors, token: string) {
    this.#setting = setting;
    this.#doors = doors;
    this.#token = token;
  }

  static async open(setting: Setting, doors: Doors): Promise<Sender> {
    return new Sender(setting, doors, await takeToken(doors[0].port, setting.tenant));
  }

  get figures(): Findings["figures"] {
    return { "activities accepted and scored": this.#accepted };
  }

  async run(isOver: () => boolean): Promise<void> {
    for (let turn = 0; !isOver(); turn++) {
      await this.#send(turn);
      await sleep(pauseMs);
    }
  }

  async audit(): Promise<string[]> {
    const { stand, tenant } = this.#setting;
    await drain(stand.database, tenant.tenant_id);
    const scored = await countScored(stand.database, tenant.tenant_id);
    const lost = scored !== this.#accepted && [`${this.#accepted} activities were accepted, and ${scored} are in the log`];
    return lost ? [...this.#violations, ...lost] : this.#violations;
  }

  async #send(turn: number): Promise<void> {
    const door = this.#doors[turn % 2 === 0 ? 0 : 1];
    const { port } = door;
    door.count(port, 1);
    try {
      const activities = Array.from({ length: batch }, (_, index) => activityOf(turn, index));
      const path = `/v2/${this.#setting.tenant.tenant}/activities`;
      const { status, text } = await send(port, "POST", path, { token: this.#token, body: { activities } });
      if (status === 202) this.#accepted += batch;
      else this.#violations.push(`POST /activities returned ${status}: ${text.slice(0, 200)}`);
    } finally {
      door.count(port, -1);
    }
  }
}

function activityOf(turn: number, index: number) {
  const { type, attributes } = kinds[index % kinds.length] ?? { type: "page_view" };
  return {
    activity_id: `sent-${randomUUID()}`,
    type,
    occurred_at: new Date().toISOString(),
    website_account_id: `member-${(turn * 7 + index) % 200}`,
    device_id: `device-${(turn * 7 + index) % 150}`,
    ip: `198.51.100.${(turn + index) % 250}`,
    ...(attributes && { attributes }),
  };
}

async function countScored(database: Database, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    statement("select count(*)::int as count from activities where tenant_id = $1 and activity_id like 'sent-%'", [tenantId]),
  );
  return row?.count ?? 0;
}
