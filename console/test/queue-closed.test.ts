import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

test("queue: closed cases show outcome, closer and time, and can be filtered by outcome and closer", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("cid", "bob", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  // Ada closes Ann's case here, and a program closes Bob's.
  await visitor.press("1", "Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  const [bob] = await tenant.list("website_account_id=bob");
  await tenant.put(bob?.case_id ?? "", { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE" });
  await visitor.goto("/?status=closed&sort=changed");
  const rows = page.locator("[role=row][data-focused]");
  await expect.poll(() => rows.count(), patience).toBe(2);
  const rowOf = (account: string) => rows.filter({ hasText: account });
  await rowOf("ann").getByText("Confirmed fraud").waitFor();
  expect(await rowOf("ann").textContent()).toMatch(/Ada Investigator.*\d+ s ago/);
  await rowOf("bob").getByText("False positive").waitFor();
  await rowOf("bob").getByText(tenant.clientId).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "False positive" }).click();
  await expect.poll(() => rows.count(), patience).toBe(1);
  await rowOf("bob").waitFor();
  expect(new URL(page.url()).searchParams.get("outcome")).toContain("FALSE_POSITIVE");
  await visitor.goto("/?status=closed");
  await expect.poll(() => rows.count(), patience).toBe(2);
  await page.waitForURL(/case=/);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "Me", exact: true }).click();
  await expect.poll(() => rows.count(), patience).toBe(1);
  await rowOf("ann").waitFor();
  await page.getByRole("link", { name: "Show all cases they closed" }).waitFor();
  expect(visitor.complaints).toEqual([]);
});
