import { expect, test, vi } from "vitest";
import type { Overview, Rule } from "@casehound/client";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// The overview in a real Chromium, against the real service.
const browser = useBrowser();
const service = useService();

const hostile = `"><img src=x onerror="document.title='owned'"><b>rule</b>{{7*7}}\u202e`;
const panels = [
  "Opened and closed per day",
  "Open cases by risk",
  "Age of the backlog",
  "How closed cases ended",
  "Site events per day",
];

async function withCases(person: Parameters<typeof Visitor.create>[2] = {}): Promise<Visitor> {
  const visitor = await Visitor.create(browser.current, service.current, person);
  const { tenant } = visitor;
  await visitor.report("ann", "bob", "cid");
  const [ann] = await tenant.list("website_account_id=ann");
  const body = { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE", reason: "Known." };
  expect((await tenant.put(ann?.case_id ?? "", body)).status).toBe(200);
  return visitor;
}

function shownAccounts({ page }: Visitor): Promise<string[]> {
  return page.locator("[role=row] [role=gridcell]:nth-child(4) [title]").allTextContents();
}

// Adds outcomes to the rules in the service's response, and gives one rule a name that is markup.
async function judge({ page, tenant }: Visitor): Promise<void> {
  await page.route("**/rules", async (route) => {
    const answer = (await tenant.call("GET", "/rules")).json as unknown as { data: { rules: Rule[] } };
    const rules = answer.data.rules.map((rule, index) => ({
      ...rule,
      ...(index === 0 && { name: hostile }),
      ...(index < 2 && {
        precision: { confirmed: 3, false_positives: 1 - index, inconclusive: 0, precision: index === 0 ? 0.75 : 1 },
      }),
    }));
    await route.fulfill({ json: { ...answer, data: { rules } } });
  });
}

test("overview: the keyboard leads from a day's bar to the cases it counts, and back", async () => {
  const visitor = await withCases();
  const { page } = visitor;
  await visitor.goto("/overview");
  await page
    .getByRole("link", { name: /Open now/ })
    .getByText("2", { exact: true })
    .waitFor();
  await page.getByRole("link", { name: /\d: 1 closed$/ }).focus();
  await visitor.press("ArrowDown");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), patience).toMatch(/: 3 opened$/);
  await visitor.press("ArrowLeft");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"), patience).toMatch(/: 0 opened$/);
  await visitor.press("End", "ArrowDown", "Enter");
  await page.waitForURL(/opened_from=/);
  await page.getByText(/^Opened on .* \(UTC\)$/).waitFor();
  await expect.poll(async () => (await shownAccounts(visitor)).toSorted(), patience).toEqual(["ann", "bob", "cid"]);
  await page.goBack();
  await page.getByRole("link", { name: /\d: 1 closed$/ }).focus();
  await visitor.press("Enter");
  await page.getByText(/^Changed on .* \(UTC\)$/).waitFor();
  await expect.poll(() => shownAccounts(visitor), patience).toEqual(["ann"]);
  expect(visitor.complaints).toEqual([]);
});

