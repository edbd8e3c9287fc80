import { expect, test, vi } from "vitest";
import type { Account } from "../../service/src/domain/account.ts";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

async function flagsOf({ tenant }: Visitor, id: string): Promise<Pick<Account, "is_blocked" | "is_quarantined">> {
  const { is_blocked, is_quarantined } = (await tenant.call("GET", `/enduseraccounts/${id}`)).json.data as Account;
  return { is_blocked, is_quarantined };
}

test("close: flags are chosen by key, set with the close in one request, and Undo puts both back", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  const writes: string[] = [];
  page.on("request", (request) => request.method() === "PUT" && writes.push(new URL(request.url()).pathname));
  await visitor.press("1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /Block the account/ }).waitFor();
  await visitor.press("b", "q", "q");
  expect(await dialog.getByRole("checkbox", { name: /Block the account/ }).isChecked()).toBe(true);
  expect(await dialog.getByRole("checkbox", { name: /Quarantine the account/ }).isChecked()).toBe(false);
  expect(await axeFindings(page)).toEqual([]);
  // In the text field, letters are letters.
  await dialog.getByRole("textbox").fill("");
  await dialog.getByRole("textbox").pressSequentially("bf");
  await visitor.press("Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud. Blocked ann.").waitFor();
  expect(await flagsOf(visitor, "ann")).toEqual({ is_blocked: true, is_quarantined: false });
  expect(writes).toHaveLength(1);
  await visitor.press("z");
  await expect.poll(() => flagsOf(visitor, "ann"), patience).toEqual({ is_blocked: false, is_quarantined: false });
  expect((await tenant.list("website_account_id=ann"))[0]?.status).toBe("OPEN");
  expect(visitor.complaints).toEqual([]);
});

test("close: a blocked account can be unblocked with a false positive; a refused close changes no flag", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("ann");
  await tenant.call("PUT", "/enduseraccounts/ann", { body: { is_blocked: true } });
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("2");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: /Unblock the account/ }).check();
  const [listed] = await tenant.list();
  await tenant.call("POST", `/cases/${listed?.case_id ?? ""}/notes`, { body: { text: "Wait." }, key: "wait" });
  await visitor.press("Control+Enter");
  await dialog.getByRole("alert").getByText("Wait.").waitFor();
  expect((await flagsOf(visitor, "ann")).is_blocked).toBe(true);
  await dialog.getByRole("button", { name: "Close anyway" }).click();
  await page.getByText(/ann is no longer blocked/).waitFor();
  expect((await flagsOf(visitor, "ann")).is_blocked).toBe(false);
});

test("close: without an account, or without the scope, no flags are offered", async () => {
  const visitor = await Visitor.create(browser.current, service.current, {
    scopes: ["read:cases", "read:case", "update:case", "read:enduseraccount", "read:events"],
  });
  await visitor.report("ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("1");
  const dialog = visitor.page.getByRole("dialog");
  await dialog.getByRole("radio", { name: /Confirmed fraud/ }).waitFor();
  expect(await dialog.getByText("Together with the close").count()).toBe(0);
});
