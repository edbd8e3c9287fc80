import { expect, test, vi } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { CasehoundClient, type Case } from "../src/index.ts";

const service = useService();

async function make(): Promise<{ tenant: TestTenant; client: CasehoundClient }> {
  const tenant = await TestTenant.create(service.current);
  const credentials = { clientId: tenant.clientId, clientSecret: tenant.clientSecret };
  return { tenant, client: new CasehoundClient({ baseUrl: service.current.url, tenant: tenant.slug, credentials }) };
}

function nobodyAsks(): never {
  throw new Error("nobody asks");
}

test("closeCase: closes exactly the version that was decided on", async () => {
  const { tenant, client } = await make();
  const opened = await tenant.openCase();
  const seen: Case[] = [];
  const outcome = await client.closeCase(opened.case_id, {
    decide: (fresh) => {
      seen.push(fresh);
      return { disposition: "CONFIRMED_FRAUD", reason: "seen" };
    },
  });
  expect(seen).toEqual([opened]);
  expect(outcome.closed).toBe(true);
  expect(outcome.case).toMatchObject({ status: "CLOSED", case_version: 2, current_state: { reason: "seen" } });
});

test("closeCase: evidence that arrives in between is shown and decided on again, under a new key", async () => {
  const { tenant, client } = await make();
  const opened = await tenant.openCase("busy");
  const versions: number[] = [];
  const outcome = await client.closeCase(opened.case_id, {
    decide: async ({ case_version: version }) => {
      versions.push(version);
      if (versions.length === 1) {
        await tenant.report("busy");
        await vi.waitUntil(async () => (await tenant.read(opened.case_id)).case_version > version, {
          timeout: 20_000,
          interval: 50,
        });
      }
      return { disposition: "CONFIRMED_FRAUD" };
    },
  });
  expect(versions).toEqual([1, 2]);
  expect(outcome).toMatchObject({ closed: true, case: { status: "CLOSED", case_version: 3 } });
});

test("closeCase: null leaves the case open, and `decide` is not called for a closed case", async () => {
  const { tenant, client } = await make();
  const opened = await tenant.openCase();
  expect(await client.closeCase(opened.case_id, { decide: () => null })).toEqual({ closed: false, case: opened });
  const { case: closed } = await client.closeCase(opened.case_id, { decide: () => ({}) });
  expect(await client.closeCase(opened.case_id, { decide: nobodyAsks })).toEqual({ closed: false, case: closed });
});

test("closeCase: throws the conflict if somebody changes the case after every read", async () => {
  const { tenant, client } = await make();
  const opened = await tenant.openCase();
  let decisions = 0;
  const refused = client.closeCase(opened.case_id, {
    decide: async ({ case_version: version }) => {
      decisions++;
      await client.updateCase(opened.case_id, { status: "CLOSED", case_version: version });
      await client.updateCase(opened.case_id, { status: "OPEN", case_version: version + 1 });
      return {};
    },
  });
  await expect(refused).rejects.toMatchObject({ type: "item-version-conflict" });
  expect(decisions).toBe(10);
});

test("each: walks through all pages and yields each entry once", async () => {
  const { tenant, client } = await make();
  const opened = await Promise.all(Array.from({ length: 7 }, (_, index) => tenant.openCase(`one-${index}`)));
  const found: string[] = [];
  for await (const { case_id } of client.each("listCases", { query: { limit: 3, sort: "created_at" } })) found.push(case_id);
  expect(found.toSorted()).toEqual(opened.map(({ case_id }) => case_id).toSorted());
});

test("events: yields every past and future change once and in order, until the signal", async () => {
  const { tenant, client } = await make();
  const opened = await tenant.openCase();
  const stop = new AbortController();
  const found: string[] = [];
  const types = ["case.opened", "case.closed", "case.reopened"];
  for await (const event of client.events({ types, signal: stop.signal })) {
    found.push(event.type);
    const version = event.resource.version ?? 0;
    if (found.length === 1) void client.updateCase(opened.case_id, { status: "CLOSED", case_version: version });
    if (found.length === 2) void client.updateCase(opened.case_id, { status: "OPEN", case_version: version });
    if (found.length === 3) stop.abort();
  }
  expect(found).toEqual(types);
});
