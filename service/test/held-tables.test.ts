import { expect, onTestFinished, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { TestTenant, expectProblem, send } from "./harness.ts";
import { Browser, invite } from "./people.ts";
import { useOwnService } from "./process.ts";

// Uses its own database, because whole tables are locked here.
const service = useOwnService({ roles: new Set(["api", "engine"]) });

async function hold(statement: string): Promise<() => Promise<void>> {
  const holder = await service.current.database.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query(statement);
  return async () => void (await holder.query("rollback"));
}

test("GET 502: if a table is locked, the database counts as unreachable, and a read is never reported as contended", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id, website_account_id: account } = await tenant.openCase();
  const release = await hold("lock table cases, accounts in access exclusive mode");
  const paths = ["/cases", `/cases/${id}`, "/enduseraccounts", `/enduseraccounts/${account}`];
  const answers = await Promise.all(paths.map((path) => tenant.call("GET", path)));
  await release();
  for (const answer of answers) expectProblem(answer, 502, "bad-gateway");
  expect((await tenant.call("GET", `/cases/${id}`)).status).toBe(200);
});

test("GET 502: if the person's session is locked, the database also counts as unreachable", async () => {
  const tenant = await TestTenant.create(service.current);
  const { link } = await invite(tenant, "investigator");
  const browser = await Browser.take(service.current, link.url);
  const longAgo = new Date(Date.now() - 10 * 60_000).toISOString();
  await service.current.database.transaction((tx) => tx.query(sql`update web_sessions set seen_at = ${longAgo}`));
  const release = await hold("select 1 from web_sessions for update");
  const headers = { cookie: browser.cookie };
  const answer = await send(service.current.port, "GET", `/v2/${tenant.slug}/cases`, { headers });
  await release();
  expect(expectProblem(answer, 502, "bad-gateway").detail).not.toMatch(/lock|web_sessions/);
});
