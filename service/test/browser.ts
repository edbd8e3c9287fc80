import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../../scripts/browser.ts";

// Every new window loads two pages for its address bar and starts a renderer to spare. Without them, a test page costs half the
// CPU.
const windowFeatures = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "SpareRendererForSitePerProcess"];
// Chromium heeds only the last such flag, so this repeats what Playwright switches off for pages and the network.
const playwrightFeatures = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];
const disabled = `--disable-features=${[...windowFeatures, ...playwrightFeatures].join(",")}`;

// Starts a headless Chromium that the caller closes. The sandbox is off because it cannot run as root or in most containers.
export function launchBrowser(more: string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("no Chromium: run `npm test` once, or name one in CHROMIUM");
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", disabled, ...more];
  return chromium.launch({ executablePath, args });
}
