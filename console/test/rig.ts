import { randomUUID } from "node:crypto";
import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { scopes } from "../../service/src/domain/scope.ts";
import type { Service } from "../../service/src/service.ts";
import { TestTenant } from "../../service/test/harness.ts";
import { Browser as Joined } from "../../service/test/people.ts";

export const consolePace = { testTimeout: 180_000, hookTimeout: 180_000 };
export const patience = { timeout: 45_000, interval: 50 };

// `scopes` are what the session claims; `granted` are what the service grants.
type Person = { name: string; scopes?: readonly string[]; granted?: readonly string[]; theme?: "light" | "dark"; width?: number };

// A person at a tenant's console: an admin with a real session. If a test names scopes that no role has, every API call gets a
// token on its way and the session is faked. The visitor collects the page's faults: blocked resources, errors, and requests to
// other hosts.
export class Visitor {
  readonly page: Page;
  readonly tenant: TestTenant;
  readonly complaints: string[] = [];

  private constructor(page: Page, tenant: TestTenant) {
    this.page = page;
    this.tenant = tenant;
  }

  static async open(browser: Browser, tenant: TestTenant, person: Partial<Person> = {}): Promise<Visitor> {
    const { width = 1440, theme = "light", name = "Ada Investigator" } = person;
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
    onTestFinished(() => context.close());
    const visitor = new Visitor(await context.newPage(), tenant);
    const claimed = person.scopes ?? scopes;
    if (person.scopes === undefined && person.granted === undefined) await signInFor(context, tenant, name);
    else await visitor.#pretend(context, { name, scopes: claimed, token: await tenant.mint(person.granted ?? claimed) });
    visitor.page.setDefaultTimeout(patience.timeout);
    visitor.#listen();
    return visitor;
  }

  static async create(browser: Browser, service: Service, person: Partial<Person> = {}): Promise<Visitor> {
    return Visitor.open(browser, await TestTenant.create(service), person);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.tenant.service.port}`;
  }

  async goto(path = "/"): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
  }

  press(...keys: string[]): Promise<void> {
    return keys.reduce(async (before, key) => {
      await before;
      await this.page.keyboard.press(key);
    }, Promise.resolve());
  }

  // The account in the focused row of the queue.
  focused(): Promise<string | null> {
    return this.page.locator('[role=row][data-focused="true"] [role=gridcell]:nth-child(4) [title]').first().textContent();
  }

  async expectFocused(account: string): Promise<void> {
    await expect.poll(() => this.focused(), patience).toBe(account);
  }

  // Waits until the focused case has been read, because keys that act on it wait only briefly.
  async expectPeek(account: string): Promise<void> {
    await this.expectFocused(account);
    const peek = this.page.getByRole("complementary", { name: "The case in focus" });
    await peek.filter({ hasText: account }).getByRole("button", { name: /^Open/ }).waitFor();
  }

  // Reports fraud for each account in turn. The queue then shows the latest first.
  async report(...accounts: string[]): Promise<void> {
    for (const account of accounts) await this.tenant.openCase(account);
  }

  // Waits until the page receives live events.
  async expectLive(): Promise<void> {
    await this.page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  }

  // The key shows the account as blocked at once. Then the service rejects it, and the switch reverts.
  async expectBlockRefused(): Promise<void> {
    const { page } = this;
    const blocked = page.getByRole("switch", { name: /Blocked/ });
    await blocked.waitFor();
    // Hold the request until the page has shown the expected value.
    const isOn = page.locator('[role=switch][aria-checked="true"]');
    await page.route("**/enduseraccounts/*", async (route) => {
      if (route.request().method() === "PUT") await isOn.waitFor();
      await route.fallback();
    });
    await this.press("b");
    await page.getByText("Blocked was not changed: The token lacks the scope update:enduseraccount.").waitFor();
    expect(await blocked.getAttribute("aria-checked")).toBe("false");
  }

  async #pretend(
    context: BrowserContext,
    { name, scopes: granted, token }: { name: string; scopes: readonly string[]; token: string },
  ): Promise<void> {
    const { tenantId: tenant_id, slug } = this.tenant;
    const user = { user_id: randomUUID(), email: "ada@example.org", name, role: "lead" };
    const session = { user, tenant: { tenant_id, slug }, csrf_token: "csrf", scopes: granted, last_event_id: 0 };
    await context.route("**/auth/session", (route) => route.fulfill({ json: session }));
    await context.route("**/auth/sign-out", (route) => route.fulfill({ status: 204 }));
    await context.route("**/v2/**", (route) => passOn(route, token));
  }

  #listen(): void {
    this.page.on("pageerror", (error) => this.complaints.push(String(error)));
    this.page.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) this.complaints.push(message.text());
    });
    this.page.on("request", (request) => {
      if (!request.url().startsWith(this.origin) && !request.url().startsWith("data:")) this.complaints.push(request.url());
    });
  }
}

async function signInFor(context: BrowserContext, tenant: TestTenant, name: string): Promise<void> {
  const { cookie } = await Joined.join(tenant, "admin", { name });
  await keepCookie(context, cookie);
}

// Stores the cookie as the service sent it.
export async function keepCookie(context: BrowserContext, cookie: string): Promise<void> {
  const [key = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name: key, value, domain: "127.0.0.1", path: "/", httpOnly: true, sameSite: "Strict" }]);
}

// A stopped service or a closed page ends the request. Some tests do that on purpose.
async function passOn(route: Route, token: string): Promise<void> {
  await route.continue({ headers: { ...route.request().headers(), authorization: `Bearer ${token}` } }).catch(() => {});
}

// The axe findings for the current page, by rule and element, with the contrast of both themes. The script is injected through
// the debugger, because the page's content security policy would block it.
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const findings = await runAxe(page, 'axe.run({ resultTypes: ["violations"] })');
  const theme = (await page.locator("html").getAttribute("data-theme")) === "dark" ? "dark" : "light";
  const other = theme === "dark" ? "light" : "dark";
  await page.evaluate(`document.documentElement.dataset.theme = "${other}"`);
  const contrast = await runAxe(page, 'axe.run({ resultTypes: ["violations"], runOnly: ["color-contrast"] })');
  await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
  return [...findings, ...contrast.map((each) => `${other}: ${each}`)];
}

async function runAxe(page: Page, call: string): Promise<string[]> {
  // During a transition, colors are not the final ones, so wait for animations to finish.
  await page.evaluate(
    "Promise.all(document.getAnimations().filter((each) => each.effect?.getComputedTiming().iterations !== Infinity).map((each) => each.finished.catch(() => {})))",
  );
  const { violations } = (await page.evaluate(call)) as AxeResults;
  return violations.flatMap((each) =>
    each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
  );
}
