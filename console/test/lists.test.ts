import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { addEntries, makeList, readList } from "../../service/test/lists-lab.ts";
import { insertDecided, noonBefore } from "../../service/test/decided.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { partsOf } from "../src/screens/lists/csv-parts.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();
const path = "/detection?tab=lists";

test("lists: a list is made, an entry is added after its effect was shown, and removed with an undo", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  const seen = { type: "payment", ip: "203.0.113.7", website_account_id: "ann", received_at: noonBefore(1) };
  await insertDecided(tenant, [seen, { ...seen, score: 4 }]);
  await visitor.goto(path);
  await page.getByRole("button", { name: "New list" }).click();
  await page.getByLabel("Name", { exact: true }).fill("bad_addresses");
  await page.getByLabel("Description").fill("Addresses of attackers");
  await page.getByRole("button", { name: "Create the list" }).click();
  await page.getByRole("heading", { name: "bad_addresses" }).waitFor();
  await page.getByRole("button", { name: "Add an entry" }).click();
  await page.getByLabel("Value", { exact: true }).fill("203.0.113.7/24");
  const note = page.getByRole("status", { name: "What it would have hit" });
  await expect.poll(() => note.textContent(), patience).toContain("203.0.113.0/24");
  await page.getByLabel("Value", { exact: true }).fill("203.0.113.0/24");
  await expect
    .poll(() => note.textContent(), patience)
    .toContain("It would have hit 2 activities of 1 account in the last 30 days.");
  expect(await note.textContent()).toContain("1 of them was not suspicious, and would have opened cases.");
  await page.getByLabel("Expires").selectOption("In 30 days");
  await page.getByLabel("Reason").fill("Attack of 14 November");
  await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("cell", { name: "203.0.113.0/24", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove 203.0.113.0/24" }).click();
  await page.getByText("No entries yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("cell", { name: "Attack of 14 November" }).waitFor();
  await page.getByLabel("Kind of bad_addresses").selectOption("Watch");
  await expect.poll(async () => (await readList(tenant, "bad_addresses")).kind, patience).toBe("watch");
  expect(visitor.complaints).toEqual([]);
});

test("lists: a file is imported with a count of what was refused and why, and exported again", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await makeList(tenant, { name: "bad", type: "ip", kind: "watch" });
  await visitor.goto(path);
  await page.getByRole("button", { name: "Import CSV" }).click();
  const text = "value,reason\n203.0.113.7,first\nnonsense,\n203.0.113.9/24,\n203.0.113.8,\n";
  await page.getByLabel("CSV file").setInputFiles({ name: "bad.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const told = page.getByRole("status", { name: "Import" });
  await expect.poll(() => told.textContent(), patience).toContain("2 entries added");
  expect(await told.textContent()).toContain("2 refused");
  expect(await page.getByRole("list", { name: "Why records were refused" }).textContent()).toContain("1: value has bits set");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("cell", { name: "203.0.113.8", exact: true }).waitFor();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export CSV" }).click()]);
  expect(saved.suggestedFilename()).toBe("bad.csv");
});

test("lists: one key adds what a case names, with the case as the reason", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await makeList(tenant, { name: "burners", type: "device", kind: "block" });
  await makeList(tenant, { name: "friends", type: "device", kind: "allow" });
  await tenant.report("victim", { device_id: "burner", ip: "203.0.113.9" });
  const case_id = await expect
    .poll(async () => (await tenant.list("website_account_id=victim"))[0]?.case_id, patience)
    .toBeTruthy()
    .then(async () => (await tenant.list("website_account_id=victim"))[0]?.case_id ?? "");
  await visitor.goto(`/cases/${case_id}`);
  await page.getByRole("button", { name: /Add to a list/ }).waitFor();
  await visitor.press("l");
  await page.getByRole("radio", { name: /device burner/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
  await expect.poll(async () => (await readList(tenant, "burners")).entries, patience).toBe(1);
});

test("lists: a colleague's changes appear by themselves, and leave the shown list and an open dialog alone", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await makeList(tenant, { name: "bad", type: "device", kind: "watch" });
  await visitor.goto(path);
  await page.getByText("No entries yet").waitFor();
  await page.getByRole("button", { name: "Add an entry" }).click();
  await page.getByLabel("Value", { exact: true }).fill("half-typ");
  await makeList(tenant, { name: "another", type: "ip", kind: "block" });
  await addEntries(tenant, "bad", ["phone-1"]);
  await page.getByRole("link", { name: /^another/, includeHidden: true }).waitFor({ state: "attached" });
  expect(await page.getByLabel("Value", { exact: true }).inputValue()).toBe("half-typ");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("cell", { name: "phone-1", exact: true }).waitFor();
  const removed = await tenant.call("POST", "/lists/bad/entries/remove", { body: { values: ["phone-1"] } });
  expect(removed.status).toBe(200);
  await page.getByText("No entries yet").waitFor();
  await tenant.call("PUT", "/lists/bad", { body: { description: "Phones of thieves" } });
  await page.getByText("Phones of thieves").waitFor();
  expect((await tenant.call("DELETE", "/lists/another")).status).toBe(204);
  await page.getByRole("link", { name: /^another/ }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "bad", exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("rules: the editor completes the name of a list", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await makeList(tenant, { name: "vip", type: "ip", kind: "allow" });
  await visitor.goto("/detection/new-rule");
  const expression = page.getByLabel("Expression");
  await expression.fill("");
  await expression.pressSequentially("!lists.v");
  await page.getByRole("list", { name: "Lists" }).waitFor();
  await visitor.press("Tab");
  await expect.poll(() => expression.inputValue(), patience).toBe("!lists.vip.has(event.ip)");
});

test("roles: an investigator sees an allow list, but cannot add to it", async () => {
  const visitor = await Visitor.create(browser.current, service.current, {
    scopes: ["read:rules", "read:lists", "update:lists"],
  });
  await makeList(visitor.tenant, { name: "vip", type: "ip", kind: "allow" }, ["203.0.113.7"]);
  await visitor.goto(path);
  await visitor.page.getByText("Only leads and admins can add to an allow list.").waitFor();
  expect(await visitor.page.getByRole("button", { name: "Add an entry" }).count()).toBe(0);
});

test("partsOf: splits a file between records, and repeats its first line", () => {
  const text = 'value,reason\na,1\nb,"two\nlines"\nc,3\n';
  expect(partsOf(text, 18)).toEqual([
    { csv: "value,reason\na,1", first_line: 2 },
    { csv: 'value,reason\nb,"two\nlines"', first_line: 3 },
    { csv: "value,reason\nc,3\n", first_line: 5 },
  ]);
  expect(partsOf("a\nb\n", 3)).toEqual([
    { csv: "a", first_line: 1 },
    { csv: "b\n", first_line: 2 },
  ]);
  expect(partsOf("value\n")).toEqual([]);
});
