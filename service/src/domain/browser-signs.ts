// Weak signs that something about a browser's request is off. Each can have an innocent reason, so none counts alone.
export const browserSigns = [
  "wrong-hash",
  "foreign-tenant-id",
  "session-id-mismatch",
  "screen-equals-viewport",
  "locale-differs",
  "agent-differs",
  "clock-shifted",
  "oversized",
  "bad-account-id",
] as const;
export type BrowserSign = (typeof browserSigns)[number];

const sessionToleranceMs = 5_000;
const sessionForm = /^.{1,8}-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(\d{3})$/s;

// A session's id ends with the UTC time of its start.
export function isSessionIdOff(sessionId: string, startMs: number | undefined): boolean {
  const match = sessionForm.exec(sessionId);
  if (!match) return true;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, milli = 0] = match.slice(1).map(Number);
  const embeddedMs = Date.UTC(year, month - 1, day, hour, minute, second, milli);
  return startMs !== undefined && Math.abs(embeddedMs - startMs) > sessionToleranceMs;
}

// Whether the browser requests other languages than the one that it reports.
export function isLocaleOff(locale: string, acceptLanguage: string): boolean {
  const accepted = new Set(acceptLanguage.split(",").map((each) => languageOf(each.split(";")[0] ?? "")));
  return !accepted.has("*") && !accepted.has(languageOf(locale));
}

function languageOf(tag: string): string {
  const code = tag.trim().toLowerCase().split(/[-_]/)[0] ?? "";
  return renamed.get(code) ?? code;
}

// Language codes that browsers and systems write in two ways.
const renamed = new Map([
  ["iw", "he"],
  ["in", "id"],
  ["ji", "yi"],
  ["no", "nb"],
  ["nn", "nb"],
]);

const platformMarks = new Map([
  ["Windows", /Windows/],
  ["macOS", /Macintosh/],
  ["Linux", /Linux|X11/],
  ["Android", /Android|X11/],
  ["Chrome OS", /CrOS/],
  ["Chromium OS", /CrOS/],
]);

export type AgentHeaders = { user_agent?: string; brands?: string; platform?: string };

// Only Chromium sends client hints. They must name the same version and platform as the user agent.
export function isAgentOff({ user_agent: agent = "", brands, platform }: AgentHeaders): boolean {
  if (brands !== undefined) {
    const named = /Chrom(?:e|ium)\/(\d+)/.exec(agent)?.[1];
    const hinted = /"Chromium";v="(\d+)/.exec(brands)?.[1];
    if (named === undefined || (hinted !== undefined && hinted !== named)) return true;
  }
  const mark = platformMarks.get(platform?.replaceAll('"', "") ?? "");
  return mark !== undefined && !mark.test(agent);
}
