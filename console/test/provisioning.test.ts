import { expect, test, vi } from "vitest";
import { TestTenant, send, useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService({ roles: new Set(["api"]) });

test("provisioning: an admin creates a token, a directory uses it, its groups get roles, and the token is revoked", async () => {
  const tenant = await TestTenant.create(service.current);
  const admin = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"));
  const { page } = admin;
  await admin.goto("/people");
  await page.getByRole("button", { name: "Provisioning" }).click();
  await page.getByText("There is no token yet").waitFor();
  await page.getByText("The directory has sent no groups yet.").waitFor();
  const base = `${service.current.url}/v2/${tenant.slug}/scim/v2`;
  expect(await page.getByRole("textbox", { name: "Base URL" }).inputValue()).toBe(base);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Create a token" }).click();
  await page.keyboard.type("entra");
  expect(await axeFindings(page)).toEqual([]);
  await admin.press("Enter");
  const shown = page.getByRole("textbox", { name: "Token" });
  const token = await shown.inputValue();
  expect(token).toMatch(/^scim_[0-9a-f]{32}_/);
  // It is shown only once, so Escape does not close the dialog.
  await admin.press("Escape");
  expect(await shown.inputValue()).toBe(token);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText(/^Created .* ago, never used$/).waitFor();

  const ask = (path: string, body: object) =>
    send(service.current.port, "POST", `/v2/${tenant.slug}/scim/v2${path}`, { token, body });
  const made = await ask("/Users", { userName: "grace@shop.example", displayName: "Grace Hopper" });
  const { id } = made.json as unknown as { id: string };
  expect((await ask("/Groups", { displayName: "Fraud leads", members: [{ value: id }] })).status).toBe(201);

  expect((await ask("/Groups", { displayName: "Fraud \u202esdael" })).status).toBe(201);

  await admin.goto("/people");
  const row = page.getByRole("row").filter({ hasText: "Grace Hopper" });
  await row.getByText("provisioned").waitFor();
  await row.getByText("Not signed in yet").waitFor();
  await page.getByRole("button", { name: "Provisioning" }).click();
  await page.getByText("2 groups were received. Groups do not decide roles yet.").waitFor();
  await page.getByText("last used").waitFor();
  await page.getByRole("button", { name: "Roles by group" }).click();
  await page.getByRole("button", { name: "Add a group" }).click();
  const group = page.getByRole("combobox", { name: "Group 1", exact: true });
  // A directory's name can hide how it is written.
  const labels = `[...document.querySelectorAll("datalist option")].map((each) => each.label)`;
  expect(await page.evaluate(labels)).toEqual(["Fraud leads", "Fraud [U+202E]sdael"]);
  await group.fill("Fraud \u202esdael");
  await page.getByText("This name has invisible characters: Fraud [U+202E]sdael").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await group.fill("Fraud leads");
  await page.getByText("invisible characters").waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "Role of group 1" }).selectOption("lead");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("One group decides the role.").waitFor();
  const read = await tenant.call("GET", `/users/${id}`);
  expect(read.json.data).toMatchObject({ role: "lead", is_provisioned: true });

  await page.getByRole("button", { name: "Revoke entra" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByText("There is no token yet").waitFor();
  expect((await ask("/Users", { userName: "joan@shop.example" })).status).toBe(401);
  expect(admin.complaints).toEqual([]);
});
