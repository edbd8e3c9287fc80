import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { showPage, useShop, type SentEvent } from "./shop.ts";

const site = useShop();

async function summaryOf(page: Page): Promise<SentEvent["attributes"]> {
  const count = site.shop.ofType("_user_engagement").length + 1;
  await showPage(page, "hidden");
  const { attributes } = await site.shop.untilEvent("_user_engagement", count);
  await showPage(page, "visible");
  return attributes;
}

test("inputs: presses, keys and wheel turns are counted by kind, from one summary to the next", async () => {
  const page = await site.visit();
  await page.mouse.click(100, 20);
  await page.keyboard.type("secret");
  await page.mouse.wheel(0, 100);
  await page.waitForFunction("scrollY > 0");
  expect(await summaryOf(page)).toMatchObject({
    // The mouse's move to the position, and the press.
    _casehound_pointer: 2,
    _casehound_keys: 6,
    _casehound_touches: 0,
    _casehound_scrolls: 1,
    _casehound_inputs: 9,
    _casehound_input_spread: expect.any(Number),
  });
  await page.keyboard.press("Enter");
  const second = await summaryOf(page);
  expect(second).toMatchObject({ _casehound_inputs: 1, _casehound_keys: 1 });
  expect(second).not.toHaveProperty("_casehound_input_spread");
});

test("inputs: touches count only as touches", async () => {
  const context = await site.visitor.browser()?.newContext({ hasTouch: true });
  const page = await context?.newPage();
  if (page === undefined) throw new Error("no browser");
  await page.goto(site.shop.url);
  await page.waitForFunction("window.casehound?.version !== undefined");
  await page.touchscreen.tap(50, 50);
  await page.touchscreen.tap(60, 60);
  expect(await summaryOf(page)).toMatchObject({ _casehound_touches: 2, _casehound_pointer: 0, _casehound_inputs: 2 });
  await context?.close();
});

test("inputs: events made by a script do not count", async () => {
  const page = await site.visit();
  await page.evaluate(`for (let n = 0; n < 20; n++) {
    for (const type of ["pointerdown", "pointermove", "keydown", "wheel"]) dispatchEvent(new Event(type));
    document.querySelector("input").click();
  }
  scrollTo(0, 500);`);
  await page.evaluate("new Promise(requestAnimationFrame)");
  expect(await summaryOf(page)).toMatchObject({ _casehound_inputs: 0 });
});

test("inputs: a burst of moves is one input, and so is a key held down", async () => {
  await site.visitor.clock.install();
  const page = await site.visit();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.mouse.move(300, 300, { steps: 30 });
  await page.keyboard.down("a");
  for (let repeats = 0; repeats < 5; repeats++) await page.keyboard.down("a");
  await page.keyboard.up("a");
  expect(await summaryOf(page)).toMatchObject({ _casehound_pointer: 1, _casehound_keys: 1, _casehound_inputs: 2 });
});

test("inputs: no key, text or position leaves the browser", async () => {
  const page = await site.visit();
  await page.click("#name", { position: { x: 17, y: 3 } });
  await page.keyboard.type("hunter2");
  const summary = await summaryOf(page);
  const own = Object.keys(summary).filter((name) => name.startsWith("_casehound_"));
  expect(own.toSorted()).toEqual([
    "_casehound_input_spread",
    "_casehound_inputs",
    "_casehound_keys",
    "_casehound_pointer",
    "_casehound_scrolls",
    "_casehound_touches",
    "_casehound_webdriver",
  ]);
  expect(site.shop.uploads.map(({ body }) => body).join()).not.toContain("hunter2");
});

test("inputs: the spread is the gaps' standard deviation over their mean, from 8 gaps on, without pauses", async () => {
  await site.visitor.clock.install();
  const page = await site.visit();
  await page.clock.pauseAt(Date.now() + 60_000);
  // The test's clock also stamps the events, so the gaps are known: seven of 100 ms, one of 500 ms, and a pause.
  for (const gap of [0, 100, 100, 100, 100, 100, 100, 100]) {
    await page.clock.runFor(gap);
    await page.keyboard.press("a");
  }
  await page.clock.runFor(31_000);
  await page.keyboard.press("a");
  expect(await summaryOf(page)).not.toHaveProperty("_casehound_input_spread");
  for (const gap of [100, 100, 100, 100, 100, 100, 100, 500]) {
    await page.clock.runFor(gap);
    await page.keyboard.press("a");
  }
  expect(await summaryOf(page)).toMatchObject({ _casehound_input_spread: 0.88 });
});

test("inputs: a browser under automation reports it", async () => {
  const page = await site.visit();
  expect(await summaryOf(page)).toMatchObject({ _casehound_webdriver: true });
});
