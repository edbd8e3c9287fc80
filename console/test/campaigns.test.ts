import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const login = (type: string, account: string, secondsAgo: number) => ({
  activity_id: randomUUID(),
  type,
  occurred_at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
  website_account_id: account,
  ip: "192.0.2.7",
});

test("campaign: an attack is one row with its accounts; the case lists them, and one close decides for the entered accounts", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const failures = Array.from({ length: 30 }, (_, index) => login("login_failed", `user-${index}`, 60 - index));
  for (const activities of [failures, [login("login_succeeded", "user-12", 0)]])
    expect((await tenant.call("POST", "/activities", { body: { activities } })).status).toBe(202);
  await vi.waitFor(async () => expect(await tenant.list("status=OPEN")).toHaveLength(2), patience);
  const [source] = await tenant.list("website_account_id=UNKNOWN");
  await visitor.goto();
  const row = page.getByRole("row").filter({ hasText: "Address 192.0.2.7" });
  await row.getByText("23 accounts in all.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto(`/cases/${source?.case_id ?? ""}`);
  await page.getByRole("heading", { name: "Address 192.0.2.7" }).waitFor();
  const accounts = page.getByRole("list", { name: "Accounts of this attack" });
  await accounts.getByRole("listitem").filter({ hasText: "user-12" }).getByText("Entered").waitFor();
  await accounts.getByRole("link", { name: "Open case" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("c");
  await page.getByRole("checkbox", { name: /Same outcome for the account that was entered/ }).check();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("radio", { name: /Confirmed fraud/ }).check();
  await page.getByRole("button", { name: "Close the case", exact: true }).last().click();
  await vi.waitFor(async () => expect(await tenant.list("status=OPEN")).toHaveLength(0), patience);
  // The close has led on to the next case.
  await visitor.goto(`/cases/${source?.case_id ?? ""}`);
  await accounts.getByRole("link", { name: "Closed case" }).click();
  await page.getByRole("link", { name: "Show the attack's case" }).waitFor();
  expect(visitor.complaints).toEqual([]);
});
