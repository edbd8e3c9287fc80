import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { clock } from "../../service/src/clock.ts";
import { insertCase } from "../../service/src/db/cases.ts";
import { joinCase, openCase, type CaseDocument } from "../../service/src/domain/case.ts";
import { countRepeat } from "../../service/src/domain/evidence.ts";
import { checkFinding } from "../../service/src/domain/random-check.ts";
import type { Finding } from "../../service/src/domain/finding.ts";
import type { Source } from "../../service/src/domain/source.ts";
import { useService, type TestTenant } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

function findingOf(source: Source, fraud_reason: string): Finding {
  const behaviour = { type: "rule", model_name: fraud_reason, top_contributors: [] };
  return {
    source,
    score: 3,
    label: "Bot",
    action: "MONITOR",
    summary: fraud_reason,
    highlights: [],
    session_id: undefined,
    session_status: "FINISHED",
    explanation: { fraud_reason, fraud_reason_description: "", fraud_types: [], model_behaviour: [behaviour] },
  };
}

const newIds = () => ({
  case_id: clock.newId(),
  state_id: randomUUID(),
  occurrence_id: randomUUID(),
  prediction_id: randomUUID(),
});

const before = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 1000).toISOString();

async function store({ service: { database } }: TestTenant, document: CaseDocument, subject: string): Promise<void> {
  await database.transaction((tx) => insertCase(tx, { document, subject, end_user_is_blocked: false }));
}

test("case: each piece of evidence shows its source, how often it was seen, and when first and last", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const claim = findingOf("page", "Scripted rhythm");
  const owner = { tenant_id: tenant.tenantId, website_account_id: "UNKNOWN" };
  const ids = newIds();
  let { document } = openCase(owner, claim, { ...ids, seen_at: before(120) }, before(120));
  for (const minutes of [60, 3]) document = countRepeat(document, claim, before(minutes));
  document = joinCase(document, findingOf("server", "Bot past log-in"), { ...newIds(), seen_at: before(2) }, before(2)).document;
  await store(tenant, document, "device:kiosk");
  await visitor.goto();
  const peek = page.getByRole("complementary", { name: "The case in focus" });
  await peek.getByText("Evidence reported by your server.").waitFor();
  await visitor.goto(`/cases/${ids.case_id}`);
  const listed = page.getByRole("list", { name: "Evidence" }).getByRole("listitem");
  await expect
    .poll(() => listed.allInnerTexts(), patience)
    .toEqual([
      expect.stringMatching(/^Bot past log-in, reported by your server\s+seen once, 2 min ago$/),
      expect.stringMatching(/^Scripted rhythm, claimed by a page\s+seen 3 times, first 2 h ago, last 3 min ago$/),
    ]);
  await page.getByText(/of the strongest evidence, reported by your server, 2 min ago/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
});

test("case: a random check is marked as one and accuses nobody, until suspicious activity is added", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const [quiet, joined] = ["quiet", "joined"].map((website_account_id) => {
    const owner = { tenant_id: tenant.tenantId, website_account_id };
    const ids = { ...newIds(), seen_at: before(120) };
    return openCase(owner, checkFinding({ moment: "entry", score: 2 }), ids, before(60)).document;
  });
  if (!quiet || !joined) throw new Error("two cases are needed");
  const suspicious = findingOf("server", "Bot past log-in");
  const { document } = joinCase(joined, suspicious, { ...newIds(), seen_at: before(2) }, before(2));
  await store(tenant, quiet, "account:quiet");
  await store(tenant, document, "account:joined");
  await visitor.goto();
  const row = page.getByRole("row").filter({ hasText: "quiet" });
  await row.getByText("Random check").waitFor();
  await page.getByRole("row").filter({ hasText: "joined" }).getByText("Bot", { exact: true }).waitFor();
  await row.click();
  const peek = page.getByRole("complementary", { name: "The case in focus" });
  await peek.getByText("Decide it as you would any other.").waitFor();
  expect(await peek.innerText()).toContain("Random check");
  expect(await page.getByRole("main").innerText()).not.toMatch(/Takeover/);
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto(`/cases/${quiet.case_id}`);
  const header = page.getByRole("main").locator("header").first();
  await header.getByText("Random check").waitFor();
  await page.getByText("Nothing suspicious was found. The case was chosen at random").waitFor();
  expect(await page.getByText(/Takeover|Score breakdown|Advice/).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto(`/cases/${document.case_id}`);
  await page.getByText("The case was opened as a random check. The suspicious activity was added later.").waitFor();
  expect(await header.getByText("Random check").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
