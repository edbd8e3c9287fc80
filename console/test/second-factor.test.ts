import { expect, test, vi } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { Browser as Elsewhere, goodPassword } from "../../service/test/people.ts";
import { App, addApp } from "../../service/test/second-factor.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Guest, makePerson, type Known } from "./people-rig.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

// The code of the next step, which the service also accepts. The current one may have been used already.
const codeOf = (app: App) => app.codeAt(Date.now() + 30_000);

async function person(role: "investigator" | "admin" = "investigator"): Promise<Known> {
  return makePerson(await TestTenant.create(service.current), role);
}

test("two-factor: an app is set up by keyboard, and signing in then asks for its code", async () => {
  const ada = await person();
  const guest = await Guest.signedIn(browser.current, ada);
  const { page } = guest;
  await guest.goto();
  await guest.choose("Two-factor authentication");
  await page.getByRole("button", { name: "Set up" }).waitFor();
  await guest.press("Enter");
  await page.getByLabel("Your password").waitFor();
  await page.keyboard.type(goodPassword);
  await guest.press("Enter");
  await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const app = new App(await page.getByLabel("Key", { exact: true }).inputValue());
  await page.keyboard.type("000000");
  await guest.press("Enter");
  await page.getByText("is not the code that the app shows now").waitFor();
  await page.getByLabel("Code that the app shows").fill(app.codeAt(Date.now()));
  await guest.press("Enter");
  const codes = (await page.getByRole("region", { name: "Recovery codes" }).textContent())?.split("\n") ?? [];
  expect(codes).toHaveLength(10);
  await page.getByRole("button", { name: "I have saved the codes" }).click();
  await page.getByText("10 left").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await guest.press("Escape");
  await guest.choose("Sign out");
  await guest.signIn(ada.email);
  await page.getByLabel("Code").waitFor();
  expect(await page.getByText("No account yet?").count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.type("000000");
  await guest.press("Enter");
  await page.getByText("The code is wrong, has expired, or was used before.").waitFor();
  await page.getByLabel("Code").fill(codeOf(app));
  await guest.press("Enter");
  await guest.menu().waitFor();
  await guest.choose("Sign out");
  await guest.signIn(ada.email);
  await page.getByLabel("Code").fill(codes[0] ?? "");
  await guest.press("Enter");
  await guest.menu().waitFor();
  expect(guest.complaints).toEqual([]);
});

test("two-factor: a reset link asks for the code too", async () => {
  const ada = await person();
  const { app } = await addApp(await Elsewhere.signIn(service.current, ada.email), Date.now());
  const made = await ada.tenant.call("POST", `/users/${ada.userId}/links`);
  const guest = await Guest.open(browser.current, service.current);
  await guest.page.goto((made.json.data as { url: string }).url);
  await guest.page.getByLabel("New password").fill("another good password");
  await guest.page.getByLabel("Confirm password").fill("another good password");
  await guest.press("Enter");
  await guest.page.getByLabel("Code").fill(codeOf(app));
  await guest.press("Enter");
  await guest.menu().waitFor();
  expect(guest.complaints).toEqual([]);
});

test("people: an admin resets a colleague's second factor, and requires one from everyone", async () => {
  const tenant = await TestTenant.create(service.current);
  const [ada, eve] = [await makePerson(tenant, "admin"), await makePerson(tenant, "investigator", { name: "Eve Moneypenny" })];
  await addApp(await Elsewhere.signIn(service.current, eve.email), Date.now());
  const guest = await Guest.signedIn(browser.current, ada);
  const { page } = guest;
  await guest.goto("/people");
  const row = page.getByRole("row").filter({ hasText: eve.email });
  await row.getByText("Password, two-factor").waitFor();
  await page.getByText("One person has no second factor yet.").waitFor();
  await page.getByRole("button", { name: "Actions for Eve Moneypenny" }).click();
  await page.getByRole("menuitem", { name: "Reset two-factor authentication…" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("menuitem", { name: "Reset two-factor authentication…" }).click();
  await page.getByRole("button", { name: "Reset", exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await row.getByText("Password", { exact: true }).waitFor();
  await page.getByRole("switch", { name: "Require two-factor authentication" }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Require it" }).click();
  // The admin has none, so the next request leads to the set-up, on top of the page.
  const dialog = page.getByRole("dialog", { name: "Set up two-factor authentication" });
  await dialog.getByLabel("Your password").fill(goodPassword);
  await guest.press("Enter");
  const app = new App(await dialog.getByLabel("Key", { exact: true }).inputValue());
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByLabel("Code that the app shows").fill(app.codeAt(Date.now()));
  await guest.press("Enter");
  await dialog.getByRole("button", { name: "I have saved the codes" }).click();
  await dialog.waitFor({ state: "detached" });
  await row.waitFor();
  await page.getByText("One person has no second factor yet.").waitFor();
  // A person who signs in now must add one first.
  const other = await Guest.open(browser.current, service.current);
  await other.goto();
  await other.signIn(eve.email);
  await other.page.getByRole("heading", { name: "Set up two-factor authentication" }).waitFor();
  expect(await axeFindings(other.page)).toEqual([]);
  expect([...guest.complaints, ...other.complaints]).toEqual([]);
});
