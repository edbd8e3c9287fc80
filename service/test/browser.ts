import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../../scripts/browser.ts";

let shared: Promise<Browser> | null = null;

// One Chromium is shared by all files of a worker and ends with the worker. Each test opens its own context.
export function sharedBrowser(): Promise<Browser> {
  return (shared ??= launchBrowser());
}

// Starts a headless Chromium that the caller closes. The sandbox is off because it cannot run as root or in most containers.
export function launchBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("no Chromium: run `npm test` once, or name one in CHROMIUM");
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...more];
  return chromium.launch({ executablePath, args });
}
