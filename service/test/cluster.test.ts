import { randomUUID } from "node:crypto";
import { describe, expect, inject, test } from "vitest";
import { askPage } from "../src/db/citus/node-pages.ts";
import { askTenantIds, listNodes } from "../src/db/citus/nodes.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { runCli } from "./cli.ts";
import { send, useService } from "./harness.ts";
import { ServiceProcess } from "./launch.ts";

// Runs only in the suite on a cluster.
describe.skipIf(inject("citusUrl") === null)("a Citus cluster", () => {
  const service = useService();
  const env = { DATABASE_URL: inject("databaseUrl") };

  test("GET readyz 200: counts the nodes and names none", async () => {
    const { status, json, text } = await send(service.current.port, "GET", "/readyz");
    const { nodes } = json as unknown as { nodes: { all: number; reachable: number } };
    expect(status).toBe(200);
    expect(nodes.all).toBeGreaterThan(1);
    expect(nodes.reachable).toBe(nodes.all);
    expect(text).not.toMatch(/127\.0\.0\.1|localhost/);
  });

  test("doctor: each node answers, and no table is misplaced", async () => {
    const { out } = await runCli(["doctor"], env);
    expect(out).toMatch(/^ok {4}cluster +\S+:\d+ answers$/m);
    expect(out).not.toMatch(/^FAIL {2}cluster/m);
  });

  test("polls: questions that are asked during a round wait for the next one", async () => {
    const { database } = service.current;
    const begun = Promise.withResolvers<void>();
    let [underWay, most] = [0, 0];
    const watched: Queryable = {
      isCluster: true,
      query: (asked) => {
        begun.resolve();
        most = Math.max(most, ++underWay);
        return database.query<never>(asked).finally(() => underWay--);
      },
    };
    const ask = () => askTenantIds(watched, statement("select tenant_id from inbox where tenant_id is null", []));
    const first = ask();
    await begun.promise;
    expect(await Promise.all([first, ask()])).toEqual([[], []]);
    // A round is one statement for each worker.
    expect(most).toBeLessThan((await listNodes(database)).length);
  });

  test("lists: a node answers with a kept plan, with a new one, in a transaction, and after it has dropped its plans", async () => {
    const { database } = service.current;
    const tenantId = randomUUID();
    const ask = (asked: Queryable, isKept: boolean, text = "'s") =>
      askPage(asked, {
        text: `select $2::text || '${text.replaceAll("'", "''")} ' || count(*) from event_counters where tenant_id = $1 and $3::text[] <> '{}'`,
        values: [tenantId, "it", ["a'", 'b"\\']],
        isKept,
      });
    for (const isKept of [true, true, false, false, true]) expect(await ask(database, isKept)).toBe("it's 0");
    expect(await database.transaction(async (tx) => [await ask(tx, true), await ask(tx, false)])).toEqual(["it's 0", "it's 0"]);
    for (let each = 0; each < 120; each++) expect(await ask(database, true, String(each))).toBe(`it${each} 0`);
    expect(await ask(database, true)).toBe("it's 0");
  });
});

describe.skipIf(inject("citusUrl") === null)("the tables of a Citus cluster", () => {
  const service = useService();
  const env = { DATABASE_URL: inject("databaseUrl") };

  test("distribute: nothing is left to do, and a second run changes nothing", async () => {
    expect(await runCli(["distribute", "--check"], env)).toMatchObject({ code: 0, out: "every table is where it should be\n" });
    expect(await runCli(["distribute"], env)).toMatchObject({ code: 0, out: "nothing to do\n" });
  });

  test("distribute: the planner of each node knows the shards", async () => {
    const shards = await service.current.database.query<{ rows: string }>(
      statement(
        "select result as rows from run_command_on_shards('cases', $$select reltuples from pg_class where oid = '%s'::regclass$$)",
        [],
      ),
    );
    expect(shards).not.toEqual([]);
    // It would be -1 without statistics.
    for (const { rows } of shards) expect(Number(rows)).toBeGreaterThanOrEqual(0);
  });

  test("ROW_SECURITY=on: the service does not start, and says so in one line", async () => {
    const refused = await new ServiceProcess({ ...env, ROW_SECURITY: "on" }).refusal();
    expect(refused).toContain("ROW_SECURITY: it does not work on a Citus cluster: set it to off");
  });

  test("backup exit 1: a cluster cannot be saved in one file", async () => {
    const { code, err } = await runCli(["backup", "/tmp/casehound-never.dump"], env);
    expect(code).toBe(1);
    expect(err).toMatch(/^casehound: a Citus cluster cannot be saved in one file/);
  });
});
