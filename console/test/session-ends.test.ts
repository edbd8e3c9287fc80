import { expect, test, vi } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { Guest, makePerson, type Known } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// A session that ends, changes or becomes another person's during work.
const browser = useBrowser();
const service = useService();

type Sent = { key: string; status: number };

// Case writes with their responses.
function watchWrites({ page }: Guest): Sent[] {
  const sent: Sent[] = [];
  page.on("response", (response) => {
    const request = response.request();
    if (request.method() !== "PUT") return;
    sent.push({ key: request.headers()["idempotency-key"] ?? "", status: response.status() });
  });
  return sent;
}

async function atCase(person: Known) {
  const opened = await person.tenant.openCase("ann");
  const guest = await Guest.signedIn(browser.current, person);
  await guest.goto(`/cases/${opened.case_id}`);
  await guest.page.getByRole("heading", { name: "ann" }).waitFor();
  return { guest, opened, sent: watchWrites(guest) };
}

async function write({ page }: Guest): Promise<void> {
  await page.getByRole("button", { name: /Close the case/ }).click();
  await page.getByLabel("Confirmed fraud").check();
  await page.getByLabel(/Reason/).fill("My own words.");
}

async function ada(): Promise<Known> {
  return makePerson(await TestTenant.create(service.current), "investigator");
}

test("session: if it ends during a close, the draft stays, the same person signs in again, and the close continues under its key", async () => {
  const person = await ada();
  const { guest, opened, sent } = await atCase(person);
  const { page } = guest;
  await write(guest);
  await person.tenant.call("DELETE", `/users/${person.userId}/sessions`);
  await guest.press("Control+Enter");
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  expect(await page.getByLabel(/Reason/).inputValue()).toBe("My own words.");
  expect(await person.tenant.read(opened.case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
  expect(await axeFindings(page)).toEqual([]);
  expect(await dialog.getByLabel("E-mail").inputValue()).toBe(person.email);
  await dialog.getByLabel("Password").fill("a wrong password");
  await guest.press("Enter");
  await dialog.getByText("The e-mail or the password is wrong.").waitFor();
  await dialog.getByLabel("Password").fill("correct horse battery staple");
  await guest.press("Enter");
  await page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  expect(sent.map(({ status }) => status)).toEqual([401, 200]);
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  expect(await person.tenant.read(opened.case_id)).toMatchObject({
    status: "CLOSED",
    case_version: 2,
    current_state: { changed_by: `${person.name} <${person.email}>`, reason: "My own words." },
  });
  expect(guest.complaints).toEqual([]);
});

test("session: without signing in again, nothing of the case is visible; the draft is kept and nothing changes", async () => {
  const person = await ada();
  const { guest, opened } = await atCase(person);
  const { page } = guest;
  await write(guest);
  await person.tenant.call("DELETE", `/users/${person.userId}/sessions`);
  await guest.press("Control+Enter");
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  const ground = `getComputedStyle([...document.querySelectorAll("dialog[open]")].at(-1), "::backdrop").backgroundColor`;
  expect(await page.evaluate(ground)).toMatch(/^rgb\(/);
  expect(await dialog.getByRole("button", { name: "Close this dialog" }).count()).toBe(0);
  // A browser closes a dialog on the second Escape, whatever the page does.
  await guest.press("Escape", "Escape", "Escape");
  await expect.poll(() => dialog.isVisible(), patience).toBe(true);
  expect(await page.evaluate(ground)).toMatch(/^rgb\(/);
  expect(await person.tenant.read(opened.case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
  await page.reload();
  await guest.signIn(person.email);
  await page.getByRole("button", { name: /Close the case/ }).click();
  expect(await page.getByLabel(/Reason/).inputValue()).toBe("My own words.");
});

test("session: an idle page notices that the session has ended", async () => {
  const person = await ada();
  const { guest } = await atCase(person);
  await person.tenant.call("DELETE", `/users/${person.userId}/sessions`);
  const dialog = guest.page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor({ timeout: 45_000 });
  expect(await dialog.count()).toBe(1);
});

// Signs in in another tab of the same browser, then returns to this one.
async function signInElsewhere(guest: Guest, email: string): Promise<void> {
  const other = await guest.anotherTab();
  await other.goto();
  await other.choose("Sign out");
  await other.signIn(email);
  await other.menu().waitFor();
  await guest.page.bringToFront();
}

test("session: if the same person signs in again in another tab, this one continues with the new token", async () => {
  const person = await ada();
  const { guest, opened, sent } = await atCase(person);
  await write(guest);
  await signInElsewhere(guest, person.email);
  const dialog = guest.page.getByRole("dialog", { name: "Your session has ended" });
  await expect.poll(() => dialog.count(), patience).toBe(0);
  await guest.press("Control+Enter");
  await guest.page.getByText("Closed the case of ann as confirmed fraud.").waitFor();
  expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  expect(await person.tenant.read(opened.case_id)).toMatchObject({ status: "CLOSED", case_version: 2 });
});

test("session: if another person signs in in another tab, nothing is sent in that name and this tab becomes theirs", async () => {
  const person = await ada();
  const grace = await makePerson(person.tenant, "lead", { name: "Grace Hopper" });
  const { guest, opened } = await atCase(person);
  await write(guest);
  await signInElsewhere(guest, grace.email);
  await guest.press("Control+Enter");
  await guest.menu().getByText("Grace Hopper").waitFor();
  expect(await person.tenant.read(opened.case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
  const words = "JSON.stringify(sessionStorage)";
  expect(await guest.page.evaluate(words)).not.toContain("My own words.");
});

test("session: a write without the session's CSRF token is rejected, whatever page sends it", async () => {
  const person = await ada();
  const { guest, opened } = await atCase(person);
  const path = `/v2/${person.tenant.slug}/cases/${opened.case_id}`;
  const answer = await guest.page.evaluate(
    `fetch(${JSON.stringify(path)}, { method: "PUT", headers: { "content-type": "application/json", "idempotency-key": "k" },
      body: JSON.stringify({ status: "CLOSED", case_version: 1 }) }).then((response) => response.status)`,
  );
  expect(answer).toBe(403);
  expect(await person.tenant.read(opened.case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
});
