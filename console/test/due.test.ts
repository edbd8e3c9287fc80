import { expect, test, vi } from "vitest";
import type { DueTimes } from "../../service/src/domain/due.ts";
import { announce, makeLate, setDue } from "../../service/test/due.ts";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

test("due times: the queue and the case say when a case is due, and that it is overdue, in words and live", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await setDue(tenant, { targets: [{ min_score: 1, hours: 10 }] });
  const late = await tenant.openCase("ann");
  await tenant.openCase("bob");
  await visitor.goto();
  await visitor.expectLive();
  const row = (account: string) => page.getByRole("row").filter({ hasText: account });
  const tab = page.getByRole("button", { name: /^Overdue/ });
  await row("ann")
    .getByText(/Due\s*in 9 h/)
    .waitFor();
  expect(await tab.count()).toBe(0);
  await makeLate(tenant, late, 125);
  await announce(tenant);
  await row("ann")
    .getByText(/Overdue\s*2 h/)
    .waitFor();
  await row("bob")
    .getByText(/Due\s*in 9 h/)
    .waitFor();
  await tab.click();
  await expect
    .poll(
      () =>
        page
          .getByRole("row")
          .filter({ hasText: /ann|bob/ })
          .count(),
      patience,
    )
    .toBe(1);
  expect(new URL(page.url()).search).toContain("late=true&sort=due");
  expect(await axeFindings(page)).toEqual([]);
  await visitor.expectPeek("ann");
  await visitor.goto(`/cases/${late.case_id}`);
  await page.getByText(/Overdue\s*2 h/).waitFor();
  await page.getByText("The case is overdue").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await tenant.put(late.case_id, { status: "CLOSED", case_version: late.case_version });
  await page.getByText(/Overdue\s*2 h/).waitFor({ state: "detached" });
  expect(visitor.complaints).toEqual([]);
});

test("due times: an admin sets them; a colleague's change is not overwritten, and others only read", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.call("PUT", "/tenants", { body: { time_zone: "Europe/Berlin" } });
  await visitor.goto("/detection?tab=due");
  await page.getByText("Working hours (Europe/Berlin)").waitFor();
  await page.getByRole("button", { name: "Add row" }).click();
  await page.getByRole("combobox", { name: "Risk of row 1" }).selectOption("4");
  await page.getByRole("combobox", { name: "Label of row 1" }).selectOption("Bot");
  await page.getByRole("spinbutton", { name: "Working hours of row 1" }).fill("6");
  await page.getByRole("checkbox", { name: "Friday" }).uncheck();
  await page.getByRole("textbox", { name: "to" }).fill("09:10");
  await page.getByLabel("Date", { exact: true }).fill("2026-12-25");
  await visitor.press("Enter");
  await page.getByRole("list", { name: "Days off" }).getByRole("listitem").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .getByRole("alert")
    .getByText(/at least an hour after start/)
    .waitFor();
  await page.getByRole("textbox", { name: "to" }).fill("24:00");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText(/^The due times were saved/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const stored = (await tenant.call("GET", "/due-times")).json.data as DueTimes;
  expect(stored).toEqual({
    due_times_version: 2,
    days: [1, 2, 3, 4],
    start: "09:00",
    end: "24:00",
    days_off: ["2026-12-25"],
    targets: [{ min_score: 4, label: "Bot", hours: 6 }],
  });
  await page.getByRole("spinbutton", { name: "Working hours of row 1" }).fill("7");
  await setDue(tenant, { ...stored, targets: [{ min_score: 5, hours: 1 }] });
  await page.getByText(/Somebody else changed the due times/).waitFor();
  expect(await page.getByRole("spinbutton", { name: "Working hours of row 1" }).inputValue()).toBe("7");
  expect(await page.getByRole("button", { name: "Save" }).isEnabled()).toBe(false);
  await page.getByRole("button", { name: "Show the current due times" }).click();
  await expect.poll(() => page.getByRole("spinbutton", { name: "Working hours of row 1" }).inputValue(), patience).toBe("1");

  const reader = await Visitor.open(browser.current, tenant, {
    scopes: ["read:cases", "read:case", "read:tenant", "read:rules"],
  });
  await reader.goto("/detection?tab=due");
  await reader.page.getByText("Only admins can change them.").waitFor();
  expect(await reader.page.getByRole("button", { name: /Save|Add|Remove/ }).count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
