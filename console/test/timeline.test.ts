import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { Case } from "../../service/src/domain/case.ts";
import { insertDecided } from "../../service/test/decided.ts";
import { useService, type TestTenant } from "../../service/test/harness.ts";
import { Browser as Colleague } from "../../service/test/people.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>{{7*7}}`;
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

// A case whose evidence comes at the end of a session with many page views that name no account.
async function makeStory(tenant: TestTenant, views: number, account = "ann"): Promise<{ found: Case; report: string }> {
  const session_id = randomUUID();
  const activities = Array.from({ length: views }, (_, index) => ({
    activity_id: randomUUID(),
    type: "page_view",
    occurred_at: secondsAgo(300 - index),
    session_id,
    attributes: { step: index + 1 },
  }));
  const sent = await tenant.call("POST", "/activities", { body: { activities } });
  expect(sent.status, sent.text).toBe(202);
  const report = await tenant.report(account, { session_id, attributes: { label: "Bot", note: "Seen by the bank" } });
  const found = await vi.waitFor(async () => {
    const [listed] = await tenant.list(`website_account_id=${encodeURIComponent(account)}`);
    return tenant.read(listed?.case_id ?? "");
  }, patience);
  await vi.waitFor(async () => {
    const answer = await tenant.call("GET", `/cases/${found.case_id}/sessions`);
    expect(answer.json.data).toMatchObject({ sessions: [{ activities: views + 1 }] });
  }, patience);
  return { found, report };
}

test("timeline: a long session loads page by page but shows its evidence at once; N leads there and updates the address", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { found, report } = await makeStory(tenant, 70);
  await visitor.goto(`/cases/${found.case_id}`);
  const section = page.getByRole("region", { name: "What happened" });
  const rows = section.locator("li[id^=event-]");
  await expect.poll(() => rows.count(), patience).toBe(51);
  expect(await rows.last().textContent()).toContain("Evidence");
  await section.getByText("20 events of the session not shown").waitFor();
  await visitor.press("n");
  await expect.poll(() => page.evaluate("document.activeElement.id"), patience).toBe(`event-${report}`);
  expect(new URL(page.url()).searchParams.get("event")).toBe(report);
  await section.getByRole("button", { name: "Show more" }).press("Enter");
  await expect.poll(() => rows.count(), patience).toBe(71);
  expect(await rows.nth(69).textContent()).toContain("step70");
  expect(await section.getByRole("button", { name: "Show more" }).count()).toBe(0);
  const session = section.getByRole("button", { name: /71 events/ });
  await session.press("Enter");
  expect(await session.getAttribute("aria-expanded")).toBe("false");
  // The evidence stays visible.
  await expect.poll(() => rows.filter({ visible: true }).count(), patience).toBe(1);
  expect(await rows.first().textContent()).toContain("Evidence");
  expect(visitor.complaints).toEqual([]);
});

test("timeline: markup in pages, attributes, agents and rules stays text, and page addresses are not links", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { found } = await makeStory(tenant, 1);
  const [occurrence] = Object.values(found.fraud_occurrences);
  await insertDecided(tenant, [
    {
      session_id: occurrence?.session_id ?? "",
      website_account_id: "ann",
      user_agent: hostile,
      browser: { page_title: hostile, page_url: `javascript:document.title='owned'//${hostile}`, signs: [hostile] },
      attributes: { [hostile.slice(0, 120)]: hostile },
      decision: { r: { "<b>rule</b>": 1 } },
    },
  ]);
  await visitor.goto(`/cases/${found.case_id}`);
  const row = page.locator("li[id^=event-]").filter({ hasText: "javascript:" });
  await row.waitFor();
  expect(await row.textContent()).toContain(hostile);
  expect(await page.locator("img[src=x], b, a[href^=javascript]").count()).toBe(0);
  expect(await page.title()).toBe("Casehound");
  expect(visitor.complaints).toEqual([]);
});

