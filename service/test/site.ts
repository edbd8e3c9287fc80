import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect } from "vitest";
import type { Config } from "../src/config.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { QuarantineCount, QuarantineEntry } from "../src/domain/quarantine.ts";
import type { TenantChange } from "../src/domain/tenant.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, newDatabase, send, testConfig, type Answer } from "./harness.ts";
import { listWaiting } from "./inbox.ts";

// A collector on its own database: otherwise an engine would take the stored events out of the inbox.
export function useCollector(overrides: Partial<Config> = {}): { current: Service } {
  const holder: { current: Service } = { current: undefined as never };
  beforeAll(async () => {
    const databaseUrl = await newDatabase();
    holder.current = await startService(testConfig({ roles: new Set(["api", "collector"]), databaseUrl, ...overrides }));
  });
  afterAll(() => holder.current.stop());
  return holder;
}

export const shop = "https://shop.example";

// An event as the SDK creates it, with the test's changes.
export function browserEvent(changed: Record<string, unknown> = {}, attributes: Record<string, unknown> = {}) {
  const timestamp = Date.now();
  return {
    event_type: "add_to_cart",
    event_id: randomUUID(),
    device_id: "bedac25e-e11d-417e-8a7a-25f1c899520b",
    unique_id: "adf6abdf-05d5-415c-ac6f-1757a13e16e2",
    timestamp,
    locale: "en-US",
    zone_offset: 3_600_000,
    platform: "Web",
    screen_height: 1080,
    screen_width: 1920,
    viewport_height: 900,
    viewport_width: 1900,
    sdk_name: "aws-solution-clickstream-sdk",
    sdk_version: "0.12.6",
    user: { _user_id: { value: "user-42", set_timestamp: timestamp } },
    ...changed,
    attributes: { _session_id: "13e16e2a-20261115-004554475", _session_start_timestamp: 1_794_703_554_475, ...attributes },
  };
}

export type Quarantined = { quarantine: QuarantineEntry[]; counts: QuarantineCount[]; next_cursor: string | null };
type Sending = { query?: Record<string, string>; headers?: Record<string, string>; key?: string };

// A tenant's web site, and what became of its pages' events.
export class Site {
  readonly tenant: TestTenant;
  readonly key: string;

  private constructor(tenant: TestTenant, key: string) {
    this.tenant = tenant;
    this.key = key;
  }

  static async create(service: Service, settings: TenantChange = {}): Promise<Site> {
    const tenant = await TestTenant.create(service);
    const answer = await tenant.call("PUT", "/tenants", { body: { allowed_origins: [shop], ...settings } });
    expect(answer.status, answer.text).toBe(200);
    return new Site(tenant, (answer.json.data as { clickstream_app_id: string }).clickstream_app_id);
  }

  // Sends as the SDK does, from an allowed page and with the right hash.
  collect(body: string | Uint8Array<ArrayBuffer>, { query = {}, headers = {}, key = this.key }: Sending = {}): Promise<Answer> {
    const hashCode = createHash("sha256").update(body).digest("hex").slice(0, 8);
    const all = new URLSearchParams({ platform: "Web", appId: key, upload_timestamp: String(Date.now()), hashCode, ...query });
    const options = { rawBody: body, headers: { origin: shop, "accept-language": "en-US,en;q=0.9", ...headers } };
    return send(this.tenant.service.port, "POST", `/collect/${key}?${all.toString()}`, options);
  }

  // The request must be accepted, whatever it contains.
  async post(events: unknown, sending: Sending = {}): Promise<void> {
    const answer = await this.collect(JSON.stringify(events), sending);
    expect(answer).toMatchObject({ status: 200, text: "{}" });
  }

  async stored(): Promise<RecordedActivity[]> {
    const waiting = await listWaiting(this.tenant.service.database, this.tenant.tenantId);
    return waiting.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  }

  async storedOne(): Promise<RecordedActivity> {
    const [only, ...others] = await this.stored();
    expect(others).toEqual([]);
    if (!only) throw new Error("nothing was stored");
    return only;
  }

  async quarantined(query = ""): Promise<Quarantined> {
    const answer = await this.tenant.call("GET", `/quarantine?${query}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.json.data;
  }

  // Counts by reason, over all days.
  async counts(): Promise<Record<string, number>> {
    const { counts } = await this.quarantined();
    const sums: Record<string, number> = {};
    for (const { reason, count } of counts) sums[reason] = (sums[reason] ?? 0) + count;
    return sums;
  }
}

function orderOf({ occurred_at, activity_id }: RecordedActivity): string {
  return `${occurred_at} ${activity_id}`;
}
