import { expect, test, vi } from "vitest";
import type { User } from "../../service/src/domain/user.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { Browser as Elsewhere, goodPassword, invite, newEmail } from "../../service/test/people.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

// A person's name may not contain angle brackets. This is the worst input that is allowed.
const hostile = `"onfocus="document.title='owned'" x=' {{7*7}} &lt;img src=x&gt;`;

async function open(role: "lead" | "admin" = "admin") {
  const tenant = await TestTenant.create(service.current);
  const ada = await makePerson(tenant, role);
  const guest = await Guest.signedIn(browser.current, ada);
  return { tenant, ada, guest, page: guest.page };
}

async function userOf(tenant: TestTenant, userId: string): Promise<User> {
  return (await tenant.call("GET", `/users/${userId}`)).json.data;
}

test("people: a person is invited by keyboard, and the link, shown once, lets them in", async () => {
  const { guest, page } = await open();
  const email = newEmail();
  await guest.goto("/people");
  await page.getByRole("button", { name: "Invite" }).focus();
  await guest.press("Enter");
  await page.keyboard.type(email);
  await guest.press("Tab");
  await page.keyboard.type("Grace Hopper");
  await guest.press("Tab", "ArrowDown", "Enter");
  const dialog = page.getByRole("dialog", { name: "Invitation for Grace Hopper" });
  const link = await dialog.getByLabel("Link", { exact: true }).inputValue();
  await guest.press("Escape");
  await dialog.getByRole("button", { name: "Copy link" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(link);
  await dialog.getByRole("button", { name: "I have sent it" }).click();
  const row = page.getByRole("row").filter({ hasText: email });
  await row.getByText("Invited").waitFor();
  expect(await page.content()).not.toContain(link);
  const joined = await Elsewhere.take(service.current, link);
  expect(joined.signedIn).toMatchObject({ user: { email, name: "Grace Hopper", role: "lead" } });
  await page.reload();
  await row.getByText("Active").waitFor();
  expect(guest.complaints).toEqual([]);
});

test("people: inviting a known person is rejected with the service's message", async () => {
  const { tenant, ada, guest, page } = await open();
  await guest.goto("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("E-mail", { exact: true }).fill(ada.email);
  await page.getByLabel("Name", { exact: true }).fill("Somebody");
  await guest.press("Enter");
  await page.getByText("A user with this e-mail already exists.").waitFor();
  expect(((await tenant.call("GET", "/users")).json.data as { users: User[] }).users).toHaveLength(1);
});

test("people: a role change can be undone; the last admin cannot be demoted, with the service's message", async () => {
  const { tenant, ada, guest, page } = await open();
  const grace = await makePerson(tenant, "investigator", { name: "Grace Hopper" });
  await guest.goto("/people");
  await page.getByLabel("Role of Grace Hopper").selectOption("lead");
  await page.getByText("Grace Hopper is now lead.").waitFor();
  expect(await userOf(tenant, grace.userId)).toMatchObject({ role: "lead" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Grace Hopper is now investigator.").waitFor();
  expect(await userOf(tenant, grace.userId)).toMatchObject({ role: "investigator" });
  await page.getByLabel("Role of Ada Lovelace").selectOption("lead");
  await page.getByText(/Ada Lovelace was not changed. Role must stay as it is: this is the tenant's last active admin/).waitFor();
  expect(await page.getByLabel("Role of Ada Lovelace").inputValue()).toBe("admin");
  await page.getByRole("button", { name: "Actions for Ada Lovelace" }).click();
  await page.getByRole("menuitem", { name: "Disable…" }).click();
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page
    .getByRole("dialog")
    .getByText(/must stay as it is: this is the tenant's last active admin/)
    .waitFor();
  expect(await userOf(tenant, ada.userId)).toMatchObject({ role: "admin", is_disabled: false });
});

test("people: sessions are ended, a reset link is created, a person is disabled and enabled, and a name is changed", async () => {
  const { tenant, guest, page } = await open();
  const grace = await makePerson(tenant, "investigator", { name: "Grace Hopper" });
  const elsewhere = await Elsewhere.signIn(service.current, grace.email);
  const act = async (item: string) => {
    await page.getByRole("button", { name: "Actions for Grace Hopper" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await guest.goto("/people");
  await act("End all sessions…");
  await page.getByRole("button", { name: "End all sessions" }).click();
  await page.getByText("Grace Hopper is signed out everywhere.").waitFor();
  expect((await elsewhere.ask("GET", "/auth/session")).status).toBe(401);
  await act("Create a password reset link…");
  await page.getByRole("button", { name: "Create the link" }).click();
  const link = await page.getByRole("dialog").getByLabel("Link", { exact: true }).inputValue();
  await page.getByRole("button", { name: "I have sent it" }).click();
  const back = await Elsewhere.take(service.current, link, { password: `${goodPassword}, again` });
  await act("Disable…");
  await page.getByRole("button", { name: "Disable", exact: true }).click();
  await page.getByText("Grace Hopper is disabled.").waitFor();
  expect((await back.ask("GET", "/auth/session")).status).toBe(401);
  await act("Enable");
  await page.getByText("Grace Hopper can sign in again.").waitFor();
  expect(await userOf(tenant, grace.userId)).toMatchObject({ is_disabled: false });
  await act("Change the name…");
  await page.getByLabel(/^Name of/).fill(hostile.replaceAll("<", ""));
  await guest.press("Enter");
  await page.getByText(hostile).first().waitFor();
  expect(await page.title()).toBe("Casehound");
  expect(guest.complaints).toEqual([]);
});

function streams(asked: string[]): string[] {
  return asked.filter((url) => url.includes("/events/stream"));
}

test("people: a colleague's change appears automatically; a person who may not list people does not request it", async () => {
  const { tenant, ada, guest, page } = await open("lead");
  await guest.goto("/people");
  await page.getByRole("row").filter({ hasText: ada.email }).waitFor();
  const { user, link } = await invite(tenant, "investigator", { name: "Grace Hopper" });
  const row = page.getByRole("row").filter({ hasText: user.email });
  await row.getByText("Invited").waitFor();
  await Elsewhere.take(service.current, link.url);
  await row.getByText("Active").waitFor();
  expect(streams(guest.asked).every((url) => url.includes("user.invited"))).toBe(true);
  const other = await Guest.signedIn(browser.current, await makePerson(tenant, "investigator"));
  await other.goto();
  await expect.poll(() => streams(other.asked).length, patience).toBeGreaterThan(0);
  expect(streams(other.asked).some((url) => url.includes("user."))).toBe(false);
});

test("people: the address holds the search; a lead can view but not change", async () => {
  const { tenant, guest, page } = await open("lead");
  await makePerson(tenant, "admin", { name: "Grace Hopper" });
  await guest.goto("/people?find=grace");
  await page.getByText("Grace Hopper").waitFor();
  expect(await page.getByRole("cell").filter({ hasText: "Ada Lovelace" }).count()).toBe(0);
  await page.getByLabel("Find by name, e-mail or role").fill("nobody at all");
  await page.getByText("No matches").waitFor();
  expect(new URL(page.url()).searchParams.get("find")).toBe("nobody at all");
  expect(await page.getByRole("button", { name: /Invite|Actions/ }).count()).toBe(0);
});

test("people: the screen, its menu and its dialogs have no axe findings, in either theme", async () => {
  const { tenant, guest, page } = await open("admin");
  const grace = await makePerson(tenant, "lead", { name: "Grace Hopper" });
  await tenant.call("PUT", `/users/${grace.userId}`, { body: { is_disabled: true } });
  await guest.goto("/people");
  await page.getByText("Grace Hopper").waitFor();
  const found: Record<string, string[]> = { screen: await axeFindings(page) };
  await page.getByRole("button", { name: "Invite" }).click();
  found["invite"] = await axeFindings(page);
  await page.getByLabel("E-mail", { exact: true }).fill(newEmail());
  await page.getByLabel("Name", { exact: true }).fill("Alan");
  await guest.press("Enter");
  await page.getByRole("button", { name: "I have sent it" }).waitFor();
  found["link"] = await axeFindings(page);
  await page.getByRole("button", { name: "I have sent it" }).click();
  await page.getByRole("button", { name: "Actions for Ada Lovelace" }).click();
  await page.getByRole("menuitem", { name: "Disable…" }).click();
  found["disable"] = await axeFindings(page);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
  expect(guest.complaints).toEqual([]);
});

test("people: an admin makes a role from scopes, gives it to a person, changes it, and cannot delete it while somebody has it", async () => {
  const { tenant, guest, page } = await open();
  const grace = await makePerson(tenant, "investigator", { name: "Grace Hopper" });
  await guest.goto("/people");
  await page.getByRole("button", { name: "Roles" }).click();
  await page.getByRole("button", { name: "New role" }).click();
  const editor = page.getByRole("dialog", { name: "New role" });
  await page.keyboard.type("auditor");
  await editor.getByLabel("Description").fill("Reads cases.");
  await editor.getByRole("checkbox", { name: /List cases/ }).check();
  expect(await axeFindings(page)).toEqual([]);
  await editor.getByRole("button", { name: "Create role" }).click();
  await page.getByText("The role auditor was created.").waitFor();
  await page.getByRole("button", { name: "Edit the role auditor" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await guest.press("Escape");
  await page.getByRole("combobox", { name: "Role of Grace Hopper" }).selectOption("auditor");
  await page.getByText("Grace Hopper is now auditor.").waitFor();
  expect(await userOf(tenant, grace.userId)).toMatchObject({ role: "auditor" });
  await page.getByRole("button", { name: "Roles" }).click();
  await page.getByRole("button", { name: "Edit the role auditor" }).click();
  await page.getByRole("checkbox", { name: /Read one case/ }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The role auditor was changed.").waitFor();
  await page.getByRole("button", { name: "Edit the role auditor" }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("one person must get another role first").waitFor();
  expect(guest.complaints).toEqual([]);
});
