import type { Locator } from "playwright-core";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// Undo and reopen, in a real Chromium against the real service.
const browser = useBrowser();
const service = useService();

function peekOf({ page }: Visitor): Locator {
  return page.getByRole("complementary", { name: "The case in focus" });
}

// Closes all cases, from the header's box to the end of the dialog.
async function closeAll({ page }: Visitor): Promise<void> {
  await page.getByRole("checkbox", { name: /^Select all/ }).check();
  await page.getByRole("button", { name: /^Close \d+ selected/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("False positive").check();
  await page.keyboard.press("Control+Enter");
  await dialog.getByRole("button", { name: "Done" }).click();
}

test("reopen: a closed case reopens from its screen and the peek pane; if it changed meanwhile, the console says so and does nothing", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id: id } = await tenant.openCase("ann");
  await tenant.put(id, { status: "CLOSED", case_version: 1 });
  await visitor.goto(`/cases/${id}`);
  const reopen = page.getByRole("button", { name: "Reopen" });
  await reopen.click();
  await page.getByText("The case of ann is open again.").waitFor();
  await page.getByRole("button", { name: /Close the case/ }).waitFor();
  expect(await tenant.read(id)).toMatchObject({
    status: "OPEN",
    case_version: 3,
    current_state: { reason: "The case was reopened." },
  });
  await tenant.put(id, { status: "CLOSED", case_version: 3 });
  await visitor.goto("/?status=closed");
  await visitor.expectFocused("ann");
  const peek = peekOf(visitor);
  // Nobody gave a reason, so none is shown.
  expect(await peek.getByText(/^Closed \d/).textContent()).toMatch(
    new RegExp(`^Closed \\d+ s ago by ${tenant.clientId}\\. Show all cases they closed$`),
  );
  // Hold the stream, so the page does not learn of the change.
  await page.route("**/events/stream*", () => {});
  await visitor.goto("/?status=closed");
  await reopen.waitFor();
  await tenant.put(id, { status: "OPEN", case_version: 4 });
  await tenant.put(id, { status: "CLOSED", case_version: 5 });
  await reopen.click();
  await page.getByText(`Not reopened: ${tenant.clientId} has changed it since: version 4 to 6.`).waitFor();
  expect(await tenant.read(id)).toMatchObject({ status: "CLOSED", case_version: 6 });
  await reopen.click();
  await page.getByText("The case of ann is open again.").waitFor();
  await page.getByRole("row").filter({ hasText: "ann" }).getByText("Open", { exact: true }).waitFor();
  expect(await tenant.read(id)).toMatchObject({ status: "OPEN", case_version: 7 });
  expect(visitor.complaints).toEqual([]);
});

test("reopen: not offered to a person who may not change cases", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { scopes: ["read:cases", "read:case"] });
  const { page, tenant } = visitor;
  const { case_id: id } = await tenant.openCase("ann");
  await tenant.put(id, { status: "CLOSED", case_version: 1 });
  await visitor.goto(`/cases/${id}`);
  await page.getByRole("heading", { name: "States" }).waitFor();
  expect(await page.getByRole("button", { name: "Reopen" }).count()).toBe(0);
});

test("undo: reopens all cases of a bulk close and no earlier one, names those that changed since, and is then used up", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("dan", "cid", "bob", "ann");
  const idOf = async (account: string) => (await tenant.list(`website_account_id=${account}`))[0]?.case_id ?? "";
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("z");
  await page.getByText("There is nothing to undo.").waitFor();
  await visitor.press("1", "Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  await closeAll(visitor);
  await page.getByText("Closed 3 cases.").waitFor();
  await tenant.put(await idOf("cid"), { status: "OPEN", case_version: 2 });
  await visitor.press("z");
  await page.getByText(`Reopened 2 of 3 cases. Not reopened: cid (${tenant.clientId} has already reopened it).`).waitFor();
  expect(await page.getByText("Closed 3 cases.").count()).toBe(0);
  const open = async () => (await tenant.list("status=OPEN")).map((each) => each.website_account_id).toSorted();
  expect(await open()).toEqual(["bob", "cid", "dan"]);
  await page.getByRole("row").filter({ hasText: "bob" }).waitFor();
  await page.getByRole("row").filter({ hasText: "dan" }).waitFor();
  await visitor.press("z");
  await page.getByText("The case of ann is open again.").waitFor();
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  expect(await open()).toEqual(["ann", "bob", "cid", "dan"]);
  expect(visitor.complaints).toEqual([]);
});

