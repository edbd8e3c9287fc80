import { read, remove, write, type Page, type Session } from "./storage.ts";
import { clip, uuid, withoutQuery } from "./text.ts";

const sessionIdleMs = 30 * 60_000;
const titleCharactersMax = 256;

let page: Page | undefined;

export function createDevice(now: number): void {
  write("casehound.device", { device_id: uuid(), unique_id: uuid(), first_touch: now });
}

// The first user keeps what the device did before the log-in. Another user starts with a new id.
export function setUser(value: string | null, now: number): void {
  const device = read("casehound.device");
  remove("casehound.identity");
  if (value === null) remove("casehound.user");
  if (value === null || !device) return;
  const isOther = device.owner !== undefined && device.owner !== value;
  write("casehound.device", { ...device, ...(isOther && { unique_id: uuid(), first_touch: now }), owner: value });
  write("casehound.user", { value, set_timestamp: now });
}

// The token with which the site's server vouches for the user.
export function setIdentity(value: string, now: number): void {
  write("casehound.identity", { value, set_timestamp: now });
}

// An expired token is not sent, because the service would count it as a bad one.
export function currentIdentity(now: number): object | undefined {
  const identity = read("casehound.identity");
  return Number(String(identity?.value).split(".")[1]) * 1000 > now ? identity : undefined;
}

export function isAlive(session: Session, now: number): boolean {
  return now - session.at < sessionIdleMs;
}

export function beginSession(now: number, number: number): void {
  const [day = "", time = ""] = new Date(now)
    .toISOString()
    .replaceAll(/[-:.Z]/g, "")
    .split("T");
  write("casehound.session", {
    id: `${read("casehound.device")?.unique_id.slice(-8)}-${day}-${time}`,
    start: now,
    number,
    at: now,
  });
}

// A page closed after hours still belongs to its session, but does not revive it.
export function keepSession(now: number): void {
  const session = read("casehound.session");
  if (session && isAlive(session, now)) write("casehound.session", { ...session, at: now, page });
}

export function currentPage(): Page | undefined {
  return page;
}

export function currentAddress(): string {
  return withoutQuery(location.href);
}

export function setPage(at: number): void {
  page = { url: currentAddress(), title: clip(document.title, titleCharactersMax), at };
}

export function forgetPage(): void {
  page = undefined;
}