test("timeline: the audit trail shows who did what, with people by name", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const found = await tenant.openCase("ann");
  const grace = await Colleague.join(tenant, "investigator", { name: "Grace Hopper" });
  const body = { status: "CLOSED", case_version: found.case_version, disposition: "FALSE_POSITIVE", reason: "Her own device." };
  expect((await grace.call("PUT", `/cases/${found.case_id}`, { body, key: randomUUID() })).status).toBe(200);
  await visitor.goto(`/cases/${found.case_id}`);
  const trail = page.getByRole("table", { name: "Audit trail" });
  await trail.getByText("Closed the case: false positive").waitFor();
  const rows = await trail.locator("tbody tr").allTextContents();
  expect(rows[0]).toContain("Grace Hopper");
  expect(rows[1]).toMatch(/Detection.*Opened the case/);
});

test("timeline: a failed read says so and is retried on request; the rest of the case is shown", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const found = await tenant.openCase("ann");
  const problem = { type: "bad-request", title: "Bad request", status: 400, detail: "Not today.", errors: null };
  await page.route("**/activities?*", (route) =>
    route.fulfill({ status: 400, contentType: "application/problem+json", body: JSON.stringify(problem) }),
  );
  await visitor.goto(`/cases/${found.case_id}`);
  await page.getByText("The activity could not be loaded: Not today.").waitFor();
  await page.getByRole("heading", { name: "Audit trail" }).waitFor();
  await page.unroute("**/activities?*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Fraud reported", { exact: true }).waitFor();
  expect(await page.getByText("could not be loaded").count()).toBe(0);
});

test("timeline: print shows only the case, without navigation or buttons, and includes flags and evidence that were collapsed", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { theme: "dark" });
  const { page, tenant } = visitor;
  const quiet = Array.from({ length: 5 }, (_, index) => ({
    activity_id: randomUUID(),
    type: "page_view",
    occurred_at: secondsAgo(7200 - index),
    session_id: randomUUID(),
    website_account_id: "ann",
  }));
  expect((await tenant.call("POST", "/activities", { body: { activities: quiet } })).status).toBe(202);
  const { found, report } = await makeStory(tenant, 3);
  const around = async () => (await tenant.call("GET", `/cases/${found.case_id}/activities`)).json.data as object;
  await expect.poll(around, patience).toMatchObject({ activities: { length: 6 } });
  await tenant.call("PUT", "/enduseraccounts/ann", { body: { is_blocked: true } });
  await visitor.goto(`/cases/${found.case_id}`);
  await page.getByRole("button", { name: /4 events/ }).click();
  const evidence = page.locator(`[id="event-${report}"]`);
  await expect.poll(() => page.locator("li[id^=event-]").count(), patience).toBe(1);
  await page.emulateMedia({ media: "print" });
  expect(await evidence.isVisible()).toBe(true);
  await page.getByText("3 earlier sessions are not printed.").filter({ visible: true }).waitFor();
  expect(await page.getByRole("navigation").count()).toBe(0);
  expect(await page.getByRole("switch").count()).toBe(0);
  const buttons = page.getByRole("button").filter({ visible: true });
  expect((await buttons.allTextContents()).filter((name) => !/event/.test(name))).toEqual([]);
  await page.getByRole("region", { name: "Who" }).getByText("Flags: Blocked").filter({ visible: true }).waitFor();
  await page
    .getByText(/Printed by Ada Investigator \(.+@.+\) on .+ (UTC|GMT)/)
    .filter({ visible: true })
    .waitFor();
  expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
  // All of it, not only what fits in a window.
  const text = (await page.pdf({ format: "A4" })).toString("latin1");
  expect(text.match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1);
});

test("timeline: a case with its sessions has no axe findings, in either theme", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { found, report } = await makeStory(tenant, 60);
  await visitor.goto(`/cases/${found.case_id}?event=${report}`);
  await page.getByRole("button", { name: "Show more" }).waitFor();
  await page.getByRole("table", { name: "Audit trail" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.id"), patience).toBe(`event-${report}`);
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
