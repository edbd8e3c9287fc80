import { expect, test, vi } from "vitest";
import { TestTenant, useOwnDatabase, useService } from "../../service/test/harness.ts";
import { Receiver } from "../../service/test/webhook-receiver.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
// Uses its own database, because other services on a shared one would refuse to send to this machine.
const databaseUrl = useOwnDatabase("console_webhooks");
const service = useService({ databaseUrl, hasPrivateWebhooks: true });

test("developers: a webhook is created, tested, seen to deliver, resent, switched off, rotated and deleted", async () => {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"));
  const { page } = guest;
  const receiver = await Receiver.start();
  try {
    await guest.goto("/developers");
    await page.getByText("None yet. A webhook posts every change").waitFor();
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByLabel("Address", { exact: true }).fill("ftp://nowhere");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("alert").getByText("Address must be an https address").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(receiver.url);
    await page.getByLabel("A case is opened").check();
    await page.getByRole("button", { name: "Create webhook" }).click();
    const shown = page.getByRole("dialog", { name: "Store the signing secret now" });
    const secret = await shown.getByLabel("Signing secret", { exact: true }).inputValue();
    await guest.press("Escape");
    await shown.getByRole("button", { name: "Done", exact: true }).click();
    await shown.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);

    await page.getByRole("button", { name: `Send a test message to ${receiver.url}` }).click();
    await page.getByText("The receiver answered 204").waitFor();
    Receiver.verify(receiver.at(0), secret);

    await tenant.openCase("someone");
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 20_000 });
    await page.getByRole("button", { name: /^Deliveries/ }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: /^Resend event \d+$/ }).click();
    await page.getByText("Resending 1 message.").waitFor();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(3), { timeout: 20_000 });

    await page.getByRole("button", { name: `Switch off ${receiver.url}` }).click();
    await page.getByRole("list", { name: "Webhooks" }).getByText("Off", { exact: true }).waitFor();
    await page.getByRole("button", { name: `Rotate the secret of ${receiver.url}` }).click();
    await page.getByRole("button", { name: "Create a new secret" }).click();
    expect(await shown.getByLabel("Signing secret", { exact: true }).inputValue()).not.toBe(secret);
    await shown.getByRole("button", { name: "Done", exact: true }).click();
    await page.getByText("The previous secret also signs until").waitFor();
    await page.getByRole("button", { name: `Delete ${receiver.url}` }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await page.getByText("None yet. A webhook posts every change").waitFor();
    expect(guest.complaints).toEqual([]);
  } finally {
    receiver.stop();
  }
});

// The screen is as narrow as a phone's.
test("developers: a failing receiver is reported with its deliveries, and the webhook can be corrected", async () => {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"), { width: 390 });
  const { page } = guest;
  const receiver = await Receiver.start();
  receiver.answer = (_received, response) => void response.writeHead(302, { location: "/" }).end();
  try {
    const made = await tenant.call("POST", "/webhooks", { body: { url: `${receiver.url}/old`, types: ["case.opened"] } });
    const { webhook }: { webhook: { webhook_id: string } } = made.json.data;
    await guest.goto("/developers");
    expect(await page.getByLabel("Webhook id", { exact: true }).inputValue()).toBe(webhook.webhook_id);
    expect(await page.getByRole("link", { name: "Learn more about webhooks" }).getAttribute("href")).toBe("/docs/webhooks");
    await page.getByRole("button", { name: `Send a test message to ${receiver.url}/old` }).click();
    const words = page.getByText("The test message did not arrive: the receiver returned 302.");
    await words.waitFor();
    expect((await words.boundingBox())?.width).toBeGreaterThan(200);

    const { case_id } = await tenant.openCase("someone");
    await page.getByRole("button", { name: /^Deliveries/ }).click();
    await page.getByText("next attempt in").waitFor();
    await page.getByRole("button", { name: "Resend all waiting and abandoned messages" }).waitFor();
    const inner = page.getByRole("region", { name: "Webhooks" });
    expect(await inner.evaluate((section) => section.scrollWidth - section.clientWidth)).toBe(0);
    expect((await inner.boundingBox())?.width).toBeLessThan(390 - 56);
    receiver.answer = (_received, response) => void response.writeHead(204).end();
    await page.getByRole("button", { name: `Change ${receiver.url}/old` }).click();
    await page.getByLabel("Address", { exact: true }).fill(receiver.url);
    await page.getByLabel("A case is closed").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("case.opened, case.closed").waitFor();
    await page.getByRole("button", { name: /^Resend event \d+$/ }).click();
    await page.getByText("Delivered", { exact: true }).waitFor();
    expect(receiver.received.at(-1)?.event.resource.id).toBe(case_id);
    expect(guest.complaints).toEqual([]);
  } finally {
    receiver.stop();
  }
});

test("developers: one webhook too many is rejected with a readable message", async () => {
  const tenant = await TestTenant.create(service.current);
  const url = "https://crm.example/hook";
  for (let made = 0; made < 20; made++) await tenant.call("POST", "/webhooks", { body: { url } });
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "admin"));
  await guest.goto("/developers");
  await guest.page.getByRole("button", { name: "New webhook" }).click();
  await guest.page.getByLabel("Address", { exact: true }).fill(url);
  await guest.page.getByRole("button", { name: "Create webhook" }).click();
  await guest.page.getByRole("alert").getByText("The tenant already has the maximum of 20 webhooks. Delete one first.").waitFor();
  expect(guest.complaints).toEqual([]);
});

test("developers: a person who may not manage webhooks is told so, and the console does not request them", async () => {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, "investigator"));
  await guest.goto("/developers");
  await guest.page.getByText("The list of webhooks").waitFor();
  expect(await guest.page.getByRole("button", { name: "New webhook" }).count()).toBe(0);
  expect(guest.complaints).toEqual([]);
});
