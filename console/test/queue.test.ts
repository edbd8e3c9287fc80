import { expect, onTestFinished, test, vi } from "vitest";
import { startService } from "../../service/src/service.ts";
import { TestTenant, testConfig, useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// The queue in a real Chromium, against the real service.
const browser = useBrowser();
const service = useService();

test("queue: peek, open, close with outcome and reason, and undo by keyboard; the focus moves to the next row", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("cid", "bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("j");
  await visitor.expectFocused("bob");
  const peek = page.getByRole("complementary", { name: "The case in focus" });
  await peek.getByText("bob").first().waitFor();
  await visitor.press("Enter");
  await page.getByRole("heading", { name: "bob" }).waitFor();
  await visitor.press("Escape");
  await visitor.expectFocused("bob");
  await visitor.press("c");
  const dialog = page.getByRole("dialog", { name: "Close the case of bob" });
  await visitor.press("2", "Tab");
  await page.keyboard.type("Known customer.");
  await visitor.press("Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await visitor.expectFocused("cid");
  const [closed] = await tenant.list("status=CLOSED");
  expect(await tenant.read(closed?.case_id ?? "")).toMatchObject({
    website_account_id: "bob",
    current_state: { disposition: "FALSE_POSITIVE", reason: "Known customer." },
  });
  await page.getByText("Closed the case of bob as false positive.").waitFor();
  await visitor.press("z");
  await visitor.expectFocused("bob");
  expect(await tenant.read(closed?.case_id ?? "")).toMatchObject({ status: "OPEN", case_version: 3 });
  expect(visitor.complaints).toEqual([]);
});

test("queue: the address holds the filters and the focused case, and shows the same to somebody else", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  await visitor.report("bob", "ann");
  await visitor.goto("/?account=bob");
  await visitor.expectFocused("bob");
  await visitor.page.getByText("Account bob", { exact: true }).waitFor();
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("j");
  const [bob] = await visitor.tenant.list("website_account_id=bob");
  await visitor.page.waitForURL(`**case=${bob?.case_id ?? ""}**`);
  const address = new URL(visitor.page.url());
  const other = await Visitor.open(browser.current, visitor.tenant);
  await other.goto(`/${address.search}`);
  await other.expectFocused("bob");
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test("queue: the focused row is fully visible, down the list and up again", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const accounts = Array.from({ length: 18 }, (_, place) => `account-${place}`);
  await Promise.all(accounts.map((account) => visitor.tenant.openCase(account)));
  // So low that only some of the rows fit.
  await visitor.page.setViewportSize({ width: 1440, height: 480 });
  await visitor.goto();
  await visitor.page.locator('[role=row][data-focused="true"]').waitFor();
  const hidden = `(() => {
    const box = (each) => document.querySelector(each).getBoundingClientRect();
    const [row, head, grid] = [box("[role=row][data-focused=true]"), box("[role=row][aria-rowindex='1']"), box("[role=grid]")];
    return Math.max(0, head.bottom - row.top, row.bottom - grid.bottom);
  })()`;
  for (const key of ["j", "k"]) {
    for (let n = 0; n < 15; n++) {
      const before = await visitor.focused();
      await visitor.press(key);
      await expect.poll(() => visitor.focused(), patience).not.toBe(before);
      await expect.poll(() => visitor.page.evaluate<number>(hidden), { ...patience, message: `${key} ${n}` }).toBe(0);
    }
  }
});

test("queue: letter keys do nothing once they are switched off", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("?");
  await visitor.page.getByLabel("Use single letters and digits as shortcuts").uncheck();
  await visitor.press("Escape", "j", "c");
  await visitor.expectFocused("ann");
  expect(await visitor.page.getByRole("dialog").count()).toBe(0);
  await visitor.press("ArrowDown");
  await visitor.expectFocused("bob");
});

test("queue: a version conflict keeps the draft, shows what changed, and closes anyway if the person confirms", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const seen = await tenant.openCase("ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Reason/).fill("My own words.");
  await tenant.report("ann", { attributes: { label: "Bot" } });
  await expect.poll(async () => (await tenant.read(seen.case_id)).case_version, patience).toBe(2);
  await visitor.press("Control+Enter");
  await dialog.getByText(/version 1 to 2/).waitFor();
  await dialog.getByText(/new evidence:/).waitFor();
  expect(await dialog.getByLabel(/Reason/).inputValue()).toBe("My own words.");
  expect(await tenant.read(seen.case_id)).toMatchObject({ status: "OPEN", case_version: 2 });
  await dialog.getByRole("button", { name: "Keep reviewing" }).click();
  await visitor.press("c");
  expect(await dialog.getByLabel(/Reason/).inputValue()).toBe("My own words.");
  await tenant.report("ann", { attributes: { label: "Synthetic" } });
  await expect.poll(async () => (await tenant.read(seen.case_id)).case_version, patience).toBe(3);
  await visitor.press("Control+Enter");
  await dialog.getByRole("button", { name: "Close anyway" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await tenant.read(seen.case_id)).toMatchObject({
    status: "CLOSED",
    case_version: 4,
    current_state: { reason: "My own words.", disposition: "CONFIRMED_FRAUD" },
  });
  expect(visitor.complaints).toEqual([]);
});

test("queue: if a colleague closes the case first, the reason that was typed stays until it is copied or discarded", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  const [seen] = await tenant.list("website_account_id=ann");
  const id = seen?.case_id ?? "";
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Reason/).fill("Twenty minutes of work.");
  await tenant.put(id, { status: "CLOSED", case_version: 1, reason: "Theirs.", disposition: "INCONCLUSIVE" });
  await visitor.press("Control+Enter");
  await dialog.getByText(new RegExp(`${tenant.clientId} closed this case .* as inconclusive: Theirs\\.`)).waitFor();
  await dialog.getByText("Twenty minutes of work.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Keep my draft" }).click();
  await visitor.expectPeek("bob");
  expect((await tenant.read(id)).current_state.reason).toBe("Theirs.");
  // The draft is there if the case is opened again.
  await tenant.put(id, { status: "OPEN", case_version: 2 });
  await visitor.goto(`/cases/${id}`);
  await page.getByRole("button", { name: /Close the case/ }).click();
  expect(await dialog.getByLabel(/Reason/).inputValue()).toBe("Twenty minutes of work.");
  expect(visitor.complaints).toEqual([]);
});

