import type { Browser } from "playwright-core";
import { beforeAll } from "vitest";
import { launchBrowser } from "./browser.ts";

// Browsers by their flags. The files of one worker share its modules, so a browser lives as long as its worker.
const shared = new Map<string, Promise<Browser>>();

// Gives the tests of a file a Chromium that other files use too. Tests open contexts of their own, which share nothing.
export function useBrowser(flags: string[] = []): { current: Browser } {
  const holder: { current: Browser } = { current: undefined as never };
  beforeAll(async () => {
    const key = flags.join(" ");
    const launched = shared.get(key) ?? launchBrowser(flags);
    shared.set(key, launched);
    holder.current = await launched;
  });
  return holder;
}
