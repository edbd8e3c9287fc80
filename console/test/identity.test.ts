import { expect, test, vi } from "vitest";
import { addIdentityCounts } from "../../service/src/db/identity.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { readIdentity } from "../../service/test/identity.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

async function open(role: "investigator" | "admin", width = 1280) {
  const tenant = await TestTenant.create(service.current);
  const guest = await Guest.signedIn(browser.current, await makePerson(tenant, role), { width });
  await guest.goto("/developers");
  return { tenant, guest, page: guest.page, section: guest.page.getByRole("region", { name: "Signed identity" }) };
}

test("developers: a snippet-only tenant creates an identity secret, sees it once, rotates and revokes it, and requires signatures", async () => {
  const { tenant, guest, page, section } = await open("admin");
  await section.getByText("or one server call at log-in, lifts both limits").waitFor();
  expect(await section.getByRole("region", { name: "the lines that sign an identity" }).textContent()).toContain("createHmac");
  await section.getByText("No event from a page has named an account in the last 7 days.").waitFor();
  for (const name of ["Observe", "Required"]) expect(await section.getByRole("radio", { name }).isDisabled()).toBe(true);
  expect(await axeFindings(page)).toEqual([]);

  await section.getByRole("button", { name: "Create a secret" }).click();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  const shown = page.getByRole("dialog", { name: "Store the identity secret now" });
  const secret = await shown.getByLabel("Identity secret", { exact: true }).inputValue();
  expect(secret).toMatch(/^idsec_/);
  await guest.press("Escape");
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  expect(await page.content()).not.toContain(secret);
  await section.getByRole("radio", { name: "Observe", checked: true }).waitFor();
  expect(await section.getByText("lifts both limits").count()).toBe(0);

  await section.getByRole("button", { name: "Rotate the identity secret" }).click();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  await shown.getByText("The replaced secret works until").waitFor();
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  const secrets = section.getByRole("list", { name: "Identity secrets" });
  await secrets.getByText("Works until").waitFor();
  expect((await readIdentity(tenant)).secrets).toHaveLength(2);

  await section.getByRole("button", { name: "Rotate the identity secret" }).click();
  await page.getByLabel("End the older secrets now").check();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  await shown.getByRole("button", { name: "Done", exact: true }).click();
  await secrets.getByText("Works until").waitFor({ state: "detached" });
  expect((await readIdentity(tenant)).secrets).toHaveLength(1);

  await section.getByRole("radio", { name: "Required" }).click();
  await section.getByRole("radio", { name: "Required", checked: true }).waitFor();
  expect(await readIdentity(tenant)).toMatchObject({ identity_verification: "required" });
  expect(await axeFindings(page)).toEqual([]);
  expect(guest.complaints).toEqual([]);
});

test("developers: the counts of the last seven days form one sentence, on a phone too", async () => {
  const { tenant, guest, page, section } = await open("admin", 390);
  const day = new Date().toISOString().slice(0, 10);
  await service.current.database.transaction((tx) =>
    addIdentityCounts(tx, tenant.tenantId, [
      { day, source: "signed", count: 1200 },
      { day, source: "tied", count: 1 },
      { day, source: "unvouched", count: 30 },
      { day, source: "bad-token", count: 4 },
    ]),
  );
  await page.reload();
  const words =
    "Of 1,235 events that named an account in the last 7 days, 1,200 were signed, 1 was tied by your server, 30 were unverified, and 4 had a bad token.";
  await section.getByText(words).waitFor();
  expect(await section.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  expect(guest.complaints).toEqual([]);
});

test("developers: a sixth identity secret is rejected with a readable message", async () => {
  const { tenant, guest, page, section } = await open("admin");
  for (let made = 0; made < 5; made++) await tenant.call("POST", "/tenants/identity/secrets");
  await page.reload();
  await section.getByRole("button", { name: "Rotate the identity secret" }).click();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  await page.getByRole("alert").getByText("5 identity secrets are valid. Wait until").waitFor();
  expect((await readIdentity(tenant)).secrets).toHaveLength(5);
  expect(guest.complaints).toEqual([]);
});

test("developers: an investigator sees the settings of signed identity but cannot change them", async () => {
  const { guest, section } = await open("investigator");
  await section.getByText("Admins can change this.").waitFor();
  expect(await section.getByRole("button", { name: /secret/ }).count()).toBe(0);
  for (const radio of await section.getByRole("radio").all()) expect(await radio.isDisabled()).toBe(true);
  expect(guest.complaints).toEqual([]);
});
