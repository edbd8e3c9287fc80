import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clock } from "../../service/src/clock.ts";
import { startService, type Service } from "../../service/src/service.ts";
import { createTenant } from "../../service/src/tenancy.ts";
import { TestTenant, testConfig } from "../../service/test/harness.ts";
import { PeopleIssuer, clientSecret } from "../../service/test/people-issuer.ts";
import { goodPassword, invite, newEmail, tokenOf } from "../../service/test/people.ts";
import { useProcesses } from "../../service/test/process.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
// Sign-in that starts elsewhere: at another issuer, or in the terminal.
const browser = useBrowser();
const processes = useProcesses();
const slug = `t-${randomUUID()}`;
let issuer: PeopleIssuer;
let service: Service;
let tenant: TestTenant;

beforeAll(async () => {
  issuer = await PeopleIssuer.start();
  const oidc = { issuer: issuer.url, clientId: "console", clientSecret, tenant: slug };
  service = await startService(testConfig({ roles: new Set(["api"]), oidc, hasPrivateWebhooks: true }));
  await issuer.admit(service, { isEmailInIdToken: false });
  tenant = await TestTenant.of(service, await createTenant(service.database, { slug }, clock));
});

afterAll(async () => {
  await service.stop();
  await issuer.close();
});

test("other issuer: the button leads there and back signed in; a failure there is explained", async () => {
  const email = newEmail();
  await invite(tenant, "lead", { email, name: "Grace Hopper" });
  const guest = await Guest.open(browser.current, service);
  const { page } = guest;
  const button = page.getByRole("link", { name: "Sign in with 127.0.0.1" });
  issuer.at = "cancels";
  await guest.goto();
  await button.click();
  await page.getByText("The sign-in was cancelled.").waitFor();
  issuer.at = { sub: randomUUID(), email: newEmail(), email_verified: true };
  await button.click();
  await page.getByText("No user here has that account.").waitFor();
  await guest.context.clearCookies();
  issuer.at = { sub: randomUUID(), email, email_verified: true };
  await button.click();
  await guest.menu().getByText("Grace Hopper").waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  expect(guest.complaints).toEqual([]);
});

test("single sign-on: an admin connects a provider with roles by group, and a person who names the tenant signs in with it", async () => {
  const admin = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"));
  const { page } = admin;
  await admin.goto("/people");
  await page.getByRole("button", { name: "Single sign-on" }).click();
  await page.getByText("People sign in with a password or a passkey.").waitFor();
  await page.getByRole("button", { name: "Add an identity provider" }).click();
  const editor = page.getByRole("dialog", { name: "New identity provider" });
  await page.keyboard.type("Shop ID");
  await editor.getByLabel("Key", { exact: true }).fill("shop");
  const callback = `/auth/oidc/${slug}/shop/callback`;
  expect(await editor.getByRole("textbox", { name: /^Redirect URI/ }).inputValue()).toBe(`${service.url}${callback}`);
  await editor.getByLabel("Issuer URL").fill(issuer.url);
  await editor.getByLabel("Client ID").fill("console");
  await editor.getByLabel("Client secret").fill(clientSecret);
  await editor.getByLabel("Additional scopes").fill("groups");
  await editor.getByRole("button", { name: "Add a group" }).click();
  await editor.getByRole("textbox", { name: "Group 1", exact: true }).fill("fraud-leads");
  await editor.getByRole("combobox", { name: "Role of group 1" }).selectOption("lead");
  expect(await axeFindings(page)).toEqual([]);
  await editor.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("One group decides the role. Others cannot sign in.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(admin.complaints).toEqual([]);
  await issuer.admit(service, { isEmailInIdToken: false, paths: [callback, "/auth/oidc/callback"] });
  const { user } = await invite(tenant, "investigator", { name: "Joan Clarke" });
  const guest = await Guest.open(browser.current, service);
  await guest.goto("/sign-in");
  await guest.page.getByRole("button", { name: "Single sign-on" }).click();
  await guest.page.getByLabel("Tenant").fill("nobody-here");
  await guest.press("Enter");
  await guest.page.getByText("No identity provider is set up for nobody-here.").waitFor();
  expect(await axeFindings(guest.page)).toEqual([]);
  await guest.page.getByLabel("Tenant").fill(slug);
  await guest.press("Enter");
  const subject = { sub: randomUUID(), email: user.email, email_verified: true };
  issuer.at = { ...subject, groups: ["others"] };
  await guest.page.getByRole("link", { name: "Sign in with Shop ID" }).click();
  await guest.page.getByText("None of your groups has access to Casehound.").waitFor();
  issuer.at = { ...subject, groups: ["fraud-leads"] };
  await guest.context.clearCookies();
  await guest.page.getByRole("link", { name: "Sign in with Shop ID" }).click();
  await guest.menu().getByText("Joan Clarke").waitFor();
  const found = await tenant.call("GET", `/users/${user.user_id}`);
  expect(found.json.data).toMatchObject({ role: "lead", has_external_sign_in: true });
  expect(guest.complaints).toEqual([]);
});

test("set-up: the link that the service prints creates the first admin; its token appears neither in the log nor in an address", async () => {
  const started = await processes.start({ DATA_DIR: processes.folder() });
  const link = /^ {2}(http\S+\/link#\S+)$/m.exec(started.stdout)?.[1] ?? "";
  const guest = await Guest.open(browser.current, started);
  const { page } = guest;
  await page.goto(link);
  await page.getByText("You will be the first admin of").waitFor();
  await page.getByLabel("Your e-mail").fill("ada@shop.example");
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("Password", { exact: true }).fill(goodPassword);
  await page.getByLabel("Confirm password").fill(goodPassword);
  await guest.press("Enter");
  await guest.menu().getByText("Ada Lovelace").waitFor();
  const secret = tokenOf(link).split(".")[1] ?? "none";
  expect(JSON.stringify(started.log)).toContain("useLink");
  expect(JSON.stringify(started.log)).not.toContain(secret);
  expect(page.url()).not.toContain(secret);
  expect(await page.evaluate("document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")).not.toContain(
    secret,
  );
  expect(guest.complaints).toEqual([]);
});
