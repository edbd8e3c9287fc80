// Measures the console's queue with many open cases, in a real Chromium: `node bench/queue.ts [cases]`.
import type { Browser, Page } from "playwright-core";
import { buildConsole } from "../console/bundle/build.ts";
import { clock } from "../service/src/clock.ts";
import { clientTokens } from "@casehound/simulator/courier";
import { createTenant } from "../service/src/tenancy.ts";
import { launchBrowser } from "../service/test/browser.ts";
import { openBench, percentile, startProcess, type Bench } from "./machine.ts";
import { multiplyCases, openDemoCases } from "./many-cases.ts";

const cases = Number(process.argv[2] ?? 100_000);
const days = 30;
const origin = "https://shop.example";
const freshOpenings = 5;
const openings = 15;
const presses = 400;
const scrolledRows = 5_000;
const shortestMs = 16;

type Call = <T>(path: string, body?: object) => Promise<T>;

async function fill(bench: Bench, url: string): Promise<Call> {
  const made = await createTenant(bench.database, { slug: "queue", allowedOrigins: [origin] }, clock);
  const token = clientTokens({ baseUrl: url, clientId: made.client_id, clientSecret: made.client_secret });
  const target = { baseUrl: url, tenant: "queue", token };
  await openDemoCases(bench, { target, appKey: made.app_key, origin });
  await multiplyCases(bench, { tenantId: made.tenant_id, cases, days });
  return async <T>(path: string, body?: object): Promise<T> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${await token(false)}` };
    const answer = await fetch(`${url}/v2/queue${path}`, {
      headers,
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { data: T }).data;
  };
}

async function signIn(browser: Browser, url: string, call: Call): Promise<Page> {
  const user = { email: "ada@example.org", name: "Ada", role: "investigator" };
  const { link } = await call<{ link: { url: string } }>("/users", user);
  const password = "correct horse battery staple";
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ token: new URL(link.url).hash.slice(1), password });
  const answer = await fetch(`${url}/auth/link/use`, { method: "POST", headers, body });
  const [name = "", value = ""] = answer.headers.getSetCookie()[0]?.split(";")[0]?.split("=") ?? [];
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
  return context.newPage();
}

const firstRow = '[role=row][aria-rowindex="2"]';

// From the start of the navigation until rows are painted, by the page's own clock.
async function measureOpening(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForSelector(firstRow);
  return page.evaluate<number>(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))",
  );
}

// From the click on a screen's link in the sidebar until its rows are painted, with everything loaded.
async function measureReturn(page: Page): Promise<number> {
  await page.getByRole("link", { name: "Overview" }).click();
  await page.waitForSelector("text=Opened and closed");
  await page.waitForTimeout(300);
  return page.evaluate<number>(`new Promise((done) => {
    const startMs = performance.now();
    document.querySelector('nav a[href="/"]').click();
    const look = () => requestAnimationFrame(document.querySelector('${firstRow}') ? () => done(performance.now() - startMs) : look);
    look();
  })`);
}

// In a new browser context that has only the session. The very first opening includes the service's own first requests.
async function openAfresh(known: Page, url: string): Promise<number> {
  const browser = known.context().browser();
  const context = await browser?.newContext({
    viewport: known.viewportSize(),
    storageState: await known.context().storageState(),
  });
  const page = await context?.newPage();
  const took = page ? await measureOpening(page, url) : Number.NaN;
  await context?.close();
  return took;
}

type Keys = { painted: number[]; shown: number[] };

// `painted` is the time until the page has finished the frame that the key caused. `shown` is the browser's own measure of when
// that frame was on the screen, in steps of 8 ms. The browser reports nothing shorter than 16 ms.
async function measureKeys(page: Page, keys: string[]): Promise<Keys> {
  await page.evaluate(`
    globalThis.__keys = { painted: [], shown: [] };
    globalThis.__onKey = ({ timeStamp }) => requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => __keys.painted.push(performance.now() - timeStamp);
      port2.postMessage(null);
    });
    addEventListener("keydown", __onKey, true);
    globalThis.__watch = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === "keydown") __keys.shown.push(entry.duration);
    });
    __watch.observe({ type: "event", durationThreshold: ${shortestMs} });`);
  for (let n = 0; n < presses; n++) {
    await page.keyboard.press(keys[n % keys.length] ?? "");
    await page.waitForTimeout(60);
  }
  await page.waitForTimeout(500);
  const found = await page.evaluate<Keys>("(__watch.disconnect(), removeEventListener('keydown', __onKey, true), __keys)");
  const quick = Array.from({ length: Math.max(0, presses - found.shown.length) }, () => shortestMs);
  return { painted: found.painted, shown: [...found.shown, ...quick] };
}

// Scrolls down as fast as rows arrive. Every row that the service lists must have been visible, in its place.
async function measureScrolling(page: Page, call: Call): Promise<string> {
  const wanted: string[] = [];
  let cursor: string | null = null;
  while (wanted.length < scrolledRows) {
    type Listed = { cases: { case_id: string }[]; next_cursor: string | null };
    const at: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const listed: Listed = await call<Listed>(`/cases?status=OPEN&sort=-overall_risk_score&limit=200${at}`);
    wanted.push(...listed.cases.map((each) => each.case_id));
    cursor = listed.next_cursor;
    if (cursor === null) break;
  }
  const seen = new Map<number, string>();
  const startMs = performance.now();
  let lastGrowth = performance.now();
  while (seen.size < Math.min(scrolledRows, wanted.length) && performance.now() - lastGrowth < 20_000) {
    const rows = await page.evaluate<[number, string][]>(`(() => {
      const grid = document.querySelector("[role=grid]");
      const found = [...grid.querySelectorAll("[role=row][id^=row-]")].map((row) => [Number(row.ariaRowIndex ?? row.getAttribute("aria-rowindex")) - 2, row.id.slice(4)]);
      grid.scrollTop += grid.clientHeight * 0.9;
      return new Promise((done) => requestAnimationFrame(() => done(found)));
    })()`);
    const before = seen.size;
    for (const [place, id] of rows) seen.set(place, id);
    if (seen.size > before) lastGrowth = performance.now();
  }
  const seconds = (performance.now() - startMs) / 1000;
  const inPlace = wanted.slice(0, scrolledRows).filter((id, place) => seen.get(place) === id).length;
  const total = Math.min(scrolledRows, wanted.length);
  return `${inPlace} of ${total} rows seen in the right place, ${(total / seconds).toFixed(0)} rows/s`;
}

async function timed(call: Call, path: string): Promise<string> {
  const times: number[] = [];
  for (let n = 0; n < 20; n++) {
    const startMs = performance.now();
    await call(path);
    times.push(performance.now() - startMs);
  }
  return `${percentile(times, 0.5).toFixed(0)} / ${percentile(times, 0.95).toFixed(0)} ms`;
}

const spread = (times: number[]) =>
  `${[0.5, 0.95, 1].map((share) => percentile(times, share).toFixed(0)).join(" / ")} ms of ${times.length}`;

const told = (name: string, value: string) => process.stdout.write(`${name.padEnd(54)} ${value}\n`);

async function run(bench: Bench, browser: Browser): Promise<void> {
  const service = await startProcess(bench);
  try {
    const call = await fill(bench, service.url);
    const page = await signIn(browser, service.url, call);
    const first: number[] = [];
    while (first.length < freshOpenings) first.push(await openAfresh(page, service.url));
    const again: number[] = [];
    while (again.length < openings) again.push(await measureOpening(page, service.url));
    const back: number[] = [];
    while (back.length < openings) back.push(await measureReturn(page));
    const counts = await call<{ open: number }>("/cases/counts");
    told("open cases", String(counts.open));
    told("navigation to first rows, nothing cached", first.map((each) => `${each.toFixed(0)} ms`).join(", "));
    told("navigation to first rows, p50 / p95 / max", spread(again));
    told("from another screen to first rows, p50 / p95 / max", spread(back));
    for (const keys of [["j"], ["x", "j"], ["k"]]) {
      const { painted, shown } = await measureKeys(page, keys);
      told(`key to paint, ${keys.join(" ")}, p50 / p95 / max`, spread(painted));
      told(`key to screen, ${keys.join(" ")}, p50 / p95 / max`, spread(shown));
    }
    await measureOpening(page, service.url);
    told("scrolling", await measureScrolling(page, call));
    told("key to paint, j, after scrolling", spread((await measureKeys(page, ["j"])).painted));
    told("GET /cases, first page by risk, p50 / p95", await timed(call, "/cases?status=OPEN&sort=-overall_risk_score&limit=100"));
    for (const text of ["c1", "chrome", "240.7", "no such thing"]) {
      told(`GET /search, ${text}, p50 / p95`, await timed(call, `/search?q=${encodeURIComponent(text)}`));
    }
    told("GET /cases/counts, p50 / p95", await timed(call, "/cases/counts"));
    told("GET /overview, p50 / p95", await timed(call, "/overview"));
  } finally {
    await service.stop();
  }
}

await buildConsole();
const bench = await openBench("queue");
const browser = await launchBrowser();
try {
  await run(bench, browser);
} finally {
  await browser.close();
  await bench.stop();
}
