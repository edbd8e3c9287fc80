import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// Two people who work in one queue.
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
const headline = ({ page }: Visitor) => page.getByRole("heading", { level: 1 });

test("claims: a colleague sees at once who works on a case, may take it over, and a release shows too", async () => {
  const { ada, ben } = await two("bob", "ann");
  await ada.expectPeek("ann");
  await ada.press("a");
  await pane(ada).getByText("You are working on this").first().waitFor();
  await rowOf(ben, "ann").getByTitle("Ada Lovelace is working on this").waitFor();
  await ben.expectPeek("ann");
  await ben.press("a");
  await ben.page.getByRole("status").getByText("Ada Lovelace is working on this case.").waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  await ben.page.getByRole("status").getByRole("button", { name: "Take over" }).click();
  await rowOf(ada, "ann").getByTitle("Ben Okri is working on this").waitFor();
  await ben.press("a");
  await rowOf(ada, "ann").getByTitle("Ben Okri is working on this").waitFor({ state: "detached" });
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("claims: U gives two people different cases, in the order of the queue; Mine lists one's own", async () => {
  const { ada, ben } = await two("cid", "bob", "ann");
  await Promise.all([ada.expectPeek("ann"), ben.expectPeek("ann")]);
  await ben.press("j");
  await ben.press("j");
  await ben.expectPeek("cid");
  await ada.press("u");
  await ada.expectPeek("bob");
  await pane(ada).getByText("You are working on this").first().waitFor();
  await ben.press("u");
  await ben.expectPeek("ann");
  await ben.page.getByRole("button", { name: /^Mine/ }).click();
  await rowOf(ben, "ann").waitFor();
  expect(await ben.page.getByRole("row").count()).toBe(2);
  await ada.press("u");
  await ada.expectPeek("cid");
  // The case that was claimed in passing is free again.
  await rowOf(ada, "bob")
    .getByTitle(/working on this/)
    .waitFor({ state: "detached" });
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("claims: on a case, J and K move along the queue, and a close opens the next case that no colleague works on", async () => {
  const { ada, ben } = await two("dan", "cid", "bob", "ann");
  await ben.expectPeek("ann");
  await ben.press("j");
  await ben.expectPeek("bob");
  await ben.press("a");
  await rowOf(ada, "bob").getByTitle("Ben Okri is working on this").waitFor();
  await ada.expectPeek("ann");
  await ada.press("Enter");
  await headline(ada).getByText("ann").waitFor();
  await ada.press("j");
  await headline(ada).getByText("bob").waitFor();
  await ada.page.getByText("Ben Okri is working on this ·").waitFor();
  await ada.press("k");
  await headline(ada).getByText("ann").waitFor();
  await ada.press("1");
  await ada.page.getByRole("dialog").waitFor();
  await ada.press("Control+Enter");
  await headline(ada).getByText("cid").waitFor();
  await ada.press("z");
  await headline(ada).getByText("ann").waitFor();
  await ada.press("u");
  await headline(ada).getByText("cid").waitFor();
  await ada.page.getByText("You are working on this ·").waitFor();
  await ada.press("Escape");
  await ada.page.getByRole("grid").waitFor();
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("claims: U right after a close wins over the move to the next case, and so does Esc", async () => {
  const { ada } = await two("cid", "bob", "ann");
  const { page, tenant } = ada;
  const [next] = await tenant.list("website_account_id=cid");
  const address = `**/cases/${next?.case_id ?? ""}`;
  const held = Promise.withResolvers<void>();
  // The page reads the next case before it moves there.
  await page.route(address, async (route) => {
    await held.promise;
    await route.fallback();
  });
  const closeThenPress = async (key: string) => {
    await ada.press("1");
    await page.getByRole("dialog").waitFor();
    await ada.press("Control+Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await ada.press(key);
  };
  await ada.expectPeek("ann");
  await ada.press("j");
  await ada.expectFocused("bob");
  await ada.press("Enter");
  await headline(ada).getByText("bob").waitFor();
  await closeThenPress("u");
  await headline(ada).getByText("ann").waitFor();
  await page.getByText("You are working on this ·").waitFor();
  const answered = page.waitForResponse(address);
  await closeThenPress("Escape");
  await page.getByRole("grid").waitFor();
  held.resolve();
  await answered;
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  expect(new URL(page.url()).pathname).toBe("/");
  expect(ada.complaints).toEqual([]);
});

test("claims: with the setting on, opening a case claims it and leaving releases it", async () => {
  const { ada, ben } = await two("ann");
  await ada.page.getByRole("button", { name: /Ada Lovelace/ }).click();
  await ada.page.getByRole("menuitem", { name: "Claim cases when I open them" }).click();
  await ada.expectPeek("ann");
  await rowOf(ada, "ann").dblclick();
  await rowOf(ben, "ann").getByTitle("Ada Lovelace is working on this").waitFor();
  await ada.press("Escape");
  await rowOf(ben, "ann").getByTitle("Ada Lovelace is working on this").waitFor({ state: "detached" });
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

test("claims: the dialog for closing names the colleague who works on the case, and a claim does not prevent the close", async () => {
  const { ada, ben } = await two("ann");
  await ben.expectPeek("ann");
  await ben.press("a");
  await ada.expectPeek("ann");
  await pane(ada).getByText("Ben Okri is working on this ·").waitFor();
  await ada.press("2");
  await ada.page.getByRole("dialog").getByText("Ben Okri is working on this case.").waitFor();
  await ada.press("Control+Enter");
  await expect.poll(() => ada.tenant.list("status=CLOSED"), patience).toHaveLength(1);
  await rowOf(ben, "ann").getByText("Closed").waitFor();
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});
