import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startService, type Service } from "../../service/src/service.ts";
import { newDatabase, testConfig, useService } from "../../service/test/harness.ts";
import { MailServer } from "../../service/test/mail-server.ts";
import { mailSettings } from "../../service/test/notified.ts";
import { Receiver } from "../../service/test/webhook-receiver.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const withoutMail = useService();
let mailServer: MailServer;
let service: Service;
beforeAll(async () => {
  mailServer = await MailServer.start();
  const settings = { databaseUrl: await newDatabase(), mail: mailSettings(mailServer.port), hasPrivateWebhooks: true };
  service = await startService(testConfig(settings));
});
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

test("notifications: a person chooses them from the menu, tests them, and a new case arrives as an e-mail with a link to the view", async () => {
  const visitor = await Visitor.create(browser.current, service);
  const { page, tenant } = visitor;
  const made = await tenant.call("GET", "/users");
  const { users } = made.json.data as { users: { email: string }[] };
  const email = users[0]?.email ?? "";
  await visitor.report("bob");
  await visitor.goto("/?status=all");
  await visitor.expectFocused("bob");
  await visitor.press("v");
  await page.getByRole("dialog", { name: "Save as a view" }).waitFor();
  await page.keyboard.type("All of it");
  await visitor.press("Enter");
  await page.getByText("The view All of it was saved.").waitFor();
  await page.getByRole("button", { name: /Ada Investigator/ }).press("Enter");
  await page.getByRole("menuitem", { name: "Notifications" }).press("Enter");
  await page.getByRole("heading", { name: "Notifications" }).waitFor();
  await page.getByLabel("Send e-mails").selectOption("at_once");
  await expect.poll(() => page.getByLabel("Send e-mails").inputValue(), patience).toBe("at_once");
  await page.getByLabel("All of it").press("Space");
  await expect.poll(() => page.getByLabel("All of it").isChecked(), patience).toBe(true);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Send a test e-mail" }).press("Enter");
  await page.getByText("The mail server accepted the e-mail. Check your mailbox.").waitFor();
  expect(mailServer.mailsTo(email).map(({ headers }) => headers.get("subject"))).toEqual([`[${tenant.slug}] Test notification`]);
  await visitor.report("ann");
  await expect.poll(() => mailServer.mailsTo(email).length, patience).toBe(2);
  const text = mailServer.mailsTo(email).at(-1)?.text ?? "";
  const link = /(\/views\/\S+)/.exec(text)?.[1] ?? "";
  await visitor.goto(link);
  await expect.poll(() => new URL(page.url()).search, patience).toContain("status=all");
  await page.getByRole("button", { name: "Views" }).press("Enter");
  await page.getByRole("menuitem", { name: "Manage views" }).press("Enter");
  const bell = page.getByRole("button", { name: "E-mails about All of it" });
  await expect.poll(() => bell.getAttribute("aria-pressed"), patience).toBe("true");
  await bell.press("Enter");
  await expect.poll(() => bell.getAttribute("aria-pressed"), patience).toBe("false");
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto("/views/019a8b1c-0000-7000-8000-000000000000");
  await page.getByText("This view no longer exists").waitFor();
});

test("notifications: without a mail server the screen says so and offers no test; an admin decides whether e-mails name accounts", async () => {
  const visitor = await Visitor.create(browser.current, withoutMail.current);
  const { page, tenant } = visitor;
  await visitor.goto("/notifications");
  await page.getByText(/^The operator of this service has not set up e-mail, so nothing is sent/).waitFor();
  await page.getByText(/^No saved views yet/).waitFor();
  expect(await page.getByRole("button", { name: "Send a test e-mail" }).count()).toBe(0);
  const details = page.getByRole("switch", { name: "Name accounts in e-mails" });
  await details.press("Enter");
  await page.getByRole("button", { name: "Name them" }).press("Enter");
  await expect.poll(() => details.getAttribute("aria-checked"), patience).toBe("true");
  expect((await tenant.call("GET", "/tenants")).json.data).toMatchObject({ notification_details: "ids" });
  expect(await axeFindings(page)).toEqual([]);
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  }
});

test("webhooks: an admin sets up messages for Slack, which then arrive in its format", async () => {
  const receiver = await Receiver.start();
  const visitor = await Visitor.create(browser.current, service);
  const { page } = visitor;
  await visitor.goto("/developers");
  await page.getByRole("button", { name: "New webhook" }).press("Enter");
  await page.getByLabel("What to send").selectOption("slack");
  await page.getByRole("textbox", { name: "Address", exact: true }).fill(receiver.url);
  expect(await page.getByText("account.updated").count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Create webhook" }).press("Enter");
  await page.getByText(/^Messages for Slack/).waitFor();
  await visitor.report("ann");
  await expect.poll(() => receiver.received.length, patience).toBe(1);
  expect(JSON.parse(receiver.at(0).text)).toMatchObject({ text: "1 new case", blocks: [{ type: "header" }, {}, {}] });
  receiver.stop();
});