test("overview: the bars of risk and age lead to exactly the open cases they count", async () => {
  const visitor = await withCases();
  const { page, tenant } = visitor;
  const found: Overview = (await tenant.call("GET", "/overview")).json.data;
  const { score = 0 } = found.scores.find((each) => each.cases === 2) ?? {};
  await visitor.goto("/overview");
  await page.getByTitle(`Risk ${score}: 2 open`).click();
  await expect.poll(async () => (await shownAccounts(visitor)).toSorted(), patience).toEqual(["bob", "cid"]);
  await visitor.goto("/overview");
  const below = score === 1 ? 2 : score - 1;
  await page.getByTitle(`Risk ${below}: 0 open`).click();
  await page.getByText("No cases match these filters").waitFor();
  await page.getByText(`Risk ${below}`, { exact: true }).waitFor();
  await visitor.goto("/overview");
  await page.getByTitle("Up to 1 hour: 2 open").click();
  await page.getByText(/^Opened since /).waitFor();
  await expect.poll(async () => (await shownAccounts(visitor)).toSorted(), patience).toEqual(["bob", "cid"]);
  await visitor.goto("/overview");
  await page.getByTitle("1 hour to 1 day: 0 open").click();
  await page.getByText("No cases match these filters").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("overview: every chart is also a table with the same links to the queue, and the address says which are tables", async () => {
  const visitor = await withCases();
  const { page } = visitor;
  await judge(visitor);
  await visitor.goto("/overview");
  for (const name of [...panels, "False positives per rule"]) {
    const panel = page.getByRole("region", { name, exact: true });
    const ways = async (): Promise<Set<string>> =>
      new Set(await panel.getByRole("link").evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? "")));
    await panel.getByRole("link").first().waitFor();
    const drawn = await ways();
    await panel.getByRole("button", { name: "As a table" }).click();
    await panel.getByRole("table").waitFor();
    expect([name, await ways()]).toEqual([name, drawn]);
    await panel.getByRole("button", { name: "As a chart" }).waitFor();
  }
  await page.waitForURL(/tables=/);
  const other = await Visitor.open(browser.current, visitor.tenant);
  await judge(other);
  await other.goto(`/overview${new URL(page.url()).search}`);
  await expect.poll(() => other.page.getByRole("table").count(), patience).toBe(panels.length + 1);
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test.each([1440, 1024])("overview: axis labels do not touch, and a link to all closed cases says so, %i px", async (width) => {
  const visitor = await withCases({ width });
  const { page } = visitor;
  await visitor.goto("/overview?days=30");
  const outcomes = page.getByRole("region", { name: "How closed cases ended" });
  await outcomes.getByTitle(/^False positive: 1\. Shows all cases closed/).waitFor();
  await page.getByTitle(/^Shows all cases closed/).waitFor();
  for (const name of ["Opened and closed per day", "Site events per day"]) {
    const labels = page.getByRole("region", { name }).locator("[aria-hidden] > span.whitespace-nowrap").filter({ visible: true });
    const boxes = await labels.evaluateAll((all) =>
      all.map((each) => each.getBoundingClientRect()).map(({ left, right, top }) => ({ left, right, top })),
    );
    const lowest = Math.max(...boxes.map(({ top }) => top));
    const axis = boxes.filter(({ top }) => top === lowest).toSorted((a, b) => a.left - b.left);
    expect(axis.length).toBeGreaterThan(1);
    expect(axis.slice(1).filter(({ left }, index) => left < (axis[index]?.right ?? 0) + 4)).toEqual([]);
  }
});

test("overview: the range is in the address; a year is drawn by week, and a week leads to its seven days", async () => {
  const visitor = await withCases();
  const { page } = visitor;
  await visitor.goto("/overview");
  await page.getByRole("link", { name: "365 days" }).click();
  await page.waitForURL(/days=365/);
  await page
    .getByRole("region", { name: "Opened and closed per week" })
    .getByRole("link", { name: /: 3 opened$/ })
    .click();
  await page.waitForURL(/opened_from=/);
  const { searchParams } = new URL(page.url());
  const [from, to] = [searchParams.get("opened_from") ?? "", searchParams.get("opened_to") ?? ""];
  expect((Date.parse(to) - Date.parse(from)) / 86_400_000).toBe(7);
  await expect.poll(() => shownAccounts(visitor), patience).toHaveLength(3);
  await visitor.goto("/?opened_from=never&opened_to=2026-99-99&status=all");
  await expect.poll(() => shownAccounts(visitor), patience).toHaveLength(3);
  await visitor.goto("/overview?days=8");
  await page.getByRole("region", { name: "Opened and closed per day" }).getByRole("link").first().waitFor();
  expect(await page.getByRole("link", { name: "30 days", exact: true }).getAttribute("aria-current")).toBeTruthy();
  expect(visitor.complaints).toEqual([]);
});

test("overview: no axe findings, and markup in a rule's name stays text, in either theme", async () => {
  const visitor = await withCases();
  const { page } = visitor;
  await judge(visitor);
  await visitor.goto("/overview?days=7");
  await page.getByRole("region", { name: "False positives per rule" }).getByText(hostile).waitFor();
  await page
    .getByRole("region", { name: panels[4] ?? "", exact: true })
    .getByRole("link")
    .first()
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto("/overview?tables=days,backlog,scores,outcomes,rules,traffic");
  await page.getByRole("rowheader", { name: hostile }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.title()).toBe("Casehound");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("overview: a part outside the person's scopes is shown as not available and is not requested", async () => {
  const some = await Visitor.create(browser.current, service.current, { scopes: ["read:cases", "read:metrics"] });
  await some.goto("/overview");
  await some.page.getByText("Your role does not include the rules.").waitFor();
  await some.page.getByText("No events received yet. Is the site connected?").waitFor();
  const none = await Visitor.open(browser.current, some.tenant, { scopes: ["read:cases"] });
  const asked: string[] = [];
  none.page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await none.goto("/overview");
  await none.page.getByText("The overview is not available to you").waitFor();
  expect(await none.page.getByRole("link", { name: "Overview" }).count()).toBe(0);
  expect(asked.filter((path) => /overview$|metrics$|rules$/.test(path) && path.startsWith("/v2"))).toEqual([]);
  expect([...some.complaints, ...none.complaints]).toEqual([]);
});
