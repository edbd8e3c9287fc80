import { expect, test, vi } from "vitest";
import { TestTenant, send, useService } from "../../service/test/harness.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

async function open(role: "investigator" | "admin" = "admin") {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, role));
  return { tenant, guest, page: guest.page };
}

type Client = { client_id: string; scopes: string[]; revoked_at?: string };

async function clientsOf(tenant: TestTenant): Promise<Client[]> {
  return ((await tenant.call("GET", "/clients")).json.data as { clients: Client[] }).clients;
}

async function tokenStatus(client_id: string, client_secret: string): Promise<number> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
  return (await fetch(`${service.current.url}/v2/oauth/token`, { method: "POST", body })).status;
}

test("developers: credentials are created by keyboard, the secret is shown once and copied, rotated with an overlap, and revoked", async () => {
  const { tenant, guest, page } = await open();
  await guest.goto("/developers");
  await page.getByRole("button", { name: "New credentials" }).focus();
  await guest.press("Enter", "Enter");
  await page.getByRole("button", { name: "Create credentials" }).focus();
  await guest.press("Enter");
  const shown = page.getByRole("dialog", { name: "Store the secret now" });
  const id = await shown.getByLabel("Client id", { exact: true }).inputValue();
  const secret = await shown.getByLabel("Client secret", { exact: true }).inputValue();
  await guest.press("Escape");
  expect(await shown.count()).toBe(1);
  await shown.getByRole("button", { name: "Copy client secret" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  expect(await page.content()).not.toContain(secret);
  expect((await clientsOf(tenant)).find((each) => each.client_id === id)?.scopes).toEqual(["create:activities"]);
  expect(await tokenStatus(id, secret)).toBe(200);

  await page.getByRole("button", { name: `Rotate the secret of ${id}` }).click();
  await page.getByText("keeps working for 24 hours").waitFor();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  const next = await shown.getByLabel("Client secret", { exact: true }).inputValue();
  await shown.getByText("The previous secret works until").waitFor();
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByText("The previous secret works until").waitFor();
  expect([await tokenStatus(id, secret), await tokenStatus(id, next)]).toEqual([200, 200]);

  await page.getByRole("button", { name: `Revoke ${id}` }).click();
  await page.getByRole("button", { name: "Keep them" }).click();
  expect(await tokenStatus(id, next)).toBe(200);
  await page.getByRole("button", { name: `Revoke ${id}` }).click();
  await page.getByRole("button", { name: "Revoke permanently" }).click();
  await page.getByText(`${id} was revoked.`).waitFor();
  await page.getByRole("button", { name: "Show 1 revoked" }).waitFor();
  expect(await tokenStatus(id, next)).toBe(401);
  expect(guest.complaints).toEqual([]);
});

test.each([
  ["stuffing", "Bot", /^(try-|Device|Address)/],
  ["takeover", "Account Takeover", /^try-/],
  ["signups", "Synthetic", /^(Device|Address) /],
  ["report", "Account Takeover", /^try-/],
])("developers: the scenario %s is sent, shown as sent, and opens a case labelled %s", async (scenario, label, name) => {
  const { tenant, guest, page } = await open();
  await guest.goto(`/developers?scenario=${scenario}`);
  await page.getByRole("button", { name: /^Send \d+ events?$/ }).click();
  const status = page.getByRole("status", { name: "Scenario result" });
  await status.getByRole("link").waitFor();
  expect(await status.textContent()).toContain(label);
  await page.getByText(/What was sent/).click();
  const text = await page.getByRole("region", { name: "what was sent" }).textContent();
  const { activities } = JSON.parse(text ?? "") as { activities: { activity_id: string }[] };
  const kept = await tenant.call("GET", "/activities?limit=100");
  const ids = (kept.json.data as { activities: { activity_id: string }[] }).activities.map((each) => each.activity_id);
  expect(ids.toSorted()).toEqual(activities.map((each) => each.activity_id).toSorted());
  await status.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  expect(guest.complaints).toEqual([]);
});

test("developers: an ordinary visit is scored and opens no case, and then the screen shows that it is connected", async () => {
  const { tenant, guest, page } = await open();
  await guest.goto("/developers?scenario=ordinary");
  await page.getByText("No events received yet").waitFor();
  await page.getByRole("button", { name: "Send 4 events" }).click();
  await page.getByText("Scored. No case was opened, as expected.").waitFor();
  await page.getByText("Connected", { exact: true }).waitFor();
  expect(await tenant.list()).toEqual([]);
});

test("developers: origins are added and removed; an origin that browsers never send is rejected with the service's message", async () => {
  const { tenant, guest, page } = await open();
  const origins = async () => ((await tenant.call("GET", "/tenants")).json.data as { allowed_origins: string[] }).allowed_origins;
  await guest.goto("/developers");
  await page.getByLabel("Add an origin").fill("https://shop.example/");
  await guest.press("Enter");
  await page.getByRole("button", { name: "Remove https://shop.example" }).waitFor();
  expect(await origins()).toEqual(["https://shop.example"]);
  await page.getByLabel("Add an origin").fill(hostile);
  await guest.press("Enter");
  await page.getByText(/is not an origin as browsers send it/).waitFor();
  expect(await origins()).toEqual(["https://shop.example"]);
  await page.getByRole("button", { name: "Copy the HTML snippet" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain("/tag.js");
  const remove = page.getByRole("button", { name: "Remove https://shop.example" });
  await remove.click();
  const dialog = page.getByRole("dialog", { name: "Remove an allowed origin" });
  await dialog.getByText(/are rejected from then on/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await origins()).toEqual(["https://shop.example"]);
  await remove.click();
  await dialog.getByRole("button", { name: "Remove it" }).click();
  await page.getByText("None yet. Events from browsers").waitFor();
  expect(await origins()).toEqual([]);
  expect(await page.title()).toBe("Casehound");
});

test("developers: incoming data stays text whatever it contains, and data that could not be used is shown", async () => {
  const { tenant, guest, page } = await open();
  await tenant.call("PUT", "/tenants", { body: { allowed_origins: ["https://shop.example"] } });
  const key = ((await tenant.call("GET", "/tenants")).json.data as { clickstream_app_id: string }).clickstream_app_id;
  await send(service.current.port, "POST", `/collect/${key}`, {
    rawBody: JSON.stringify([{ event_type: hostile }]),
    headers: { origin: "https://shop.example" },
  });
  await tenant.report(hostile);
  await guest.goto("/developers");
  await page.getByRole("cell", { name: hostile, exact: true }).waitFor();
  await page.getByText(/1 browser event was not accepted as sent/).click();
  await expect.poll(() => page.locator("img[src=x]").count(), patience).toBe(0);
  expect(await page.title()).toBe("Casehound");
  expect(guest.complaints).toEqual([]);
});

test("developers: what an investigator may not do is shown as not available and is not requested", async () => {
  const { guest, page } = await open("investigator");
  await guest.goto("/developers");
  await page.getByText("The list of credentials is not available to your role").waitFor();
  await page.getByText("Sending activity from here is not available to your role").waitFor();
  await page.getByRole("region", { name: "the HTML snippet" }).waitFor();
  expect(await page.getByRole("button", { name: /New credentials|^Send / }).count()).toBe(0);
  expect(guest.asked.filter((url) => url.endsWith("/clients"))).toEqual([]);
});

test("developers: the screen and its dialogs have no axe findings, in either theme", async () => {
  const { tenant, guest, page } = await open("admin");
  await tenant.openCase("ann");
  await guest.goto("/developers?scenario=report");
  await page.getByRole("button", { name: "Send 1 event" }).click();
  await page.getByText("Open the case").waitFor();
  const found: Record<string, string[]> = { screen: await axeFindings(page) };
  await page.getByRole("button", { name: "New credentials" }).click();
  found["new"] = await axeFindings(page);
  await page.getByRole("button", { name: "Read reports" }).click();
  await page.getByRole("button", { name: "Create credentials" }).click();
  await page.getByRole("button", { name: "Done", exact: true }).waitFor();
  found["secret"] = await axeFindings(page);
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page
    .getByRole("button", { name: /^Rotate/ })
    .first()
    .click();
  found["rotate"] = await axeFindings(page);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
  expect(guest.complaints).toEqual([]);
});
