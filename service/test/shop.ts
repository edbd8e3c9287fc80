import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";
import { unpackParcel } from "../src/db/parcels.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { Case } from "../src/domain/case.ts";
import type { Service } from "../src/service.ts";
import { clickstreamScript } from "./clickstream-sdk.ts";
import { TestTenant } from "./harness.ts";

// A small shop on its own origin. Its pages do not know who listens: they call `window.shop`, which `head` sets up.
const pages: Record<string, string> = {
  "/": `<h1>Shop</h1><p><a href="/product">A teapot</a> <a href="/login">Sign in</a></p><div style="height: 3000px"></div>`,
  "/product": `<h1>A teapot</h1><button onclick="shop.tell('add_to_cart', { product: 'teapot', price: 24.5 })">Add to cart</button>
    <p><a href="/login">Sign in</a></p>`,
  "/login": `<h1>Sign in</h1><form onsubmit="event.preventDefault(); signIn(user.value, password.value)">
    <label>User <input id="user"></label> <label>Password <input id="password"></label> <button>Sign in</button></form>
    <p id="outcome"></p><p><a href="/checkout">Check out</a></p>
    <script>function signIn(user, password) {
      const isRight = password === "right";
      shop.signIn(user, isRight);
      outcome.textContent = (isRight ? "Welcome, " : "No such password, ") + user;
    }</script>`,
  "/checkout": `<h1>Check out</h1>
    <button onclick="shop.tell('purchase', { amount: 24.5 }); outcome.textContent = 'Thank you'">Pay</button><p id="outcome"></p>`,
};

// A browser is slow on a machine that runs other tests at the same time.
export const browserPace = { testTimeout: 90_000, hookTimeout: 90_000 };
export const patience = { timeout: 30_000, interval: 50 };

export class Shop {
  head = "";
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  // `localhost`, while the service is on 127.0.0.1: for a browser that is another site, not just another port.
  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  static async open(): Promise<Shop> {
    const script = await clickstreamScript();
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://shop");
      if (pathname === "/clickstream.js") return response.setHeader("content-type", "text/javascript; charset=utf-8").end(script);
      const page = pages[pathname];
      if (page === undefined) return response.writeHead(404).end();
      const title = /<h1>(.*?)<\/h1>/.exec(page)?.[1];
      const icon = `<link rel="icon" href="data:,">`;
      return response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end(`<!doctype html><html lang="en"><head><title>${title}</title>${icon}${shop.head}</head><body>${page}</body></html>`);
    });
    const shop = new Shop(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return shop;
  }
}

export type Sent = { event_id: string; event_type: string; device_id: string; attributes: Record<string, unknown> };

// A tenant that allows only the origin of its own shop.
export class Customer {
  readonly tenant: TestTenant;
  readonly shop: Shop;
  readonly appKey: string;

  private constructor(tenant: TestTenant, shop: Shop, appKey: string) {
    this.tenant = tenant;
    this.shop = shop;
    this.appKey = appKey;
  }

  static async create(service: Service): Promise<Customer> {
    const [tenant, shop] = await Promise.all([TestTenant.create(service), Shop.open()]);
    const allowed = await tenant.call("PUT", "/tenants", { body: { allowed_origins: [shop.origin] } });
    expect(allowed.status, allowed.text).toBe(200);
    const answer = await tenant.call("GET", "/tenants");
    return new Customer(tenant, shop, (answer.json.data as { clickstream_app_id: string }).clickstream_app_id);
  }

  // Sets up the SDK as its documentation says, with the test's changes.
  useClickstream(config: Record<string, unknown> = {}): void {
    const { url } = this.tenant.service;
    const all = { appId: this.appKey, endpoint: `${url}/collect/${this.appKey}`, pageType: "multiPageApp", ...config };
    this.shop.head = `<script src="/clickstream.js"></script><script>
      ClickstreamAnalytics.init(${JSON.stringify(all)});
      window.shop = {
        signIn: (user, isRight) => {
          ClickstreamAnalytics.setUserId(user);
          ClickstreamAnalytics.record({ name: "login", attributes: { result: isRight ? "success" : "failure" } });
        },
        tell: (name, attributes) => ClickstreamAnalytics.record({ name, attributes }),
      };</script>`;
  }

  async useTag(): Promise<void> {
    const answer = await this.tenant.call("GET", "/snippet");
    expect(answer.status, answer.text).toBe(200);
    const [html] = (answer.json.data as { snippets: { framework: string; snippet: string }[] }).snippets;
    this.shop.head = `${html?.snippet}<script>
      window.shop = {
        signIn: (user, isRight) => {
          casehound.setUserId(user);
          casehound.record(isRight ? "login_succeeded" : "login_failed");
        },
        tell: (name, attributes) => casehound.record(name, attributes),
      };</script>`;
  }

