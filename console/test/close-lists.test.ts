import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { entriesOf, makeList } from "../../service/test/lists-lab.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const phones = { name: "phones", type: "device", kind: "block" } as const;
const watched = { name: "watched", type: "account", kind: "watch" } as const;

test("close: what the case names is added to lists by key, with the close in one request, and Undo removes it", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await makeList(tenant, phones);
  await makeList(tenant, watched, ["ann"]);
  await tenant.report("ann", { device_id: "phone-1" });
  await visitor.goto();
  await visitor.expectPeek("ann");
  const writes: string[] = [];
  page.on("request", (request) => ["PUT", "POST"].includes(request.method()) && writes.push(new URL(request.url()).pathname));
  await visitor.press("1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /Add to a list/ }).waitFor();
  await dialog.getByRole("textbox").fill("A stolen phone");
  await visitor.press("Shift+Tab", "l");
  const group = dialog.getByRole("group", { name: "Add to a list" });
  const device = group.getByRole("checkbox", { name: /device phone-1/ });
  await device.waitFor();
  await expect.poll(() => group.locator("input:focus").count(), patience).toBe(1);
  await visitor.press("Space");
  expect(await group.getByRole("combobox", { name: "List for phone-1" }).inputValue()).toBe("phones");
  await group.getByRole("checkbox", { name: /account ann/ }).check();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud. Added phone-1 to phones. Added ann to watched.").waitFor();
  expect(writes).toHaveLength(1);
  const [listed] = await tenant.list("website_account_id=ann");
  const entry = { reason: "A stolen phone", from_case_id: listed?.case_id };
  expect(await entriesOf(tenant, "phones")).toMatchObject([{ value: "phone-1", ...entry }]);
  expect(await entriesOf(tenant, "watched")).toMatchObject([{ value: "ann", ...entry }]);
  await visitor.press("z");
  await expect.poll(() => entriesOf(tenant, "phones"), patience).toEqual([]);
  expect(await entriesOf(tenant, "watched")).toHaveLength(1);
  expect((await tenant.list("website_account_id=ann"))[0]?.status).toBe("OPEN");
  expect(visitor.complaints).toEqual([]);
});

test("close: without the scope, no list is offered; without the scope to manage lists, no allow list", async () => {
  const visitor = await Visitor.create(browser.current, service.current, {
    scopes: ["read:cases", "read:case", "update:case", "read:events", "read:lists", "update:lists"],
  });
  const { page, tenant } = visitor;
  await makeList(tenant, { name: "office", type: "device", kind: "allow" });
  await tenant.report("ann", { device_id: "phone-1" });
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("2");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /False positive/ }).waitFor();
  await visitor.press("l");
  expect(await dialog.getByText("Add to a list").count()).toBe(0);
});