test("queue: of 50 cases in a bulk close, one changed and one closed by a colleague, 48 are closed and the other rows say why not", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const accounts = Array.from({ length: 50 }, (_, index) => `account-${index}`);
  await Promise.all(accounts.map((account) => tenant.report(account)));
  await expect.poll(() => tenant.list("status=OPEN"), patience).toHaveLength(50);
  await visitor.goto();
  await page.getByText("50 cases").waitFor();
  for (let index = 0; index < 50; index++) await visitor.press("x", "j");
  await page.getByText("50 cases, 50 selected").waitFor();
  const [changed, closed] = await tenant.list("status=OPEN&limit=2");
  if (!changed || !closed) throw new Error("too few");
  await tenant.report(changed.website_account_id, { attributes: { label: "Bot" } });
  await expect.poll(async () => (await tenant.read(changed.case_id)).case_version, patience).toBe(2);
  await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 });
  await visitor.press("c");
  const dialog = page.getByRole("dialog", { name: "Close 50 cases" });
  await dialog.waitFor();
  await visitor.press("3", "Enter");
  await dialog.getByText("50 of 50 done, 48 closed").waitFor();
  const line = (account: string) => dialog.getByRole("listitem").filter({ has: page.getByText(account, { exact: true }) });
  expect(await line(changed.website_account_id).textContent()).toContain("Changed since you looked: version 1 to 2");
  expect(await line(closed.website_account_id).textContent()).toContain(`Already closed by ${tenant.clientId}`);
  expect(await dialog.getByText("Closed", { exact: true }).count()).toBe(48);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText("1 case, 1 selected").waitFor();
  expect((await tenant.list("status=OPEN")).map((each) => each.case_id)).toEqual([changed.case_id]);
  expect(visitor.complaints).toEqual([]);
});

test("queue: if the service restarts during a close, the banner says so and the close is applied once", async () => {
  const first = await startService(testConfig());
  const tenant = await TestTenant.create(first);
  const visitor = await Visitor.open(browser.current, tenant);
  const { page } = visitor;
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await page.getByRole("complementary").getByText("ann").first().waitFor();
  await first.stop();
  await visitor.press("1", "Control+Enter");
  await page.getByText(/Not saved yet, retrying: 1 change/).waitFor();
  await visitor.expectFocused("bob");
  const second = await startService(testConfig({ port: first.port }));
  onTestFinished(() => second.stop());
  await page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  await page.getByText(/Not saved yet/).waitFor({ state: "detached" });
  const [closed] = await tenant.list("website_account_id=ann");
  expect(await tenant.read(closed?.case_id ?? "")).toMatchObject({ status: "CLOSED", case_version: 2, state_history: [{}] });
});
