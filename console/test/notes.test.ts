import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

async function onCase(account = "ann") {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  const { case_id } = await ada.tenant.openCase(account);
  const ben = await Visitor.open(browser.current, ada.tenant, { name: "Ben Okri" });
  for (const each of [ada, ben]) await each.goto(`/cases/${case_id}`);
  for (const { page } of [ada, ben]) await page.getByRole("textbox", { name: "New note" }).waitFor();
  return { ada, ben, case_id };
}

const notes = ({ page }: Visitor) => page.getByRole("list", { name: "Notes" });
const field = ({ page }: Visitor) => page.getByRole("textbox", { name: "New note" });

test("notes: a note with a mention is written by keyboard, and a colleague sees it at once, also in the timeline", async () => {
  const { ada, ben } = await onCase();
  await ada.press("m");
  await ada.page.keyboard.type("Waiting for the bank, @be");
  await ada.page.getByRole("option", { name: /Ben Okri/ }).waitFor();
  await ada.press("Enter");
  await ada.page.keyboard.type("please call.\nThanks");
  expect(await axeFindings(ada.page)).toEqual([]);
  await ada.press("Control+Enter");
  for (const each of [ada, ben]) await notes(each).getByText("@Ben Okri", { exact: true }).waitFor();
  expect(await field(ada).inputValue()).toBe("");
  expect(await ben.page.getByText(/Waiting for the bank/).count()).toBe(2);
  await ben.page.getByRole("row").filter({ hasText: "Added a note" }).waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("notes: what is typed survives another screen and a reload, and a failed send keeps it", async () => {
  const { ada, case_id } = await onCase();
  await field(ada).fill("Half a thought");
  await ada.press("Escape");
  await ada.goto("/");
  await ada.page.getByRole("grid").waitFor();
  await ada.goto(`/cases/${case_id}`);
  await expect.poll(() => field(ada).inputValue(), patience).toBe("Half a thought");
  const problem = { type: "access-denied", title: "x", status: 403, detail: "No more notes.", errors: null };
  await ada.page.route("**/notes", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 403, contentType: "application/problem+json", json: problem })
      : route.fallback(),
  );
  await ada.page.getByRole("button", { name: "Add note" }).click();
  await ada.page.getByText("The note was not added: No more notes. Your text is kept.").waitFor();
  expect(await field(ada).inputValue()).toBe("Half a thought");
});

test("notes: a close that has not seen a note is held back and shows it", async () => {
  const { ada, ben } = await onCase();
  await ada.press("2");
  await ada.page.getByRole("dialog").getByRole("textbox").fill("A regular customer.");
  await field(ben).fill("Stop, the customer just called.");
  await ben.page.getByRole("button", { name: "Add note" }).click();
  await notes(ben).getByText("Stop, the customer just called.").waitFor();
  await ada.press("Control+Enter");
  const strip = ada.page.getByRole("dialog").getByRole("alert");
  await strip.getByText("Stop, the customer just called.").waitFor();
  await strip.getByText(/by Ben Okri/).waitFor();
  expect(await ada.page.getByRole("dialog").getByRole("textbox").inputValue()).toBe("A regular customer.");
  expect(await ada.tenant.list("status=OPEN")).toHaveLength(1);
});

test("notes: a close right after one's own note does not conflict with it", async () => {
  const { ada, case_id } = await onCase();
  // The page cannot read the case again, so it knows the new version only from the answer to the note.
  await ada.page.route(`**/cases/${case_id}`, (route) => (route.request().method() === "GET" ? undefined : route.fallback()));
  await ada.press("m");
  await ada.page.keyboard.type("The bank called.");
  await ada.press("Control+Enter");
  await expect.poll(() => field(ada).inputValue(), patience).toBe("");
  await ada.press("Escape", "1");
  await ada.page.getByRole("dialog").waitFor();
  await ada.press("Control+Enter");
  await ada.page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await ada.tenant.read(case_id)).toMatchObject({ status: "CLOSED", case_version: 3 });
});

test("notes: if a colleague closes the case first, the reason that was typed can become a note, and the case stays on the screen", async () => {
  const { ada, ben, case_id } = await onCase();
  await ada.tenant.openCase("bob");
  await ada.press("2");
  await ada.page.getByRole("dialog").getByRole("textbox").fill("She called: a regular customer.");
  await ben.press("1");
  await ben.page.getByRole("dialog").waitFor();
  await ben.press("Control+Enter");
  await expect.poll(async () => (await ada.tenant.read(case_id)).status, patience).toBe("CLOSED");
  await ada.press("Control+Enter");
  const dialog = ada.page.getByRole("dialog", { name: "Already closed: the case of ann" });
  await dialog.getByText("She called: a regular customer.").waitFor();
  expect(await axeFindings(ada.page)).toEqual([]);
  expect(ada.page.url()).toContain(case_id);
  await ada.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await ada.page.getByRole("status").getByText("Your text was added as a note.").waitFor();
  const { data } = (await ada.tenant.call("GET", `/cases/${case_id}/notes`)).json;
  expect(data).toMatchObject({
    notes: [{ text: "She called: a regular customer.", created_by: expect.stringContaining("Ada") }],
  });
  // Then the work goes on with the next case.
  await ada.page.getByRole("heading", { level: 1, name: "bob" }).waitFor();
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("notes: markup, odd characters and long words in a note stay text", async () => {
  const { ada, ben, case_id } = await onCase();
  const text = `<img src=x onerror=alert(1)> \u202ereversed ${"long".repeat(200)}`;
  const path = `/cases/${case_id}/notes`;
  await ada.tenant.call("POST", path, { body: { text }, key: "odd-note" });
  await notes(ben).getByText("<img src=x onerror=alert(1)>").waitFor();
  expect(await ben.page.locator("img[src=x]").count()).toBe(0);
  expect(await ben.page.evaluate("document.documentElement.scrollWidth")).toBe(1440);
  expect(ben.complaints).toEqual([]);
});
