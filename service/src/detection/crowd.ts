import type { AddressFacts, Crowd, Crowds, DeviceFacts, Entity } from "./entity.ts";
import { claimBit, type Ring } from "./ring.ts";
import type { EnrichedActivity } from "./scene.ts";

const dayMs = 24 * 60 * 60 * 1000;
// A family shares a device, an office an address. What these explain is no crowd, whatever the past was.
const floors = { device: 3, ip: 8, block: 16, devices: 16 };
const share = 0.2;
const factor = 2;

// How many names the pages of one batch used at the same device, address and block: a flood shows in its first event.
export type Together = { onDevice: number; onAddress: number; onBlock: number; devices: number };

export type Surroundings = {
  event: EnrichedActivity;
  device: Entity<DeviceFacts> | null;
  ip: Entity<AddressFacts> | null;
  // The block of addresses, if the page named an account.
  block: Entity<AddressFacts> | null;
  together: Together;
};
export type CrowdedSource = "device" | "ip" | "block";

// The source that names more accounts, or uses more devices, than its past explains, if there is one. One source is one suspect:
// its findings are one case that lists the accounts, not a case for each. The widest crowded source is chosen, unless a narrower
// one alone makes up most of it.
export function crowdedSource({ event, device, ip, block, together }: Surroundings): CrowdedSource | null {
  // Most pages name nobody: then there is nothing to count but devices.
  const isNaming = event.activity.website_account_id !== undefined;
  const named = {
    device: isNaming ? seen(device, event.at, "peer", together.onDevice) : 0,
    ip: isNaming ? seen(ip, event.at, "peer", together.onAddress) : 0,
    block: isNaming ? seen(block, event.at, "peer", together.onBlock) : 0,
  };
  const devices = seen(ip, event.at, "address", together.devices);
  const day = Math.floor(Date.parse(event.activity.received_at) / dayMs);
  const isCrowded = {
    device: device !== null && isUnexplained(device.facts, "crowd", { named: named.device, day, floor: floors.device }),
    ip:
      ip !== null &&
      [
        isUnexplained((ip.facts ??= {}), "crowd", { named: named.ip, day, floor: floors.ip }),
        isUnexplained((ip.facts ??= {}), "fleet", { named: devices, day, floor: floors.devices }),
      ].includes(true),
    block: block !== null && isUnexplained((block.facts ??= {}), "crowd", { named: named.block, day, floor: floors.block }),
  };
  const widest = (["block", "ip", "device"] as const).find((kind) => isCrowded[kind]);
  if (widest === undefined || widest === "device") return widest ?? null;
  if (isCrowded.device && 2 * named.device > named[widest]) return "device";
  return widest === "block" && isCrowded.ip && 2 * named.ip > named.block ? "ip" : widest;
}

function seen(entity: { ring: Ring } | null, at: number, column: "peer" | "address", together: number): number {
  return entity ? Math.max(entity.ring.count(at, dayMs, claimBit, column), together) : 0;
}

type Count = { named: number; day: number; floor: number };

// By the day of receipt, which the page cannot choose.
function isUnexplained(facts: Crowds, kind: keyof Crowds, { named, day, floor }: Count): boolean {
  const crowd: Crowd = (facts[kind] ??= { day, today: 0, usual: 0 });
  if (crowd.day !== day) {
    crowd.usual = Math.round((crowd.usual + share * (crowd.today - crowd.usual)) * 100) / 100;
    crowd.day = day;
    crowd.today = 0;
  }
  crowd.today = Math.max(crowd.today, named);
  return named > Math.max(floor, factor * crowd.usual);
}
