import { expect, test, vi } from "vitest";
import { TestTenant, useOwnDatabase, useService } from "../../service/test/harness.ts";
import { Receiver } from "../../service/test/webhook-receiver.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { axeFindings, consolePace, useBrowser } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
// Of its own: other services would not send to this machine.
const databaseUrl = useOwnDatabase("console_webhooks");
const service = useService({ databaseUrl, hasPrivateWebhooks: true });

test("developers: a webhook is made, tested, seen to deliver, resent, switched off, rotated and deleted", async () => {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"));
  const { page } = guest;
  const receiver = await Receiver.start();
  try {
    await guest.goto("/developers");
    await page.getByText("None yet. A webhook posts every change").waitFor();
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByLabel("Address", { exact: true }).fill("ftp://nowhere");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("alert").getByText("must be an https address").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(receiver.url);
    await page.getByLabel("A case is opened").check();
    await page.getByRole("button", { name: "Make it" }).click();
    const shown = page.getByRole("dialog", { name: "The signing secret, this once" });
    const secret = await shown.getByLabel("Signing secret", { exact: true }).inputValue();
    await guest.press("Escape");
    await shown.getByRole("button", { name: "I have stored it" }).click();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole("button", { name: `Send a test message to ${receiver.url}` }).click();
    await page.getByText("The receiver answered 204").waitFor();
    Receiver.verify(receiver.at(0), secret);

    await tenant.openCase("someone");
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 20_000 });
    await page.getByRole("button", { name: /^Deliveries/ }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: /^Send again: event \d+$/ }).click();
    await page.getByText("1 message is sent again.").waitFor();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), { timeout: 20_000 });

    await page.getByRole("button", { name: `Switch off ${receiver.url}` }).click();
    await page.getByText("Off", { exact: true }).waitFor();
    await page.getByRole("button", { name: `Rotate the secret of ${receiver.url}` }).click();
    await page.getByRole("button", { name: "Make a new secret" }).click();
    expect(await shown.getByLabel("Signing secret", { exact: true }).inputValue()).not.toBe(secret);
    await shown.getByRole("button", { name: "I have stored it" }).click();
    await page.getByText("The secret before still signs too").waitFor();
    await page.getByRole("button", { name: `Delete ${receiver.url}` }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByText("None yet. A webhook posts every change").waitFor();
    expect(guest.complaints).toEqual([]);
  } finally {
    receiver.stop();
  }
});

test("developers: who may not manage webhooks is told so, and asks for nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "investigator"));
  await guest.goto("/developers");
  await guest.page.getByText("The list of webhooks").waitFor();
  expect(await guest.page.getByRole("button", { name: "New webhook" }).count()).toBe(0);
  expect(guest.complaints).toEqual([]);
});
