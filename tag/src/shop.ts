import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeEach, expect } from "vitest";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { tagScript } from "./script.ts";

type Value = string | number | boolean | undefined;
export type SentEvent = {
  event_type: string;
  event_id: string;
  device_id: string;
  unique_id: string;
  timestamp: number;
  user: { _user_id?: { value: string }; casehound_identity?: { value: string } };
  attributes: Record<string, Value>;
  items?: Record<string, Value>[];
} & Record<string, unknown>;
export type Upload = { url: URL; headers: IncomingMessage["headers"]; body: string; events: SentEvent[]; isAccepted: boolean };
type Answer = 200 | 503 | "none";

// The queue for early calls, as README.md tells sites to paste it.
export const stub = /<script>\n[^<]+<\/script>/.exec(readFileSync(new URL("../README.md", import.meta.url), "utf8"))?.[0] ?? "";

// For tests: a shop whose pages carry the tag, and its collector on another origin.
export class Shop {
  readonly uploads: Upload[] = [];
  readonly preflights: string[] = [];
  answer: Answer = 200;
  // Inserted into every page's head before the tag.
  head = "";
  attributes = 'async data-app-key="ak_shop"';
  private readonly pages = createServer((request, response) => this.servePage(request, response));
  private readonly collector = createServer((request, response) => void this.collect(request, response));
  private readonly script = tagScript();
  private waiting: (() => void)[] = [];

  static async open(): Promise<Shop> {
    const shop = new Shop();
    for (const server of [shop.pages, shop.collector]) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    }
    return shop;
  }

  async close(): Promise<void> {
    for (const server of [this.pages, this.collector]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  get url(): string {
    return originOf(this.pages);
  }

  get collectorUrl(): string {
    return originOf(this.collector);
  }

  // Everything the collector accepted, including repeats.
  get accepted(): SentEvent[] {
    return this.uploads.filter(({ isAccepted }) => isAccepted).flatMap(({ events }) => events);
  }

  // What the service keeps: a repeated event counts once.
  get events(): SentEvent[] {
    return [...new Map(this.accepted.map((event) => [event.event_id, event])).values()];
  }

  get types(): string[] {
    return this.events.map(({ event_type }) => event_type);
  }

  ofType(type: string): SentEvent[] {
    return this.events.filter(({ event_type }) => event_type === type);
  }

  // Resolves once the collector has received enough. A test that waits in vain ends by its own time limit.
  async until(isEnough: (shop: Shop) => boolean): Promise<void> {
    while (!isEnough(this)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  async untilEvent(type: string, count = 1): Promise<SentEvent> {
    await this.until(() => this.ofType(type).length >= count);
    const found = this.ofType(type)[count - 1];
    if (found === undefined) throw new Error(`no ${type}`);
    return found;
  }

  private servePage({ url = "/" }: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(url, "http://shop");
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<!doctype html><html lang="en"><head><title>Shop ${pathname}</title>${this.head}
<script ${this.attributes} src="${this.collectorUrl}/tag.js"></script></head>
<body style="height: 4000px"><input id="name"></body></html>`);
  }

  private async collect(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.collectorUrl);
    const { origin = "" } = request.headers;
    if (url.pathname === "/tag.js") {
      return void response.writeHead(200, { "content-type": "text/javascript; charset=utf-8" }).end(this.script);
    }
    // A page that closes while sending has sent nothing.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (request.method === "OPTIONS") this.preflights.push(url.pathname);
    else {
      const isAccepted = this.answer === 200;
      this.uploads.push({ url, headers: request.headers, body, events: JSON.parse(body) as SentEvent[], isAccepted });
    }
    if (this.answer !== "none") response.writeHead(this.answer, { "access-control-allow-origin": origin }).end("{}");
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// A new shop and visitor for every test of a file, and one browser for all. No test may leave an error in a page.
export function useShop(): { shop: Shop; visitor: BrowserContext; visit: (path?: string) => Promise<Page> } {
  const browser = useBrowser();
  const errors: string[] = [];
  const current = { shop: undefined as never as Shop, visitor: undefined as never as BrowserContext, visit };
  beforeEach(async () => {
    current.shop = await Shop.open();
    current.visitor = await browser.current.newContext();
    current.visitor.on("weberror", (error) => errors.push(error.error().message));
  });
  afterEach(async () => {
    await current.visitor.close();
    await current.shop.close();
    expect(errors.splice(0)).toEqual([]);
  });
  async function visit(path = "/"): Promise<Page> {
    const page = await current.visitor.newPage();
    await page.goto(current.shop.url + path);
    await page.waitForFunction("window.casehound?.version !== undefined");
    return page;
  }
  return current;
}

export const queueKeys = 'Object.keys(localStorage).filter((key) => key.startsWith("casehound.queue"))';

// Pages end after the browser reports them closed, so wait until this many have released their queues.
export async function untilLeftBehind(page: Page, count: number): Promise<void> {
  await page.waitForFunction(`${queueKeys}.filter((key) => JSON.parse(localStorage[key]).at === 0).length === ${count}`);
}

// A headless browser never hides a page, so fake the event.
export async function showPage(page: Page, state: "hidden" | "visible"): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "${state}" });
    document.dispatchEvent(new Event("visibilitychange"));`);
}
