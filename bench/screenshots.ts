// Takes screenshots of the console, filled by a simulated shop's last two weeks: `node bench/screenshots.ts [folder]`. Without a
// folder, it takes the four of the README.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { buildConsole } from "../console/bundle/build.ts";
import { launchBrowser } from "../service/test/browser.ts";
import { SimulatedService } from "./detection-service.ts";
import { dayMs, periodOf } from "./detection-shop.ts";
import { Desk } from "./screenshots-desk.ts";

const [, , folder] = process.argv;
const pictures = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const users = 120;
const onProgress = (line: string) => process.stderr.write(`\r${line} `);

type Shot = { name: string; path: string; wait: string; act?: (page: Page) => Promise<void>; isFull?: boolean };

async function shotsOf(desk: Desk): Promise<Shot[]> {
  const { caseId, accountId, backtestId } = await desk.find();
  const account = encodeURIComponent(accountId);
  return [
    { name: "queue", path: "/", wait: "[role=row][aria-rowindex='2']", act: (page) => pressed(page, "j", "j", "j") },
    { name: "close", path: "/", wait: "[role=row][aria-rowindex='2']", act: (page) => pressed(page, "j", "c", "1") },
    { name: "keys", path: "/", wait: "[role=row][aria-rowindex='2']", act: (page) => pressed(page, "?") },
    { name: "palette", path: "/", wait: "[role=row][aria-rowindex='2']", act: (page) => pressed(page, "Control+k") },
    { name: "case", path: `/cases/${caseId}`, wait: "text=What happened" },
    { name: "case-whole", path: `/cases/${caseId}`, wait: "text=What happened", isFull: true },
    { name: "account", path: `/accounts/${account}`, wait: "text=Devices" },
    { name: "account-whole", path: `/accounts/${account}`, wait: "text=Devices", isFull: true },
    { name: "links", path: "/links", wait: "[role=row][aria-rowindex='2']" },
    { name: "graph", path: "/links?view=graph", wait: "svg circle" },
    { name: "overview", path: "/overview", wait: "text=Opened and closed" },
    { name: "overview-whole", path: "/overview", wait: "text=Opened and closed", isFull: true },
    { name: "detection", path: "/detection", wait: "text=Impossible travel" },
    { name: "rule", path: "/detection/stuffing_device", wait: "text=Expression" },
    { name: "rule-tried", path: `/detection/own?edit=true&backtest=${backtestId}`, wait: "text=Tried on" },
    { name: "thresholds", path: "/detection?tab=thresholds", wait: "text=From evidence to score" },
    { name: "not-accepted", path: "/detection?tab=not-accepted", wait: "main" },
    { name: "developers", path: "/developers", wait: "text=Credentials" },
    { name: "people", path: "/people", wait: "text=Grace Hopper" },
    { name: "empty", path: "/?account=nobody", wait: "main" },
  ];
}

async function pressed(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await page.waitForTimeout(150);
  }
}

async function take(page: Page, url: string, shot: Shot, file: string): Promise<void> {
  await page.goto(`${url}${shot.path}`);
  await page.waitForSelector(shot.wait, { timeout: 20_000 });
  await page.waitForLoadState("load");
  await page.waitForTimeout(1_200);
  await shot.act?.(page);
  await page.waitForTimeout(600);
  // To show scrolling content whole, make the window as tall as the content.
  if (shot.isFull) {
    const { width } = page.viewportSize() ?? { width: 1440 };
    const height = await page.evaluate<number>(
      "Math.max(...[...document.querySelectorAll('main, main *')].map((each) => each.scrollHeight))",
    );
    await page.setViewportSize({ width, height: Math.min(height + 100, 6_000) });
    await page.waitForTimeout(600);
    await page.screenshot({ path: file });
    await page.setViewportSize({ width, height: 900 });
    return;
  }
  await page.screenshot({ path: file });
}

async function pageOf(browser: Browser, desk: Desk, theme: "light" | "dark", width: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  await context.addCookies([await desk.cookie()]);
  return context.newPage();
}

async function takeAll(browser: Browser, desk: Desk, url: string): Promise<void> {
  const shots = await shotsOf(desk);
  const wanted = folder
    ? null
    : new Map([
        ["queue", "light"],
        ["case", "light"],
        ["graph", "dark"],
        ["overview", "dark"],
      ]);
  const target = folder ?? pictures;
  mkdirSync(target, { recursive: true });
  for (const theme of ["light", "dark"] as const) {
    for (const width of folder ? [1440, 1024] : [1440]) {
      const page = await pageOf(browser, desk, theme, width);
      for (const shot of shots) {
        if (wanted && wanted.get(shot.name) !== theme) continue;
        await take(page, url, shot, join(target, wanted ? `${shot.name}.png` : `${shot.name}-${theme}-${width}.png`));
      }
      await page.context().close();
    }
  }
}

await buildConsole();
const nowMs = Date.now();
const period = periodOf({ days: 16, historyDays: 10 }, nowMs + 2 * dayMs);
const service = await SimulatedService.start(period);
const browser = await launchBrowser();
try {
  const opened = await service.open(period, "shop");
  const desk = new Desk(service.url, opened);
  const meanwhile = () => desk.work();
  await service.live(opened, { seed: "pictures", users, period, onProgress, untilMs: nowMs, meanwhile });
  service.letGo();
  await desk.finish();
  await takeAll(browser, desk, service.url);
} finally {
  await browser.close();
  await service.stop();
}
