import type { Browser, BrowserContext, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Role } from "../../service/src/domain/role.ts";
import type { TestTenant } from "../../service/test/harness.ts";
import { Browser as Elsewhere, goodPassword, invite, newEmail, somewhere, useLink } from "../../service/test/people.ts";
import { keepCookie, patience } from "./rig.ts";

export type Known = { email: string; name: string; userId: string; tenant: TestTenant };

// A person of the tenant who has a password but no session.
export async function makePerson(tenant: TestTenant, role: Role, who: { email?: string; name?: string } = {}): Promise<Known> {
  const { email = newEmail(), name = "Ada Lovelace" } = who;
  const { user, link } = await invite(tenant, role, { email, name });
  await useLink(tenant.service, link.url);
  await tenant.call("DELETE", `/users/${user.user_id}/sessions`);
  return { email, name, userId: user.user_id, tenant };
}

type Look = { width?: number };

// A browser at the console with nobody signed in.
export class Guest {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly origin: string;
  readonly complaints: string[] = [];
  // Every address requested, as servers and proxies would log it.
  readonly asked: string[] = [];

  private constructor(page: Page, origin: string) {
    this.page = page;
    this.context = page.context();
    this.origin = origin;
    page.setDefaultTimeout(patience.timeout);
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) this.complaints.push(message.text());
    });
    page.on("request", (request) => this.asked.push(request.url()));
  }

  static async open(browser: Browser, service: { port: number }, { width = 1440 }: Look = {}): Promise<Guest> {
    // Failed sign-ins also count per address.
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      extraHTTPHeaders: somewhere(),
      permissions: ["clipboard-read", "clipboard-write"],
    });
    onTestFinished(() => context.close());
    return new Guest(await context.newPage(), `http://127.0.0.1:${service.port}`);
  }

  // Starts with a real session before any page is opened.
  static async signedIn(browser: Browser, person: Known, look: Look = {}): Promise<Guest> {
    const guest = await Guest.open(browser, person.tenant.service, look);
    const { cookie } = await Elsewhere.signIn(person.tenant.service, person.email);
    await keepCookie(guest.context, cookie);
    return guest;
  }

  // Another tab of the same browser.
  async anotherTab(): Promise<Guest> {
    return new Guest(await this.context.newPage(), this.origin);
  }

  async goto(path = "/"): Promise<void> {
    await this.page.goto(`${this.origin}${path}`);
  }

  async signIn(email: string, password: string = goodPassword): Promise<void> {
    await this.page.getByLabel("E-mail").fill(email);
    await this.page.getByLabel("Password").fill(password);
    await this.page.keyboard.press("Enter");
  }

  menu() {
    return this.page.getByRole("complementary").getByRole("button", { name: /investigator|lead|admin/ });
  }

  async choose(item: string): Promise<void> {
    await this.menu().click();
    await this.page.getByRole("menuitem", { name: item, exact: true }).click();
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }
}
