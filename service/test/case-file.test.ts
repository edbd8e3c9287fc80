import { createHash, randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { scopes } from "../src/domain/scope.ts";
import { decide, nameOf, pair, requested, seen } from "./approving.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";
import { useBrowser } from "./shared-browser.ts";

const service = useService();
const browser = useBrowser();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

type File = { file_name: string; html: string; sha256: string };

async function save(tenant: TestTenant, caseId: string, token = tenant.token): Promise<File> {
  const answer = await tenant.call("POST", `/cases/${caseId}/file`, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

test("POST case file 200: has reasons, evidence and history, and checksums that the case's log confirms", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  const reason = "The bank confirmed it.";
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1, disposition: "CONFIRMED_FRAUD", reason });
  const file = await save(tenant, opened.case_id);
  expect(file.file_name).toBe(`case-${opened.case_id}-v2.html`);
  expect(file.sha256).toBe(sha256(file.html));
  for (const words of [opened.details.summary, reason, "CONFIRMED_FRAUD", "case.opened", "case.closed", "user-1", tenant.slug])
    expect(file.html).toContain(words);
  const log = await tenant.call("GET", `/cases/${opened.case_id}/events`);
  const { data }: { data: { events: unknown[] } } = log.json;
  expect(data.events[0]).toMatchObject({ type: "case.saved_as_file", actor: tenant.clientId, data: { sha256: file.sha256 } });
  expect(await tenant.read(opened.case_id)).toMatchObject({ case_version: 2 });
});

test("POST case file 200: says who requested a close and who approved it", async () => {
  const { tenant, ada, ben } = await pair(service.current, { blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), account: { is_blocked: true } });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  const { html } = await save(tenant, found.case_id);
  const [asked, approved] = [ada, ben].map((each) => `<bdi>${nameOf(each).replace("<", "&lt;").replace(">", "&gt;")}</bdi>`);
  expect(html.split(`${asked} (requested), ${approved} (approved)`)).toHaveLength(3);
});

test("POST case file: is readable without scripts and without the network, and a visitor's text stays text", async () => {
  const tenant = await TestTenant.create(service.current);
  const hostile = `<img src=x onerror=alert(1)>"'</pre></details><script>alert(2)</script>\u202ereversed\u0007`;
  const opened = await tenant.openCase(hostile);
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1, reason: hostile });
  const file = await save(tenant, opened.case_id);
  expect(file.html).not.toMatch(/<script|<img|https?:\/\//);
  const context = await browser.current.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const asked: string[] = [];
  const said: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  page.on("dialog", (dialog) => void said.push(dialog.message()));
  await page.setContent(file.html);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(`Case ${opened.case_id}`);
  const cells = await page.locator("dd bdi").allTextContents();
  expect(cells.some((cell) => cell.includes("<img src=x onerror=alert(1)>") && cell.includes("[U+202E]reversed[U+0007]"))).toBe(
    true,
  );
  const data = (await page.locator("#data").textContent()) ?? "";
  expect(await page.locator("code").last().textContent()).toBe(sha256(data));
  expect(JSON.parse(data)).toMatchObject({ case: { case_id: opened.case_id, website_account_id: hostile } });
  expect({ asked, said }).toEqual({ asked: [], said: [] });
});

test("POST case file 200: shows the account only to those who may read it", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase("user-1");
  await tenant.call("PUT", "/enduseraccounts/user-1", { body: { crm_account_id: "crm-secret-7" } });
  expect((await save(tenant, opened.case_id)).html).toContain("crm-secret-7");
  const token = await tenant.mint(scopes.filter((scope) => scope !== "read:enduseraccount"));
  expect((await save(tenant, opened.case_id, token)).html).not.toContain("crm-secret-7");
});

test("POST case file 404: another tenant's case, and one that does not exist", async () => {
  const [own, other] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const opened = await own.openCase("user-1");
  for (const id of [opened.case_id, randomUUID()]) {
    const answer = await other.call("POST", `/cases/${id}/file`);
    expectProblem(answer, 404, "item-not-found");
    expect(answer.text).toContain(id);
  }
});
