import { expect, test, vi } from "vitest";
import type { Page } from "playwright-core";
import type { Decision } from "../../service/src/domain/decision.ts";
import { saveLabels } from "../../service/src/db/labels.ts";
import { activityKey } from "../../service/src/db/inbox.ts";
import { draftRule, makeRule } from "../../service/test/decided.ts";
import { useOwnDatabase, useService, type TestTenant } from "../../service/test/harness.ts";
import { amountModel, insertTestModel, paymentOf, sendScored } from "../../service/test/models-lab.ts";
import { insertPaid, paymentsOf } from "../../service/test/training-lab.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
// The score of a case and its parts. The tests score activity themselves, so no other engine interferes.
const browser = useBrowser();
const service = useService({ databaseUrl: useOwnDatabase("console_score"), roles: new Set(["api"]) });

const numberOf = (text: string) => Math.round(Number(text.replace("−", "-")) * 100);

// The parts on the page, their total, and the number in the header, in hundredths.
async function shownIn(page: Page) {
  await page.locator("[data-total]").waitFor();
  const [parts, totals, sums] = await Promise.all(
    ["[data-part]", "[data-total]", "header [data-sum]"].map((each) => page.locator(each).allTextContents()),
  );
  return {
    sum: (parts ?? []).reduce((sum, text) => sum + numberOf(text), 0),
    parts: (parts ?? []).length,
    total: numberOf(totals?.[0] ?? ""),
    header: numberOf(sums?.[0] ?? ""),
  };
}

async function openOnly(visitor: Visitor, query = ""): Promise<string> {
  const [listed] = await visitor.tenant.list(query);
  await visitor.goto(`/cases/${listed?.case_id ?? ""}`);
  return listed?.case_id ?? "";
}