  // Waits until everything sent is stored. Nothing may be stored twice. There may be more than was seen, because the browser does
  // not report the last request of a page that was left.
  async expectAll(...visits: Visit[]): Promise<RecordedActivity[]> {
    return vi.waitFor(async () => {
      const sent = visits.flatMap((visit) => [...visit.sent.keys()]);
      const stored = await this.activities();
      const ids = stored.map((each) => each.activity_id);
      expect(sent).not.toEqual([]);
      expect(ids).toEqual(expect.arrayContaining(sent));
      expect(ids).toHaveLength(new Set(ids).size);
      return stored;
    }, patience);
  }

  // Waits for an open case with a reason that matches. A browser that a test drives may type so evenly that another reason is the
  // heaviest, which is the summary.
  async expectCase(reason: RegExp): Promise<Case> {
    return vi.waitFor(async () => {
      const listed = await this.tenant.list("status=OPEN");
      const read = await Promise.all(listed.map((each) => this.tenant.read(each.case_id)));
      const found = read.find(({ details }) => details.highlights.some((each) => reason.test(each)));
      if (!found) throw new Error(`no case says ${reason}: ${JSON.stringify(read.map((each) => each.details.highlights))}`);
      return found;
    }, patience);
  }

  // Everything accepted for the tenant, scored or not. It is one statement, so that no intermediate state is seen.
  async activities(): Promise<RecordedActivity[]> {
    const { database } = this.tenant.service;
    const rows = await database.query<{ parcel: Buffer | null; activity: RecordedActivity }>(sql`
      select parcel, null::jsonb as activity
      from inbox
      where tenant_id = ${this.tenant.tenantId}
      union all
      select null, jsonb_strip_nulls(jsonb_build_object(
        'activity_id', activity_id, 'type', type, 'origin', origin, 'website_account_id', coalesce(website_account_id, claimed_account_id),
        'session_id', session_id, 'device_id', device_id, 'ip', ip, 'user_agent', user_agent
      )) || document::jsonb
      from activities
      left join user_agents using (tenant_id, agent_key)
      where tenant_id = ${this.tenant.tenantId}`);
    return rows.flatMap((row) => (row.parcel === null ? row.activity : unpackParcel(row.parcel)));
  }

  async quarantined(): Promise<unknown[]> {
    return this.tenant.service.database.query(sql`
      select reason, detail
      from quarantine
      where tenant_id = ${this.tenant.tenantId}`);
  }
}

// A headless or automated Chromium says so to every page, which is suspicious by itself. Our shoppers are people. This uses
// flags, because settings of a page do not apply to requests that outlive it.
const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
export const likePeople = [`--user-agent=${agent}`, "--disable-blink-features=AutomationControlled"];

// A separate browser profile: no cookies, an empty local storage. Records all that its pages send and all errors.
export class Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly posts: { events: Sent[]; status: Promise<number | null> }[] = [];
  readonly complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
  }

  static async begin(browser: Browser): Promise<Visit> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const visit = new Visit(context, await context.newPage());
    context.on("request", (request) => {
      if (request.method() !== "POST") return;
      const status = request.response().then(
        (response) => response?.status() ?? null,
        () => null,
      );
      visit.posts.push({ events: JSON.parse(request.postData() ?? "[]") as Sent[], status });
    });
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) visit.complaints.push(message.text());
    });
    context.on("weberror", (error) => visit.complaints.push(String(error.error())));
    return visit;
  }

  // The events sent so far, by event id: an event that was sent again is here once.
  get sent(): Map<string, Sent> {
    return new Map(this.posts.flatMap(({ events }) => events).map((event) => [event.event_id, event]));
  }

  // The distinct statuses of the posts. Null is a post that the browser did not send, or whose response arrived after its page
  // was left.
  async statuses(from = 0): Promise<(number | null)[]> {
    return [...new Set(await Promise.all(this.posts.slice(from).map((post) => post.status)))];
  }

  // Expects the events that the SDK could not deliver and keeps for later. It keeps an event only after three tries, so a page
  // that is left before then loses it.
  async expectKept(types: string[]): Promise<void> {
    const kept = `JSON.parse((localStorage.getItem("aws-solution/clickstream-web/failedEventsKey") ?? "[") + "]")`;
    const read = () => this.page.evaluate<Sent[]>(kept);
    const sorted = types.toSorted();
    await vi.waitFor(async () => expect((await read()).map((event) => event.event_type).toSorted()).toEqual(sorted), patience);
  }

  // Waits for the load to end, so that listeners on the next page are ready before anything happens on it.
  async follow(link: string): Promise<void> {
    const found = this.page.getByRole("link", { name: link });
    const path = (await found.getAttribute("href")) ?? "";
    await found.click();
    await this.page.waitForURL(new URL(path, this.page.url()).href);
  }

  async press(button: string): Promise<void> {
    await this.page.getByRole("button", { name: button }).click();
  }

  async signIn(user: string, password = "right"): Promise<void> {
    await this.page.getByLabel("User").fill(user);
    await this.page.getByLabel("Password").fill(password);
    await this.press("Sign in");
    await this.page.getByText(password === "right" ? `Welcome, ${user}` : `No such password, ${user}`).waitFor();
  }
}
