import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

async function two(...accounts: string[]) {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  await ada.report(...accounts);
  const ben = await Visitor.open(browser.current, ada.tenant, { name: "Ben Okri" });
  for (const each of [ada, ben]) await each.goto();
  for (const each of [ada, ben]) await each.expectLive();
  return { ada, ben };
}

const rowOf = ({ page }: Visitor, account: string) => page.getByRole("row").filter({ hasText: account });
const pane = ({ page }: Visitor) => page.getByRole("complementary", { name: "The case in focus" });
const dialog = ({ page }: Visitor) => page.getByRole("dialog");
const tab = ({ page }: Visitor) => page.getByRole("button", { name: /^Handed to me/ });
const field = (visitor: Visitor) => dialog(visitor).getByRole("textbox", { name: "New note" });

// Chooses a person by typing the name, as people do in a list.
async function fillIn(visitor: Visitor, name: string, text: string): Promise<void> {
  await dialog(visitor).getByRole("combobox", { name: "To" }).waitFor();
  await dialog(visitor).locator("option", { hasText: name }).first().waitFor({ state: "attached" });
  await visitor.page.keyboard.type(name);
  await visitor.press("Tab");
  await visitor.page.keyboard.type(text);
}

test("handovers: by keyboard from the queue to a colleague, who sees it at once, with the note", async () => {
  const { ada, ben } = await two("bob", "ann");
  await tab(ben).click();
  await ben.page
    .getByText(/No cases/)
    .first()
    .waitFor();
  await ada.expectPeek("ann");
  await ada.press("a");
  await pane(ada).getByText("You are working on this").first().waitFor();
  await ada.press("h");
  await fillIn(ada, "Ben Okri", "Please call the bank.");
  expect(await axeFindings(ada.page)).toEqual([]);
  await ada.press("Control+Enter");
  await ada.page.getByRole("status").getByText("Handed over to Ben Okri.").waitFor();
  await rowOf(ada, "ann").getByTitle("Handed over to Ben Okri").waitFor();
  await pane(ada).getByText("Nobody has claimed this case").waitFor();
  await expect.poll(() => tab(ben).textContent(), patience).toContain("1");
  await ben.page.getByRole("button", { name: "1 new" }).click();
  await rowOf(ben, "ann").getByTitle("Handed over to you").waitFor();
  expect(await ben.page.getByRole("row").count()).toBe(2);
  await ben.press("Enter");
  await ben.page.getByText(/Handed over to you by/).waitFor();
  const notes = ben.page.getByRole("list", { name: "Notes" });
  await notes.getByText("handed over to you").waitFor();
  await notes.getByText("Please call the bank.").waitFor();
  await ben.page.getByRole("row").filter({ hasText: "Handed the case over to you" }).waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("handovers: on the case, to a role; a note that came meanwhile is shown first, and nothing typed is lost", async () => {
  const { ada, ben } = await two("ann");
  await ada.expectPeek("ann");
  await ada.press("Enter");
  await ada.page.getByRole("heading", { level: 1 }).getByText("ann").waitFor();
  await ada.press("h");
  await fillIn(ada, "Leads", "Above my limit.");
  await ada.press("Escape");
  await dialog(ada).waitFor({ state: "detached" });
  await ada.press("h");
  await dialog(ada).waitFor();
  expect(await field(ada).inputValue()).toBe("Above my limit.");
  const [found] = await ada.tenant.list("status=OPEN");
  const text = "Stop, the customer just called.";
  await ada.tenant.call("POST", `/cases/${found?.case_id ?? ""}/notes`, { body: { text }, key: "meanwhile" });
  await ada.page.getByRole("list", { name: "Notes", includeHidden: true }).getByText(text).waitFor({ state: "attached" });
  await dialog(ada).getByRole("combobox", { name: "To" }).selectOption("Leads");
  await field(ada).focus();
  await ada.press("Control+Enter");
  const strip = dialog(ada).getByRole("alert");
  await strip.getByText(text).waitFor();
  await strip.getByText("The case was not handed over.").waitFor();
  expect(await field(ada).inputValue()).toBe("Above my limit.");
  await strip.getByRole("button", { name: "Hand over anyway" }).click();
  await ada.page.getByText(/Handed over to the leads by/).waitFor();
  await expect.poll(() => ben.tenant.list("handed_to=lead"), patience).toHaveLength(1);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});
