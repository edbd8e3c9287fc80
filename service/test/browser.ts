import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../../scripts/browser.ts";

let shared: Promise<Browser> | null = null;

// One Chromium for all files of a worker. It ends with the worker. Each test opens a context of its own.
export function sharedBrowser(): Promise<Browser> {
  return (shared ??= launchBrowser());
}

// A real Chromium without a window. The caller closes it. No sandbox: as root, and in most containers, there can be none.
export function launchBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("no Chromium: run `npm test` once, or name one in CHROMIUM");
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...more];
  return chromium.launch({ executablePath, args });
}
