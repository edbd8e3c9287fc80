import type { Locator } from "playwright-core";
import { expect, test, vi } from "vitest";
import { saveLinks } from "../../service/src/db/links.ts";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

// What a person cannot reach: controls beyond the right edge that no scroll bar leads to.
const outside = `[...document.querySelectorAll("#screen button, #screen a, #screen input, #screen select, #screen [role=switch]")]
  .filter((each) => {
    const { right, width } = each.getBoundingClientRect();
    if (width <= 1 || right <= innerWidth + 1) return false;
    for (let up = each.parentElement; up; up = up.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(up).overflowX) && up.scrollWidth > up.clientWidth) return false;
    return true;
  })
  .map((each) => (each.textContent || each.getAttribute("aria-label") || each.outerHTML).slice(0, 60))`;

// Text in a column of a few letters, and text that is cut off at the edge of its block without a mark or a scroll bar.
const unreadable = `[...document.querySelectorAll("#screen *, dialog[open] *")]
  .filter((each) => {
    const own = [...each.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent.trim()).join(" ");
    const { width, height, right, left } = each.getBoundingClientRect();
    if (own.length < 6 || width <= 1 || getComputedStyle(each).position === "absolute") return false;
    if (width < 36 && height > 60) return true;
    const block = each.closest("section, aside, dialog");
    if (!block || getComputedStyle(each).textOverflow === "ellipsis") return false;
    for (let up = each.parentElement; up !== block.parentElement; up = up.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(up);
      if (textOverflow === "ellipsis" || (["auto", "scroll"].includes(overflowX) && up.closest("dialog") === null)) return false;
    }
    const box = block.getBoundingClientRect();
    return right > box.right + 1 || left < box.left - 1;
  })
  .map((each) => each.textContent.slice(0, 60))`;

// 640 pixels are a window of 1280 pixels at a zoom of 200 %.
test.each([1366, 1280, 640, 390])("screens: every control can be reached and every text can be read, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  const at = new Date().toISOString();
  const seen = { kind: "account-device" as const, b: "laptop", first_seen: at, last_seen: at };
  const links = ["ann", "bob"].map((a) => ({ ...seen, a }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
  const [found] = await tenant.list("website_account_id=ann");
  const body = { name: "our_own_offices", kind: "allow", type: "ip", description: "Our own offices" };
  await tenant.call("POST", "/lists", { body });
  await tenant.call("POST", "/lists/our_own_offices/entries", { body: { entries: [{ value: "203.0.113.0/24" }] } });
  await page.setViewportSize({ width, height: width === 640 ? 360 : 800 });
  const lost: Record<string, unknown> = {};
  for (const [path, words] of [
    ["/", "ann"],
    [`/cases/${found?.case_id ?? ""}`, "Times are in"],
    ["/accounts/ann", "In Casehound since"],
    ["/links", "laptop"],
    ["/inbox", "Your inbox is empty"],
    ["/overview", "Opened and closed"],
    ["/team", "Closed by person"],
    ["/detection", "Impossible travel"],
    ["/detection/impossible_travel", "What it hit"],
    ["/detection/impossible_travel?edit=true", "Expression"],
    ["/detection/new-rule", "Expression"],
    ["/detection?tab=lists", "our_own_offices"],
    ["/detection?tab=thresholds", "From evidence to score"],
    ["/detection?tab=policy", "Everything else"],
    ["/detection?tab=quiet", "No rule is quiet"],
    ["/detection?tab=models", "Rules that models may overrule"],
    ["/detection?tab=closing", "Custom outcomes"],
    ["/detection?tab=not-accepted", "Everything was accepted"],
    ["/developers", "Credentials"],
    ["/people", "Require two-factor authentication"],
  ] as const) {
    await visitor.goto(path);
    await page.getByText(words).first().waitFor();
    const out = (await page.evaluate(outside)) as string[];
    const sideways = (await page.evaluate("document.documentElement.scrollWidth")) as number;
    if (out.length > 0) lost[path] = out;
    const cut = (await page.evaluate(unreadable)) as string[];
    if (cut.length > 0) lost[`${path}, text`] = cut;
    if (sideways > width) lost[`${path}, sideways`] = sideways;
  }
  expect(lost).toEqual({});
  // The last entry of the sidebar, which may need scrolling.
  await page.getByRole("button", { name: "Ada Investigator admin" }).click();
  await page.getByRole("menuitem", { name: "Sign out", exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

async function edgesOf(found: Locator): Promise<{ left: number; right: number }> {
  const { x, width } = (await found.boundingBox()) ?? { x: 1_000, width: 0 };
  return { left: x, right: x + width };
}

test("screens: on a phone the count of the first tab is whole, and a chosen tab is in sight", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 390 });
  const { page } = visitor;
  await visitor.report("ann");
  const chosen = page.getByRole("navigation").locator("button[aria-current=page], a[aria-current=page]");
  await visitor.goto();
  await visitor.expectFocused("ann");
  const { right } = await edgesOf(chosen.filter({ hasText: "Open, highest risk" }));
  expect(right).toBeLessThanOrEqual((await edgesOf(page.getByRole("button", { name: "Views" }))).left);
  await visitor.goto("/detection?tab=not-accepted");
  const last = chosen.filter({ hasText: "Not accepted" });
  await last.waitFor();
  expect(Math.floor((await edgesOf(last)).right)).toBeLessThanOrEqual(390);
  expect(visitor.complaints).toEqual([]);
});
