import type { CDPSession } from "playwright-core";
import { expect, test, vi } from "vitest";
import { freePort } from "../../service/test/launch.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { goodPassword } from "../../service/test/people.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
// Passkeys need a domain name.
const port = await freePort();
const origin = `http://localhost:${port}`;
const service = useService({ port, publicUrl: origin });

type Device = { cdp: CDPSession; authenticatorId: string };

// A device with a fingerprint reader, made by Chromium for tests.
async function giveDevice(guest: Guest): Promise<Device> {
  const cdp = await guest.context.newCDPSession(guest.page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

async function open() {
  const tenant = await TestTenant.create(service.current);
  const ada = await makePerson(tenant, "investigator");
  const guest = await Guest.open(browser.current, service.current);
  const device = await giveDevice(guest);
  await guest.page.goto(origin);
  return { ada, guest, page: guest.page, device };
}

test("passkeys: a person adds one, signs in with it without a password, sees its last use, and removes it", async () => {
  const { ada, guest, page } = await open();
  await guest.signIn(ada.email);
  await guest.choose("Two-factor authentication");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name of the passkey").fill("Ada’s laptop");
  await page.getByLabel("Your password").fill(goodPassword);
  expect(await axeFindings(page)).toEqual([]);
  await guest.press("Enter");
  await page.getByRole("button", { name: "I have saved the codes" }).click();
  await page.getByText("Passkey, not used yet").waitFor();
  await guest.press("Escape");
  await guest.choose("Sign out");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await guest.menu().waitFor();
  await guest.choose("Two-factor authentication");
  await page.getByText("last used").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await guest.press("Escape");
  // The password alone is not enough, and the passkey is a way to go on.
  await guest.choose("Sign out");
  await guest.signIn(ada.email);
  await page.getByText("One of your recovery codes.").waitFor();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await guest.menu().waitFor();
  await guest.choose("Two-factor authentication");
  await page.getByRole("button", { name: "Remove the passkey Ada’s laptop" }).click();
  await page.getByLabel("Your password").fill(goodPassword);
  await guest.press("Enter");
  await page.getByText("The passkey Ada’s laptop was removed.").waitFor();
  await guest.press("Escape");
  await guest.choose("Sign out");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByText("This passkey is unknown or was removed. Sign in another way.").waitFor();
  expect(guest.complaints).toEqual([]);
});

test("passkeys: a person whom the device does not recognize is not let in, and may try another way", async () => {
  const { ada, guest, page, device } = await open();
  await guest.signIn(ada.email);
  await guest.choose("Two-factor authentication");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Your password").fill(goodPassword);
  await guest.press("Enter");
  await page.getByRole("button", { name: "I have saved the codes" }).click();
  await guest.press("Escape");
  await guest.choose("Sign out");
  await device.cdp.send("WebAuthn.setUserVerified", { authenticatorId: device.authenticatorId, isUserVerified: false });
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByLabel("Password").waitFor();
  expect(await guest.menu().count()).toBe(0);
  expect((await guest.context.cookies()).some(({ name }) => name === "casehound_session")).toBe(false);
});
