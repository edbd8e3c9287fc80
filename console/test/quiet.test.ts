import { expect, test, vi } from "vitest";
import { useOwnDatabase, useService } from "../../service/test/harness.ts";
import { sendScored } from "../../service/test/labels-lab.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { listed, openCaseOf, snoozed, strictTenant, visitOf } from "../../service/test/snoozes-lab.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService({ databaseUrl: useOwnDatabase("console_quiet"), roles: new Set(["api"]) });

test("close dialog: the rules of a false positive can be made quiet, and the choice is sent with the close", async () => {
  const tenant = await strictTenant(service.current);
  const { case_id } = await openCaseOf(tenant, visitOf({ device_id: "annas-phone" }));
  const visitor = await Visitor.open(browser.current, tenant, { width: 1280 });
  const { page } = visitor;
  await visitor.goto(`/cases/${case_id}`);
  await page
    .getByRole("button", { name: /^Close/ })
    .first()
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Confirmed fraud" }).check();
  expect(await dialog.getByLabel("Snooze these rules").count()).toBe(0);
  await dialog.getByRole("radio", { name: "False positive" }).check();
  await dialog.getByLabel("Snooze these rules").check();
  await dialog.getByLabel("Quiet about").selectOption("account");
  await dialog.getByText("quiet for anybody who uses this account").waitFor();
  await dialog.getByLabel("Quiet about").selectOption("payee");
  await dialog.getByRole("button", { name: "Close the case" }).click();
  await dialog.getByText("“Snooze these rules” was rejected: it cannot be payee, because the evidence names none.").waitFor();
  await dialog.getByLabel("Quiet about").selectOption("device");
  await dialog.getByLabel("How long").selectOption("30");
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close the case" }).click();
  await dialog.waitFor({ state: "detached" });
  const [snooze] = await listed(tenant);
  expect(snooze).toMatchObject({ case_id, scope: "device", value: "annas-phone", is_active: true });
  expect(Date.parse(snooze?.until ?? "") - Date.parse(snooze?.created_at ?? "")).toBe(30 * 86_400_000);
  expect(visitor.complaints).toEqual([]);
});

test("quiet: the screen lists quiet rules with what they kept from the queue, and a person can end a quiet period", async () => {
  const tenant = await strictTenant(service.current);
  await snoozed(tenant, "account");
  await sendScored(tenant, [visitOf(), visitOf()]);
  const visitor = await Visitor.open(browser.current, tenant, { width: 1280 });
  const { page } = visitor;
  await visitor.goto("/detection?tab=quiet");
  const row = page.getByRole("row", { name: /Account anna/ });
  await row.waitFor();
  expect((await row.innerText()).replaceAll(/\s+/g, " ")).toMatch(/^Account anna visits .* 2 2 last/);
  expect(await axeFindings(page)).toEqual([]);
  await row.getByRole("button", { name: /^End now/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
  await page.getByText("The rules count again.").waitFor();
  await row.getByText(/^Ended by /).waitFor();
  expect(await row.getByRole("button").count()).toBe(0);
  expect(await listed(tenant, "is_active=true")).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("quiet: an empty screen says how a rule becomes quiet", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  await visitor.goto("/detection?tab=quiet");
  await visitor.page.getByText("No rule is quiet").waitFor();
  expect(await axeFindings(visitor.page)).toEqual([]);
});
