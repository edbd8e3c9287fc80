import { expect, test, vi } from "vitest";
import type { Policy } from "../../service/src/domain/policy.ts";
import { insertDecided, noonBefore, type Decided } from "../../service/test/decided.ts";
import { useOwnDatabase, useService, type TestTenant } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService({ databaseUrl: useOwnDatabase("console_policy"), roles: new Set(["api"]) });

const path = "/detection?tab=policy";

async function policyOf(tenant: TestTenant): Promise<Policy> {
  return (await tenant.call("GET", "/policy")).json.data;
}

function logins(count: number, score: number): Decided[] {
  const login = { type: "login_succeeded", website_account_id: "a", received_at: noonBefore(1), score };
  return Array.from({ length: count }, () => ({ ...login, decision: { v: 1, l: score, f: {} } }));
}

test("policy: a row can be added, tried on the last 30 days and saved as a new version", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await insertDecided(tenant, [...logins(40, 1), ...logins(3, 2)]);
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "What to do" });
  await section.getByRole("cell", { name: "Almost certainly fraud" }).waitFor();
  await section.getByRole("button", { name: "Add a row" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a row" });
  await dialog.getByLabel("Name").fill("Careful with log-ins");
  await dialog.getByRole("checkbox", { name: "Log-in", exact: true }).check();
  await dialog.getByLabel("Score from").selectOption("2");
  await dialog.getByLabel("Score to").selectOption("3");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add to the draft" }).click();
  await section.getByRole("button", { name: "Try on the last 30 days" }).click();
  const trial = page.getByRole("region", { name: "Results for the last 30 days" });
  await trial.getByText("Would have challenged 3 of 43 log-ins, 0 of them known to be fraud.").waitFor();
  await trial.getByText("With the saved policy: 0 challenged, 0 blocked.").waitFor();
  expect((await policyOf(tenant)).policy_version).toBe(1);
  await section.getByRole("button", { name: "Save the policy" }).click();
  await page.getByText("The policy was saved as version 2.").waitFor();
  expect((await policyOf(tenant)).rows.at(-1)).toEqual({
    name: "Careful with log-ins",
    moments: ["login"],
    min_score: 2,
    max_score: 3,
    action: "CHALLENGE",
  });
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("policy: rows can be moved and removed, a row that never matches is named, and an earlier version can become a draft", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "What to do" });
  const act = async (row: number, name: string) => {
    await section.getByRole("button", { name: `Actions for row ${row}` }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  const save = section.getByRole("button", { name: "Save the policy" });
  await act(1, "Move down");
  await save.click();
  await section.getByText("row 2 can never match, because the rows before it match first").waitFor();
  await act(1, "Remove");
  await save.click();
  await page.getByText("The policy was saved as version 2.").waitFor();
  expect((await policyOf(tenant)).rows.map(({ name }) => name)).toEqual(["Almost certainly fraud", "Perhaps a stranger"]);
  await page.getByRole("button", { name: "Use as draft version 1" }).click();
  await section.getByRole("cell", { name: "Probably fraud" }).waitFor();
  await save.click();
  await page.getByText("The policy was saved as version 3.").waitFor();
  expect((await policyOf(tenant)).rows).toHaveLength(3);
  expect(visitor.complaints).toEqual([]);
});

test("policy: a colleague's change is shown and does not overwrite the draft", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "What to do" });
  await section.getByRole("radio", { name: /^Shadow/ }).check();
  const body = { mode: "on", rows: [], policy_version: 1 };
  expect((await tenant.call("PUT", "/policy", { body })).status).toBe(200);
  await section.getByRole("button", { name: "Continue with mine" }).click();
  await section.getByRole("button", { name: "Save the policy" }).click();
  await page.getByText("The policy was saved as version 3.").waitFor();
  expect(await policyOf(tenant)).toMatchObject({ mode: "shadow", policy_version: 3, rows: { length: 3 } });
});

test("policy: a colleague's change appears by itself", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto(path);
  await page.getByRole("cell", { name: "Almost certainly fraud" }).waitFor();
  const body = { mode: "on", rows: [{ name: "Nobody gets in", action: "BLOCK" }], policy_version: 1 };
  expect((await tenant.call("PUT", "/policy", { body })).status).toBe(200);
  await page.getByRole("cell", { name: "Nobody gets in" }).waitFor();
  await page
    .getByText(/^version 2/)
    .first()
    .waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("policy: a person who may only read rules sees the policy but cannot change it", async () => {
  const scopes = ["read:rules", "read:cases", "read:tenant", "read:events"];
  const visitor = await Visitor.create(browser.current, service.current, { scopes });
  const { page } = visitor;
  await visitor.goto(path);
  await page.getByRole("cell", { name: "Almost certainly fraud" }).waitFor();
  await page.getByText("Only leads and admins can change the policy.").waitFor();
  expect(await page.getByRole("button", { name: /Save the policy|Add a row|Actions for row|Use as draft/ }).count()).toBe(0);
});
