import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../../scripts/browser.ts";

// Starts a headless Chromium that the caller closes. The sandbox is off because it cannot run as root or in most containers.
export function launchBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("no Chromium: run `npm test` once, or name one in CHROMIUM");
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...more];
  return chromium.launch({ executablePath, args });
}
