import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { ownWaitingMax, waitingMax } from "../src/domain/approval.ts";
import type { Case } from "../src/domain/case.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { decide, listed, openCases, pair, readApproval, request, requested, seen } from "./approving.ts";
import { expectProblem, useService } from "./harness.ts";

const service = useService();

const team = (settings: Parameters<typeof pair>[1] = {}) => pair(service.current, settings);
const change = (text: string, ...values: unknown[]) => service.current.database.query(statement(text, values));
const blocks = { account: { is_blocked: true } };

test("POST approvals 422: one person's requests and the tenant's are limited; those that are stale or decided leave room", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const [found, other] = (await openCases(tenant, 2)) as [Case, Case];
  const body = { cases: seen([found]), ...blocks };
  const answers = await Promise.all(Array.from({ length: ownWaitingMax + 3 }, () => request(ada, body)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(ownWaitingMax);
  expect((await request(ben, body)).status).toBe(201);
  const [first = ""] = await listed(ben, "status=PENDING&limit=1");
  await decide(ben, { approval_id: first }, "WITHDRAWN");
  await decide(ben, { approval_id: (await listed(ada, `case_id=${found.case_id}`)).at(-1) ?? "" }, "REJECTED");
  expect((await request(ada, body)).status).toBe(201);
  expectProblem(await request(ada, body), 422, "validation-error");
  await ben.call("POST", `/cases/${found.case_id}/notes`, { body: { text: "New." }, key: randomUUID() });
  expect((await request(ada, { cases: seen([other]), ...blocks })).status).toBe(201);
  const [text, copies] = ["insert into approvals select $1, gen_random_uuid(), 'PENDING'", waitingMax];
  const rest = "closing, because, 0, null, '', now(), 'x', gen_random_uuid(), expires_at, null, null, ''";
  const from = "from approvals, generate_series(1, $2) where tenant_id = $1 and approval_id = $3";
  await change(`${text}, ${rest} ${from}`, tenant.tenantId, copies, first);
  expectProblem(await request(ben, { cases: seen([other]), ...blocks }), 422, "validation-error");
});

test("erasure: no request names the account or quotes what was written about it, and nobody can approve it", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const account = `victim-${randomUUID()}`;
  const [own, other] = [await tenant.openCase(account), await tenant.openCase()];
  const key = randomUUID();
  const body = { cases: seen([own]), ...blocks, reason: `Jane Doe ${account}`, note: `Jane says ${account}` };
  const made = (await request(ada, body, key)).json.data as { approval_id: string };
  const flags = await requested(ada, { website_account_id: account, ...blocks, note: "Jane again" });
  const elsewhere = await requested(ada, { cases: seen([other]), reason: `As with ${account}.`, note: account });
  await decide(ben, elsewhere, "REJECTED", `See ${account}.`);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  const texts = await Promise.all([
    ada.call("GET", "/approvals"),
    ada.call("GET", "/inbox"),
    tenant.call("GET", "/events?limit=1000"),
    request(ada, body, key),
    ...[made, flags, elsewhere].map(({ approval_id }) => ada.call("GET", `/approvals/${approval_id}`)),
  ]);
  expect(texts.map(({ text }) => text).join(" ")).not.toMatch(new RegExp(`Jane|${account}`));
  expect(await readApproval(ada, made)).toMatchObject({ status: "STALE", closing: blocks });
  expect(await readApproval(ada, elsewhere)).toMatchObject({
    closing: { reason: expect.stringMatching(/^As with erased-.*\.$/) },
  });
  expectProblem(await decide(ben, made, "APPROVED"), 409, "item-version-conflict");
  expectProblem(await decide(ben, flags, "APPROVED"), 404, "item-not-found");
});

test("erasure: a request stays what it was if the erased account's id is one of our own words", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), ...blocks, disposition: "CONFIRMED_FRAUD", reason: "Why." });
  await tenant.call("POST", "/lists", { body: { name: "watched", type: "device", kind: "watch", label: "Bot" } });
  const close = await requested(ada, { cases: seen([found]), list_entries: [{ list: "watched", value: "kim-7" }] });
  for (const website_account_id of ["account", "is_blocked", "CONFIRMED_FRAUD", "kim-7"]) {
    await tenant.call("POST", "/enduseraccounts", { body: { website_account_id } });
    expect((await tenant.call("DELETE", `/enduseraccounts/${website_account_id}`)).status).toBe(204);
  }
  expect((await readApproval(ada, made)).closing).toEqual({ ...blocks, disposition: "CONFIRMED_FRAUD", reason: "Why." });
  expect((await readApproval(ada, close)).closing).toEqual({
    list_entries: [{ list: "watched", value: expect.stringMatching(/^erased-[0-9a-f-]{36}$/) }],
  });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  expect(await tenant.read(found.case_id)).toMatchObject({
    end_user_is_blocked: true,
    current_state: { disposition: "CONFIRMED_FRAUD" },
  });
});