test("undo: every message says what a case without an account is about", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.report(undefined, { device_id: "device-1" });
  await expect.poll(() => tenant.list("status=OPEN"), patience).toHaveLength(1);
  await visitor.goto();
  await page.getByRole("checkbox", { name: "Select the case of the device device-1" }).waitFor();
  await peekOf(visitor).getByText("This case is not about one account").waitFor();
  await visitor.press("1");
  await page.getByRole("dialog", { name: "Close the case of the device device-1" }).waitFor();
  await visitor.press("Control+Enter");
  await page.getByText("Closed the case of the device device-1 as confirmed fraud.").waitFor();
  await visitor.press("z");
  await page.getByText("The case of the device device-1 is open again.").waitFor();
  await closeAll(visitor);
  await page.getByText("Closed 1 case.").waitFor();
  expect(await page.getByText("UNKNOWN").count()).toBe(0);
});

test("undo: a flag set by key shows in the case's header, is announced, and can be undone", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1024 });
  const { page, tenant } = visitor;
  const { case_id: id } = await tenant.openCase("ann");
  const flags = async () => (await tenant.call("GET", "/enduseraccounts/ann")).json.data as object;
  await visitor.goto(`/cases/${id}`);
  await page.getByRole("switch", { name: /Blocked/ }).waitFor();
  await visitor.press("b");
  const mark = page.getByRole("banner").or(page.locator("header")).getByTitle("Blocked");
  await mark.waitFor();
  await page.getByText("Blocked ann.").waitFor();
  expect(await flags()).toMatchObject({ is_blocked: true });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("ann is no longer blocked.").waitFor();
  await mark.waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  await page.getByRole("switch", { name: /Fraudulent/ }).click();
  await page.getByText("Marked ann as fraudulent.").waitFor();
  await visitor.press("z");
  await page.getByText("ann is no longer marked as fraudulent.").waitFor();
  expect(await flags()).toMatchObject({ is_blocked: false, is_fraudulent: false });
  expect(visitor.complaints).toEqual([]);
});

test("keys: a key for a case that cannot be read soon is dropped with a message, and nothing opens later", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page } = visitor;
  await visitor.report("bob", "ann");
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  await page.route(/\/cases\/[0-9a-f-]{36}$/, async (route) => {
    await isFree;
    await route.fallback();
  });
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("c");
  await page.getByText("The case could not be loaded.").waitFor();
  // The focus moves on at once, but the key was for the previous case.
  await visitor.press("c", "j");
  await visitor.expectFocused("bob");
  free();
  await peekOf(visitor)
    .getByRole("button", { name: /Close the case/ })
    .waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await visitor.press("c");
  await page.getByRole("dialog", { name: "Close the case of bob" }).waitFor();
});

type Box = { x: number; y: number; width: number; height: number };

async function boxOf(part: Locator): Promise<Box> {
  const box = await part.boundingBox();
  if (!box) throw new Error("not there");
  return box;
}

const meet = (a: Box, b: Box) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test.each([1440, 1024])("toasts: cover neither the peek pane nor the bulk button, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current, { width });
  const { page } = visitor;
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("1", "Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  await visitor.press("x");
  const many = await boxOf(page.getByRole("button", { name: "Close 1 selected" }));
  const peek = await boxOf(peekOf(visitor));
  const message = await boxOf(page.getByRole("button", { name: "Dismiss this message" }).locator(".."));
  expect([meet(message, many), meet(message, peek)]).toEqual([false, false]);
  expect(message.width).toBeGreaterThan(300);
});