async function decisionOf(tenant: TestTenant, caseId: string): Promise<Decision> {
  const [occurrence] = Object.values((await tenant.read(caseId)).fraud_occurrences);
  const answer = await tenant.call("GET", `/decisions/${occurrence?.prediction_id ?? ""}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

test("score: rules and model are one breakdown, which sums to the number in the header and in the decision", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await insertTestModel(tenant, { model: amountModel({ high: 3.456 }) });
  const expression = 'event.type == "payment" && event.value > 9';
  await makeRule(tenant, "large", { ...draftRule, name: "Large payment", expression, weight: 1.234 });
  await sendScored(tenant, [paymentOf(500, { website_account_id: "ann" })]);
  const caseId = await openOnly(visitor);
  const { log_odds } = await decisionOf(tenant, caseId);
  const shown = await shownIn(page);
  expect(shown).toEqual({ sum: shown.total, parts: 3, total: Math.round(log_odds * 100), header: shown.total });
  const why = page.getByRole("region", { name: "Why" });
  for (const words of ["Usual risk of this kind of activity", "Large payment", "Model", "Amount"])
    await why.getByText(words, { exact: true }).first().waitFor();
  await why.getByText("score 4", { exact: true }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("score: if a model may not lower a rule's score, the part that is held back is shown", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await insertTestModel(tenant, { model: amountModel({ limit: 1000, low: -2 }) });
  await makeRule(tenant, "any", { ...draftRule, expression: 'event.type == "payment"', weight: 3 });
  await sendScored(tenant, [paymentOf(5, { website_account_id: "ann" })]);
  await openOnly(visitor);
  const shown = await shownIn(page);
  expect(shown).toMatchObject({ sum: 275, total: 275, header: 275 });
  await page.getByText("Held back, because a rule fired").waitFor();
});

test("score: if one activity is in two cases, each case counts only the rules about its subject and shows one score", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const onFailure = { ...draftRule, expression: 'event.type == "login_failed"' };
  await makeRule(tenant, "of_source", { ...onFailure, name: "Of the address", about: "address", weight: 3 });
  await makeRule(tenant, "of_account", { ...onFailure, name: "Of the account", about: "account", weight: 4.5 });
  const failed = paymentOf(1, { type: "login_failed", website_account_id: "ann", ip: "192.0.2.7" });
  await sendScored(tenant, [failed]);
  await sendScored(tenant, [{ ...failed, activity_id: "again" }]);
  for (const [account, own, other, score] of [
    ["UNKNOWN", 300, "Of the account", 3],
    ["ann", 450, "Of the address", 4],
  ] as const) {
    const caseId = await openOnly(visitor, `website_account_id=${account}`);
    expect(await decisionOf(tenant, caseId)).toMatchObject({ log_odds: 4.5 });
    expect(await shownIn(page)).toEqual({ sum: own, parts: 1, total: own, header: own });
    await page.getByText(new RegExp(`This rule also fired, but counts in another case: ${other}`)).waitFor();
    await page
      .locator("header")
      .getByRole("img", { name: `Risk ${score} of 5` })
      .waitFor();
    const row = page.locator(`[id="event-${failed.activity_id}"]`);
    await row.getByText("Evidence", { exact: true }).waitFor();
    await row.getByRole("img", { name: `Risk ${score} of 5` }).waitFor();
    // What counts elsewhere is said on both sides, with a link.
    const elsewhere = (await tenant.list("status=OPEN")).find(({ case_id }) => case_id !== caseId);
    const there = `/cases/${elsewhere?.case_id ?? ""}`;
    await row.getByText(`${other} counts in another case (score ${elsewhere?.overall_risk_score ?? 0})`).waitFor();
    expect(await row.getByRole("link", { name: "another case" }).getAttribute("href")).toBe(there);
    expect(await page.getByRole("link", { name: /Show the other case/ }).getAttribute("href")).toBe(there);
    if (account === "UNKNOWN") continue;
    // A repeat has the score of this case too.
    await page
      .locator('[id="event-again"]')
      .getByRole("img", { name: `Risk ${score} of 5` })
      .waitFor();
  }
  expect(visitor.complaints).toEqual([]);
});

const at = (seconds: number) => new Date(Date.now() - 7_200_000 + seconds * 1000).toISOString();

test("case: a transfer leads the case and stays in sight, whatever failed log-ins follow; repeats are one line with a count", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const ofAccount = { ...draftRule, about: "account" as const };
  const [sent, guessed] = ["Sent after a change", "Guessed passwords"];
  await makeRule(tenant, "sent", {
    ...ofAccount,
    name: sent,
    sentence: `${sent}.`,
    expression: 'event.type == "transfer"',
    weight: 7,
  });
  await makeRule(tenant, "guessed", {
    ...ofAccount,
    name: guessed,
    sentence: `${guessed}.`,
    expression: 'event.type == "login_failed"',
    weight: 10,
  });
  const own = { website_account_id: "ann", attributes: {} };
  const transfer = paymentOf(9, { ...own, type: "transfer", session_id: "first", occurred_at: at(0) });
  await sendScored(tenant, [transfer]);
  const noise = Array.from({ length: 620 }, (_, n) =>
    paymentOf(1, { ...own, type: "login_failed", session_id: `later-${n % 31}`, occurred_at: at(60 + n) }),
  );
  await sendScored(tenant, noise);
  const caseId = await openOnly(visitor);
  const why = page.getByRole("region", { name: "Why" });
  await why.getByText(`${sent}.`).first().waitFor();
  expect((await tenant.read(caseId)).details.summary).toContain(sent);
  expect(await page.locator("[data-part]").allTextContents()).toEqual(["+7.00"]);
  expect(await why.getByRole("list", { name: "Evidence" }).getByRole("listitem").allTextContents()).toEqual([
    expect.stringMatching(/^Sent after a change.*seen once/),
    expect.stringMatching(/^Guessed passwords.*seen 620 times/),
  ]);
  const what = page.getByRole("region", { name: "What happened" });
  await what.locator(`[id="event-${transfer.activity_id}"]`).getByText("Evidence", { exact: true }).waitFor();
  await what
    .getByRole("button", { name: /Log-in failed, \d+ times/ })
    .first()
    .click();
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("score: a report says why it scores 5; without labels the share of fraud is not yet known, with them it is shown", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await sendScored(tenant, [paymentOf(1, { type: "fraud_report", website_account_id: "ann" })]);
  const caseId = await openOnly(visitor);
  await page.getByText("A fraud report always has score 5.").waitFor();
  const { sum, total, header } = await shownIn(page);
  expect([total, header]).toEqual([sum, sum]);
  await page.getByText("share of fraud not known yet (0 labels)").waitFor();
  await makeRule(tenant, "all", { ...draftRule, expression: 'event.type == "payment"', weight: 10 });
  const paid = Array.from({ length: 25 }, () => paymentOf(1));
  await sendScored(tenant, paid);
  const labels = paid.map(({ activity_id }, index) => ({ activity_id, fraudulent: index < 19 }));
  expect((await tenant.call("POST", "/labels", { body: { labels } })).status).toBe(200);
  await visitor.goto(`/cases/${caseId}`);
  await page.getByText("76 of 100 activities with this score were fraud").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("timeline: a labelled activity shows whether it was a fraud, when that became known, and who said so", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const [bad, good, unknown] = [1, 2, 3].map((amount) => paymentOf(amount, { website_account_id: "ann" }));
  if (!bad || !good || !unknown) throw new Error("three activities are needed");
  await sendScored(tenant, [bad, good, unknown]);
  const known_at = "2026-05-02T10:00:00.000Z";
  const body = { labels: [{ activity_id: bad.activity_id, fraudulent: true, known_at }] };
  expect((await tenant.call("POST", "/labels", { body })).status).toBe(200);
  const activity = { id_key: activityKey({ origin: "server", activity_id: good.activity_id }), received_at: known_at };
  const at = { event_at: known_at, labelled_at: known_at, known_at };
  const from = { case_id: "019a0000-0000-7000-8000-000000000001", case_version: 2, actor: "Ada", weight: 1 };
  await tenant.service.database.transaction((tx) =>
    saveLabels(tx, tenant.tenantId, [{ activity, source: "case", y: 0, ...at, ...from }]),
  );
  await visitor.goto(`/accounts/ann?event=${bad.activity_id}`);
  const row = (id: string) => page.locator(`[id="event-${id}"]`);
  await row(bad.activity_id)
    .getByText(/labelled by your systems, known since May 2, 2026/)
    .waitFor();
  await row(bad.activity_id).getByText("Fraud", { exact: true }).waitFor();
  await row(good.activity_id).getByText("Not fraud", { exact: true }).waitFor();
  const link = row(good.activity_id).getByRole("link", { name: "Show the case" });
  expect(await link.getAttribute("href")).toBe(`/cases/${from.case_id}`);
  expect(await row(unknown.activity_id).getByText(/fraud/i).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("thresholds: a number of cases a day is previewed before it is set, and a reader cannot set it", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const read = async () => (await tenant.call("GET", "/thresholds")).json.data as object;
  await visitor.goto("/detection?tab=thresholds");
  const section = page.getByRole("region", { name: "From a budget" });
  await section.getByLabel("Cases a day").fill("2");
  await section.getByRole("button", { name: "Preview" }).click();
  await section.getByText(/no activity in the last 28 days/).waitFor();
  await insertPaid(tenant, paymentsOf({ count: 30, days: 2, fraudShare: 1 }));
  await makeRule(tenant, "any", { ...draftRule, expression: 'event.type == "payment"', weight: 3 });
  await sendScored(tenant, [paymentOf(1), paymentOf(1)]);
  await section.getByLabel("Cases a day").fill("7");
  await section.getByLabel("Cases a day").press("Enter");
  const preview = section.getByRole("group", { name: "Preview of 7 cases a day" });
  await preview.getByText(/these thresholds would have given/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await read()).toMatchObject({ score_3: 2.5, thresholds_version: 1 });
  await preview.getByRole("button", { name: "Set these thresholds" }).click();
  await page.getByText("The thresholds are set for 7 cases a day.").waitFor();
  await section.getByText(/were computed for 7 cases a day/).waitFor();
  expect(await read()).toMatchObject({ cases_per_day: 7, thresholds_version: 2 });
  const reader = await Visitor.open(browser.current, tenant, { scopes: ["read:rules"] });
  await reader.goto("/detection?tab=thresholds");
  await reader.page.getByText("Only leads and admins can change them.").waitFor();
  expect(await reader.page.getByRole("button", { name: "Preview" }).count()).toBe(0);
  expect([...visitor.complaints, ...reader.complaints]).toEqual([]);
});
