import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";
import { visible } from "../src/parts/visible.ts";

vi.setConfig(consolePace);
// Ids come from outside, and whoever chooses one may want it to look like another.
const browser = useBrowser();
const service = useService();

test("visible: characters that cannot be seen or that reverse text are shown by their codes, and others stay", () => {
  expect(visible("a\u202Eb\u0000\u200B\u2066\n")).toBe("a[U+202E]b[U+0000][U+200B][U+2066][U+000A]");
  expect(visible("Zoë-用户-مستخدم@example.org")).toBe("Zoë-用户-مستخدم@example.org");
});

test.each([1280, 390])("ids: one that reverses text and one of 200 characters break no screen, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const [turned, long] = ["gro.elpmaxe\u202Enna", `long-${"x".repeat(195)}`];
  const { case_id } = await tenant.openCase(turned);
  await tenant.report(turned, { device_id: "d\u202E1", attributes: { note: "n\u202E2" } });
  await tenant.openCase(long);
  await page.setViewportSize({ width, height: 800 });
  for (const path of [
    "/",
    `/?account=${long}&status=all`,
    `/?account=${encodeURIComponent(turned)}&status=all`,
    `/cases/${case_id}`,
    `/accounts/${encodeURIComponent(turned)}`,
    `/accounts/${long}`,
    `/links?account=${long}`,
  ]) {
    await visitor.goto(path);
    await page
      .getByText(path.includes("long") ? /long-xxx/ : /gro\.elpmaxe\[U\+202E\]nna/)
      .first()
      .waitFor();
    expect(await page.locator("body").innerText(), path).not.toContain("\u202E");
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(width);
    const chips = page.getByRole("button", { name: /Remove the filter Account/ });
    for (const chip of await chips.all()) {
      const box = await chip.boundingBox();
      expect((box?.x ?? width) + (box?.width ?? 0), path).toBeLessThanOrEqual(width);
    }
  }
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
