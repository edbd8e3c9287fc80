import { expect, onTestFinished, test, vi } from "vitest";
import { clock } from "../../service/src/clock.ts";
import { startService } from "../../service/src/service.ts";
import { TestTenant, testConfig, useService } from "../../service/test/harness.ts";
import { goodPassword, invite, newEmail, signIn, tokenOf, Browser as Elsewhere } from "../../service/test/people.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// Signing in and out, in a real Chromium against the real service.
const browser = useBrowser();
const service = useService();

const otherPassword = "another horse, another battery";

async function people(role: "investigator" | "lead" | "admin" = "admin", name?: string) {
  const tenant = await TestTenant.create(service.current);
  return makePerson(tenant, role, name === undefined ? {} : { name });
}

test("sign-in: nothing shows without a session; a wrong password is reported; the right one leads to the requested page", async () => {
  const ada = await people("investigator");
  const { case_id: id } = await ada.tenant.openCase("ann");
  const guest = await Guest.open(browser.current, service.current);
  const { page } = guest;
  await guest.goto(`/cases/${id}`);
  await guest.signIn(ada.email, "a wrong password");
  await page.getByText("The e-mail or the password is wrong.").waitFor();
  expect(await page.getByText("ann").count()).toBe(0);
  expect(await guest.context.cookies()).toEqual([]);
  await guest.signIn(ada.email);
  await page.getByRole("heading", { name: "ann" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/cases/${id}`);
  expect(await page.evaluate("document.cookie")).toBe("");
  await page.reload();
  await page.getByRole("heading", { name: "ann" }).waitFor();
  expect(guest.complaints).toEqual([]);
});

test("sign-in: after too many attempts the page says how long to wait, also with the right password", async () => {
  const ada = await people();
  // Its clock stands still, so the wait does not end during the test.
  const now = clock.now();
  const still = await startService(testConfig(), undefined, { clock: { ...clock, now: () => now } });
  onTestFinished(() => still.stop());
  for (let n = 0; n < 30; n++) await signIn(still, { email: ada.email, password: "a wrong password" });
  const guest = await Guest.open(browser.current, still);
  await guest.goto();
  await guest.signIn(ada.email);
  await guest.page.getByText("Too many attempts have failed. Wait before the next one. Try again in 1 s.").waitFor();
  expect(await guest.context.cookies()).toEqual([]);
});

test("sign-in: a person whose password is valid for several tenants chooses one, by keyboard", async () => {
  const email = newEmail();
  const [one, two] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  for (const tenant of [one, two]) await makePerson(tenant, "lead", { email });
  const guest = await Guest.open(browser.current, service.current);
  const { page } = guest;
  await guest.goto();
  await guest.signIn(email);
  await page.getByText("You have access to 2 tenants.").waitFor();
  const choice = page.getByRole("button", { name: two.slug });
  await choice.focus();
  await guest.press("Enter");
  await guest.menu().waitFor();
  await page.getByText(two.slug).first().waitFor();
  expect(guest.complaints).toEqual([]);
});

test("link: an invitation sets name and password and signs in; a second use is rejected; no page address contains its token", async () => {
  const tenant = await TestTenant.create(service.current);
  const { user, link } = await invite(tenant, "investigator", { name: "Ad" });
  const guest = await Guest.open(browser.current, service.current);
  const { page } = guest;
  await page.goto(link.url);
  await page.getByText(user.email).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.name"), patience).toBe("name");
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("Password", { exact: true }).fill(goodPassword);
  await page.getByLabel("Confirm password").fill(otherPassword);
  await guest.press("Enter");
  await page.getByText("The two passwords differ.").waitFor();
  await page.getByLabel("Confirm password").fill(goodPassword);
  await guest.press("Enter");
  await guest.menu().getByText("Ada Lovelace").waitFor();
  expect(page.url()).not.toContain(tokenOf(link.url));
  expect(guest.asked.filter((url) => url.split("#")[0]?.includes(tokenOf(link.url)))).toEqual([]);
  const other = await Guest.open(browser.current, service.current);
  await other.page.goto(link.url);
  await other.page.getByText("The link was used, has expired, or was replaced. Ask for a new one.").waitFor();
  expect(guest.complaints).toEqual([]);
});

test("link: a reset link asks only for a new password and ends earlier sessions", async () => {
  const ada = await people();
  const before = await Elsewhere.signIn(service.current, ada.email);
  const made = await ada.tenant.call("POST", `/users/${ada.userId}/links`);
  const guest = await Guest.open(browser.current, service.current);
  const { page } = guest;
  await page.goto((made.json.data as { url: string }).url);
  await page.getByRole("heading", { name: "Choose a new password" }).waitFor();
  expect(await page.getByRole("textbox").count()).toBe(2);
  await page.getByLabel("New password").fill("short");
  await page.getByLabel("Confirm password").fill("short");
  await guest.press("Enter");
  expect(await page.getByRole("heading", { name: "Choose a new password" }).count()).toBe(1);
  await page.getByLabel("New password").fill(otherPassword);
  await page.getByLabel("Confirm password").fill(otherPassword);
  await guest.press("Enter");
  await guest.menu().waitFor();
  expect((await before.ask("GET", "/auth/session")).status).toBe(401);
  expect((await signIn(service.current, { email: ada.email, password: goodPassword })).status).toBe(401);
});

test("sign-out: ends only this session, or all sessions", async () => {
  const ada = await people();
  const guest = await Guest.signedIn(browser.current, ada);
  await guest.goto("/?account=ann");
  await guest.page.getByText("Account ann").waitFor();
  const elsewhere = await Elsewhere.signIn(service.current, ada.email);
  await guest.choose("Sign out");
  await guest.page.getByLabel("Password").waitFor();
  await guest.page.waitForURL(`${guest.origin}/`);
  await expect.poll(() => guest.page.evaluate("document.activeElement.name"), patience).toBe("email");
  expect(await guest.context.cookies()).toEqual([]);
  expect((await elsewhere.ask("GET", "/auth/session")).status).toBe(200);
  await guest.signIn(ada.email);
  await guest.choose("Sign out everywhere");
  const dialog = guest.page.getByRole("dialog", { name: "Sign out everywhere" });
  await dialog.getByRole("button", { name: "Sign out everywhere" }).click();
  await guest.page.getByLabel("Password").waitFor();
  expect((await elsewhere.ask("GET", "/auth/session")).status).toBe(401);
  expect(guest.complaints).toEqual([]);
});

test("password: a wrong current one is reported and changes nothing; the right one changes it and ends other sessions", async () => {
  const ada = await people();
  const guest = await Guest.signedIn(browser.current, ada);
  await guest.goto();
  const elsewhere = await Elsewhere.signIn(service.current, ada.email);
  const { page } = guest;
  await guest.choose("Change the password");
  await page.getByLabel("Current password").fill("a wrong password");
  await page.getByLabel("New password").fill(otherPassword);
  await page.getByLabel("Confirm password").fill(otherPassword);
  await guest.press("Enter");
  await page.getByText("Current is not your password.").waitFor();
  expect((await elsewhere.ask("GET", "/auth/session")).status).toBe(200);
  await page.getByLabel("Current password").fill(goodPassword);
  await guest.press("Enter");
  await page.getByText("Your password was changed.").waitFor();
  expect((await elsewhere.ask("GET", "/auth/session")).status).toBe(401);
  await page.reload();
  await guest.menu().waitFor();
  expect((await signIn(service.current, { email: ada.email, password: otherPassword })).status).toBe(200);
  expect(guest.complaints).toEqual([]);
});

test("sign-in: its pages and dialogs have no axe findings, in either theme", async () => {
  const ada = await people("investigator", "Ada");
  const twin = await TestTenant.create(service.current);
  await makePerson(twin, "lead", { email: ada.email });
  const { link } = await invite(ada.tenant, "investigator");
  const guest = await Guest.open(browser.current, service.current);
  const { page } = guest;
  const found: Record<string, string[]> = {};
  const look = async (name: string) => {
    found[name] = await axeFindings(page);
  };
  await guest.goto("/sign-in?problem=unknown-person");
  await page.getByText("No user here has that account.").waitFor();
  await look("sign-in");
  await guest.signIn(ada.email);
  await page.getByText("You have access to 2 tenants.").waitFor();
  await look("tenants");
  await page.getByRole("button", { name: ada.tenant.slug }).click();
  await guest.menu().waitFor();
  await guest.choose("Change the password");
  await look("password");
  await guest.press("Escape");
  await guest.choose("Sign out everywhere");
  await look("everywhere");
  await guest.press("Escape");
  await ada.tenant.call("DELETE", `/users/${ada.userId}/sessions`);
  await page.reload();
  await page.getByLabel("E-mail").waitFor();
  await page.goto(link.url);
  await page.getByLabel("Your name").waitFor();
  await look("link");
  await guest.goto("/link#nothing");
  await page.getByText("This link does not work").waitFor();
  await look("no link");
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
  await expect.poll(() => guest.complaints, patience).toEqual([]);
});
