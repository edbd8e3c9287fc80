import { newAgent, type Agent, type DeviceKind } from "./agents.ts";
import type { Country } from "./countries.ts";
import type { Random } from "./random.ts";
import { newStorage, type Storage } from "./sdk.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

// A blocker that knows the SDK prevents it from loading. One that knows the collector's address blocks its requests.
type Blocking = "none" | "requests" | "script";

export type Device = {
  number: number;
  kind: DeviceKind;
  agent: Agent;
  locale: string;
  clockOffsetMs: number;
  blocking: Blocking;
  isPrivate: boolean;
  // The probability that its owner has cleared the storage since the last visit.
  clearing: number;
  // The time zone of the device's clock. Phones follow the network, so theirs comes from their location.
  zoneMinutes: number;
  storage: Storage | null;
  // When its owner replaces it.
  replacedMs: number;
};

const deviceShares = {
  requestsBlocked: 0.02,
  scriptBlocked: 0.01,
  private: 0.03,
  clockWrong: 0.02,
  foreignLocale: 0.05,
  storageCleared: 0.008,
  replacementDays: 900,
};

export function newDevice(
  random: Random,
  { number, kind, country, nowMs }: { number: number; kind: DeviceKind; country: Country; nowMs: number },
): Device {
  const blocked = random.unit();
  const { requestsBlocked, scriptBlocked } = deviceShares;
  return {
    number,
    kind,
    agent: newAgent(random, kind),
    locale: random.chance(deviceShares.foreignLocale) ? "en-US" : country.locale,
    clockOffsetMs: clockOffset(random),
    blocking: blocked < requestsBlocked ? "requests" : blocked < requestsBlocked + scriptBlocked ? "script" : "none",
    isPrivate: random.chance(deviceShares.private),
    clearing: deviceShares.storageCleared,
    zoneMinutes: country.zoneMinutes,
    storage: null,
    replacedMs: nowMs + random.exponential(deviceShares.replacementDays * dayMs),
  };
}

// Most clocks are right to a second or two. Some are off by whole hours because of a wrong zone, a few by days.
function clockOffset(random: Random): number {
  const drift = random.normal(0, 1200);
  if (!random.chance(deviceShares.clockWrong)) return drift;
  return drift + (random.chance(0.8) ? random.pick([-9, -7, -2, -1, 1, 2, 6]) * hourMs : random.pick([-1, 1]) * dayMs);
}

// What the site has stored in this browser: nothing in private mode, after Safari's week, or after its owner cleared it.
export function storageOf(device: Device, random: Random, nowMs: number): Storage {
  const kept = device.storage;
  const isForgotten =
    kept === null ||
    device.isPrivate ||
    nowMs - kept.lastVisitMs > device.agent.family.forgetsAfterMs ||
    random.chance(device.clearing);
  if (!isForgotten) return kept;
  device.storage = newStorage(random, nowMs);
  return device.storage;
}

export function replaceDevice(device: Device, random: Random, nowMs: number): void {
  device.agent = newAgent(random, device.kind);
  device.clockOffsetMs = clockOffset(random);
  device.storage = null;
  device.replacedMs = nowMs + random.exponential(deviceShares.replacementDays * dayMs);
}
