import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { visible } from "../src/parts/visible.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// Holds for every screen: no axe findings in either theme, text stays text, and no requests to other hosts.
const browser = useBrowser();
const service = useService();

const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>{{7*7}}\u202e`;

// An id is shown with the codes of its invisible characters.
const shown = visible(hostile);

test.each(["light", "dark"] as const)("screens: queue, dialogs, menu and case have no axe findings, %s", async (theme) => {
  const visitor = await Visitor.create(browser.current, service.current, { theme });
  const { page, tenant } = visitor;
  await visitor.report("cid", "bob", "ann");
  await tenant.call("PUT", "/enduseraccounts/ann", { body: { is_blocked: true, is_fraudulent: true } });
  const found: Record<string, string[]> = {};
  const look = async (name: string) => {
    found[name] = await axeFindings(page);
  };
  await visitor.goto();
  await page.getByRole("switch", { name: /Blocked/ }).waitFor();
  expect(await page.locator("html").getAttribute("data-theme")).toBe(theme);
  await look("queue");
  await visitor.press("2");
  await page.getByRole("dialog").waitFor();
  await look("close");
  await visitor.press("Escape", "x", "c");
  await page.getByRole("dialog", { name: "Close 1 case" }).waitFor();
  await look("bulk");
  await visitor.press("Escape", "?");
  await look("keys");
  await visitor.press("Escape", "Control+k");
  await look("palette");
  await visitor.press("Escape");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menu").waitFor();
  await look("menu");
  await visitor.press("Escape");
  await page.getByRole("grid").focus();
  await visitor.press("Enter");
  await page.getByRole("heading", { name: "States" }).waitFor();
  await look("case");
  await visitor.goto("/cases/nothing");
  await page.getByText("Case not found").waitFor();
  await look("absent");
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, []])));
  expect(visitor.complaints).toEqual([]);
});

test("screens: markup in an account id or a report stays text, in queue, peek, dialog, toast and case", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.openCase(hostile);
  await tenant.report(hostile, { attributes: { label: "Bot", note: hostile } });
  await visitor.goto();
  await visitor.expectPeek(shown);
  await visitor.press("c");
  await page.getByRole("dialog").waitFor();
  await page
    .getByRole("dialog")
    .getByLabel(/Reason/)
    .fill(hostile);
  await visitor.press("Escape", "Enter");
  const heading = page.getByRole("heading", { level: 1 });
  await expect.poll(() => heading.textContent(), patience).toBe(shown);
  await visitor.press("1", "Control+Enter");
  await page.getByText(`Closed the case of ${shown} as confirmed fraud.`).waitFor();
  await page.getByRole("cell", { name: hostile }).waitFor();
  await visitor.goto(`/?status=all&account=${encodeURIComponent(hostile)}`);
  await visitor.expectFocused(shown);
  expect(await page.title()).toBe("Casehound");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("screens: the documentation link opens the page about the screen, at a section that exists", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id } = await tenant.openCase("ann");
  const paths = ["/", "/links", "/overview", "/detection", "/developers", "/people", `/cases/${case_id}`];
  const guides = new Map<string, string>();
  for (const path of paths) {
    await visitor.goto(path);
    const href = (await page.getByRole("link", { name: "Documentation" }).getAttribute("href")) ?? "";
    guides.set(path, href);
    await expectGuide(visitor.origin, href);
  }
  expect(guides.get(`/cases/${case_id}`)).toBe("/docs/investigators");
  expect(new Set(guides.values()).size).toBeGreaterThan(4);
});

test("screens: every link to the guides opens a section that exists", async () => {
  const folder = join(import.meta.dirname, "../src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
  const sources = files.map((name) => readFileSync(join(folder, name), "utf8"));
  const pages = sources.flatMap((text) => [...text.matchAll(/<GuideLink\s+page="([^"]+)"/g)].map(([, page]) => page ?? ""));
  expect(pages.length).toBeGreaterThan(10);
  for (const page of new Set(pages)) await expectGuide(service.current.url, `/docs/${page}`);
});

async function expectGuide(origin: string, href: string): Promise<void> {
  const { pathname, hash } = new URL(href, origin);
  const answer = await fetch(`${origin}${pathname}`);
  expect(answer.status, href).toBe(200);
  expect(await answer.text(), href).toContain(hash === "" ? "<h1" : `id="${hash.slice(1)}"`);
}
