import type { Random } from "./random.ts";

const dayMs = 86_400_000;
// Browsers release every four weeks. On this day Chrome was at 156 and Firefox at 153.
const referenceMs = Date.UTC(2026, 10, 1);
const cycleMs = 28 * dayMs;

export type DeviceKind = "desktop" | "phone" | "tablet";
type AgentFamily = {
  kind: DeviceKind;
  // The share among devices of its kind.
  share: number;
  // Safari clears a site's storage after seven days without a visit.
  forgetsAfterMs: number;
  screens: [width: number, height: number][];
  text: (release: number, model: string) => string;
  models: string[];
};

const kept = Number.POSITIVE_INFINITY;
const desktopScreens: [number, number][] = [
  [1920, 1080],
  [1536, 864],
  [2560, 1440],
  [1366, 768],
];
const phoneScreens: [number, number][] = [
  [412, 915],
  [360, 800],
  [384, 854],
];
const appleScreens: [number, number][] = [
  [390, 844],
  [393, 852],
  [430, 932],
];

function blink(platform: string, version: number, tail = ""): string {
  return `Mozilla/5.0 (${platform}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 ${tail}Safari/537.36`;
}

const windows = "Windows NT 10.0; Win64; x64";
const macintosh = "Macintosh; Intel Mac OS X 10_15_7";
const linux = "X11; Linux x86_64";

const families: readonly AgentFamily[] = [
  family("desktop", 42, desktopScreens, (n) => blink(windows, 156 + n)),
  family("desktop", 16, desktopScreens, (n) => `${blink(windows, 156 + n)} Edg/${156 + n}.0.0.0`),
  family("desktop", 12, desktopScreens, (n) => `Mozilla/5.0 (${windows}; rv:${153 + n}.0) Gecko/20100101 Firefox/${153 + n}.0`),
  family("desktop", 10, desktopScreens, (n) => blink(macintosh, 156 + n)),
  {
    ...family("desktop", 14, desktopScreens, (n) => safari(`Mozilla/5.0 (${macintosh})`, n, "")),
    forgetsAfterMs: 7 * dayMs,
  },
  family("desktop", 3, desktopScreens, (n) => blink(linux, 156 + n)),
  family("desktop", 3, desktopScreens, (n) => `Mozilla/5.0 (${linux}; rv:${153 + n}.0) Gecko/20100101 Firefox/${153 + n}.0`),
  family("phone", 46, phoneScreens, (n) => blink("Linux; Android 10; K", 156 + n, "Mobile ")),
  family("phone", 12, phoneScreens, (n) =>
    blink("Linux; Android 10; K", 154 + n, `SamsungBrowser/${31 + Math.floor(n / 3)}.0 Mobile `),
  ),
  {
    ...family("phone", 42, appleScreens, (n, model) =>
      safari(`Mozilla/5.0 (iPhone; CPU iPhone OS ${model} like Mac OS X)`, n, "Mobile/15E148 "),
    ),
    forgetsAfterMs: 7 * dayMs,
    models: ["18_6", "26_0", "26_1", "17_7"],
  },
  family("tablet", 40, [[800, 1280]], (n) => blink("Linux; Android 10; K", 156 + n)),
  {
    ...family("tablet", 60, [[820, 1180]], (n) => safari(`Mozilla/5.0 (${macintosh})`, n, "")),
    forgetsAfterMs: 7 * dayMs,
  },
];

function family(kind: DeviceKind, share: number, screens: [number, number][], text: AgentFamily["text"]): AgentFamily {
  return { kind, share, screens, text, models: [""], forgetsAfterMs: kept };
}

function safari(start: string, release: number, middle: string): string {
  const version = `26.${Math.max(0, 1 + Math.floor(release / 2))}`;
  return `${start} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} ${middle}Safari/605.1.15`;
}

// A browser on a device, and how late its owner lets it update.
export type Agent = { family: AgentFamily; model: string; lagMs: number; screen: [number, number]; viewport: [number, number] };

export function newAgent(random: Random, kind: DeviceKind): Agent {
  const chosen = random.pickWeighted(
    families.filter((each) => each.kind === kind),
    ({ share }) => share,
  );
  const screen = random.pick(chosen.screens);
  const bars = kind === "desktop" ? random.whole(90, 180) : random.whole(60, 140);
  const viewport: [number, number] = [screen[0] - (kind === "desktop" ? random.pick([0, 15, 17]) : 0), screen[1] - bars];
  const lagMs = random.chance(0.85) ? random.exponential(5 * dayMs) : random.exponential(120 * dayMs);
  return { family: chosen, model: random.pick(chosen.models), lagMs, screen, viewport };
}

export function userAgentAt({ family, model, lagMs }: Agent, atMs: number): string {
  return family.text(Math.floor((atMs - lagMs - referenceMs) / cycleMs), model);
}

export function headlessUserAgent(atMs: number): string {
  const version = 156 + Math.floor((atMs - referenceMs) / cycleMs);
  return `Mozilla/5.0 (${linux}) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/${version}.0.0.0 Safari/537.36`;
}

export function scriptUserAgent(random: Random): string {
  return random.pick(["python-requests/2.34.1", "python-httpx/0.29.0", "Go-http-client/2.0", "curl/8.17.0", "okhttp/5.3.0"]);
}

// The Accept-Language header for a browser's display language.
export function acceptLanguage(locale: string): string {
  const [language = locale] = locale.split("-");
  return language === "en" ? `${locale},en;q=0.9` : `${locale},${language};q=0.9,en-US;q=0.8,en;q=0.7`;
}
