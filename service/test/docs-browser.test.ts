import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBrowser } from "./shared-browser.ts";
import { useService } from "./harness.ts";

const service = useService();
const browser = useBrowser();

async function open(path: string, options: Parameters<Browser["newPage"]>[0] = {}): Promise<{ page: Page; faults: string[] }> {
  const page = await browser.current.newPage(options);
  const faults: string[] = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(service.current.url)) faults.push(`asked ${request.url()}`);
  });
  await page.goto(`${service.current.url}${path}`);
  return { page, faults };
}

test("docs: the search works by keyboard alone and finds a page by a word of its text", async () => {
  const { page, faults } = await open("/docs");
  await page.keyboard.press("/");
  await page.keyboard.type("dead letters");
  const first = page.locator("#search-found [aria-selected=true]");
  await first.waitFor();
  expect(await first.textContent()).toContain("Webhooks: Retries and dead letters");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/webhooks#retries-and-dead-letters");
  await page.keyboard.press("/");
  // A word that appears in no heading.
  await page.keyboard.type("email_verified");
  await page.locator("#search-found [role=option]").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/keycloak#people");
  expect(faults).toEqual([]);
  await page.close();
});

test("docs: the search list can be moved through, an empty result is reported, and any characters are accepted", async () => {
  const { page, faults } = await open("/docs/tutorial");
  await page.keyboard.press("/");
  await page.keyboard.type("case");
  const options = page.locator("#search-found [role=option]");
  await options.nth(1).waitFor();
  const selected = () => options.evaluateAll((all) => all.findIndex((each) => each.getAttribute("aria-selected") === "true"));
  expect(await selected()).toBe(0);
  await page.keyboard.press("ArrowDown");
  expect(await selected()).toBe(1);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await selected()).toBe((await options.count()) - 1);
  await page.locator("#search-words").fill("([*+?.\\ xyzzy-nothing");
  await page.getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  expect(await page.locator("#search-found").isVisible()).toBe(false);
  // Inside the field, a slash is a character like any other.
  await page.locator("#search-words").fill("");
  await page.keyboard.type("/docs");
  expect(await page.locator("#search-words").inputValue()).toBe("/docs");
  expect(faults).toEqual([]);
  await page.close();
});

test("docs: if the search index cannot be loaded, the search says so, and it works once the index loads", async () => {
  const { page } = await open("/docs");
  await page.route("**/search.json", (route) => route.abort(), { times: 1 });
  await page.locator("#search-words").pressSequentially("w");
  await page.getByText("The search index could not be loaded.").waitFor();
  await page.locator("#search-words").pressSequentially("ebhooks");
  await expect.poll(() => page.locator("#search-found [role=option]").count()).toBeGreaterThan(0);
  await page.close();
});

test("docs: on a phone the list of pages is one tap away", async () => {
  const { page } = await open("/docs/tutorial", { viewport: { width: 390, height: 800 } });
  const pages = page.getByRole("navigation").getByRole("link", { name: "Import your history" });
  await expect.poll(() => pages.evaluate((each) => each.getBoundingClientRect().top)).toBeGreaterThan(800);
  await page.getByRole("link", { name: "Pages", exact: true }).click();
  await expect.poll(() => pages.evaluate((each) => each.getBoundingClientRect().top)).toBeLessThan(800);
  await page.close();
});

test("docs: an operation named in the URL is expanded", async () => {
  const { page } = await open("/docs/api#updateCase");
  expect(await page.locator("details#updateCase").getAttribute("open")).toBe("");
  expect(await page.locator("details#getCase").getAttribute("open")).toBeNull();
  await page.close();
});

test("docs: without JavaScript everything but the search works", async () => {
  const { page } = await open("/docs", { javaScriptEnabled: false });
  expect(await page.locator("#search-box").isVisible()).toBe(false);
  await page.getByRole("navigation").getByRole("link", { name: "Versions and keys" }).click();
  await page.waitForURL("**/docs/versions-and-keys");
  expect(await page.getByRole("main").textContent()).toContain("after a version conflict, a new key");
  await page.close();
});

test.each(["light", "dark"] as const)("docs: axe finds no violations, %s", async (colorScheme) => {
  // The API reference is long and uses the same colors, so check it once.
  const paths = ["/docs", "/docs/tutorial", "/docs/errors-and-retries", ...(colorScheme === "light" ? ["/docs/api"] : [])];
  for (const path of paths) {
    const { page, faults } = await open(path, { colorScheme });
    await page.evaluate(axe.source);
    const found = await page.evaluate<string[]>(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))",
    );
    expect({ path, found, faults }).toEqual({ path, found: [], faults: [] });
    await page.close();
  }
});
