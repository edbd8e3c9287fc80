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

// 640 pixels are a window of 1280 pixels at a zoom of 200 %.
test.each([1366, 1280, 640, 390])("screens: every control can be reached, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  const at = new Date().toISOString();
  const seen = { kind: "account-device" as const, b: "laptop", first_seen: at, last_seen: at };
  const links = ["ann", "bob"].map((a) => ({ ...seen, a }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
  const [found] = await tenant.list("website_account_id=ann");
  await page.setViewportSize({ width, height: width === 640 ? 360 : 800 });
  const lost: Record<string, unknown> = {};
  for (const [path, words] of [
    ["/", "ann"],
    [`/cases/${found?.case_id ?? ""}`, "Times are in"],
    ["/accounts/ann", "In Casehound since"],
    ["/links", "laptop"],
  ] as const) {
    await visitor.goto(path);
    await page.getByText(words).first().waitFor();
    const out = (await page.evaluate(outside)) as string[];
    if (out.length > 0) lost[path] = out;
  }
  expect(lost).toEqual({});
  expect(visitor.complaints).toEqual([]);
});
