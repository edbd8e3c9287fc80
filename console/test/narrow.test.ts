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
    ["/inbox", "Nothing here"],
    ["/overview", "Opened and closed"],
    ["/team", "Closed by person"],
    ["/detection", "Impossible travel"],
    ["/detection/impossible_travel", "What it hit"],
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
    if (sideways > width) lost[`${path}, sideways`] = sideways;
  }
  expect(lost).toEqual({});
  expect(visitor.complaints).toEqual([]);
});
