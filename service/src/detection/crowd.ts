import { ringSize } from "./catalogue.ts";
import { tieKey, type AddressFacts, type Crowd, type Crowds, type DeviceFacts, type Entity } from "./entity.ts";
import { claimBit } from "./ring.ts";
import type { EnrichedActivity } from "./scene.ts";

const dayMs = 24 * 60 * 60 * 1000;
const floodedMs = 60 * 60 * 1000;
// A family shares a device, and an office shares an address. Up to these numbers a source is not a crowd, whatever its history.
const floors = { device: 3, ip: 8, block: 8, browsersOnAddress: 16, browsersOnBlock: 32 };
const share = 0.2;
const factor = 2;
const namesMax = 64;
// 48 bits, so that nobody can find many names with the same key.
const keyCharacters = 8;

// How many names the pages of one batch used on the same device, address and block. With it, a flood is recognized at its first
// event.
export type Together = {
  onDevice: number;
  onAddress: number;
  onBlock: number;
  browsersOnAddress: number;
  browsersOnBlock: number;
};

export type Surroundings = {
  event: EnrichedActivity;
  device: Entity<DeviceFacts> | null;
  ip: Entity<AddressFacts> | null;
  block: Entity<AddressFacts> | null;
  together: Together;
  // The page's claim would count for the account that it names. Many strangers share a block, so their number says nothing
  // about the claim.
  isClaimHeard: boolean;
};
export type CrowdedSource = "device" | "ip" | "block";

// Returns the source that names more accounts, or uses more browsers, than its history explains, if there is one. One source is
// one suspect: its findings form one case that lists the accounts, not a case per account. The widest crowded source is chosen,
// unless a narrower one alone accounts for most of it.
export function crowdedSource(surroundings: Surroundings): CrowdedSource | null {
  const { event, device, ip, block, together, isClaimHeard } = surroundings;
  const { website_account_id, device_id, session_id, received_at } = event.activity;
  // Use the day of receipt, because the page cannot choose it.
  const day = Math.floor(Date.parse(received_at) / dayMs);
  const account = keyOf(website_account_id);
  const onDevice = device && count(device.facts, "crowd", { name: account, together: together.onDevice, day });
  const onAddress = ip && count((ip.facts ??= {}), "crowd", { name: account, together: together.onAddress, day });
  const onBlock = block && count((block.facts ??= {}), "crowd", { name: account, together: together.onBlock, day });
  const name = keyOf(device_id ?? session_id);
  const inAddress = ip && count((ip.facts ??= {}), "fleet", { name, together: together.browsersOnAddress, day });
  const inBlock = block && count((block.facts ??= {}), "fleet", { name, together: together.browsersOnBlock, day });
  const isCrowded = {
    device: isUnexplained(onDevice, floors.device),
    ip: isUnexplained(onAddress, floors.ip) || isUnexplained(inAddress, floors.browsersOnAddress),
    block: isUnexplained(onBlock, floors.block) || (!isClaimHeard && isUnexplained(inBlock, floors.browsersOnBlock)),
  };
  const named = { device: onDevice?.today ?? 0, ip: onAddress?.today ?? 0, block: onBlock?.today ?? 0 };
  const widest = (["block", "ip", "device"] as const).find((kind) => isCrowded[kind]);
  if (widest === undefined || widest === "device") return widest ?? null;
  if (isCrowded.device && 2 * named.device > named[widest]) return "device";
  const [part, whole] = isUnexplained(onBlock, floors.block)
    ? [named.ip, named.block]
    : [inAddress?.today ?? 0, inBlock?.today ?? 0];
  return widest === "block" && isCrowded.ip && 2 * part > whole ? "ip" : widest;
}

function keyOf(name: string | undefined): string | null {
  return name === undefined ? null : tieKey(name).slice(0, keyCharacters);
}

type Named = { name: string | null; together: number; day: number };

// The names are stored separately from the ring, because a forger could fill the ring with other events.
function count(facts: Crowds, kind: keyof Crowds, { name, together, day }: Named): Crowd {
  const crowd: Crowd = (facts[kind] ??= { day, today: 0, usual: 0 });
  if (crowd.day !== day) {
    crowd.usual = Math.round((crowd.usual + share * (crowd.today - crowd.usual)) * 100) / 100;
    crowd.day = day;
    crowd.today = 0;
    delete crowd.names;
  }
  const names = crowd.names ?? [];
  if (name !== null && names.length < namesMax && !names.includes(name)) crowd.names = [...names, name];
  crowd.today = Math.max(crowd.today, crowd.names?.length ?? 0, together);
  return crowd;
}

function isUnexplained(crowd: Crowd | null, floor: number): boolean {
  return crowd !== null && crowd.today > Math.max(floor, factor * crowd.usual);
}

// Whether unverified pages have sent so much from the address that other events there may have been dropped.
export function isFlooded(ip: Entity<AddressFacts> | null, at: number): boolean {
  return ip !== null && ip.ring.count(at, floodedMs, claimBit) >= ringSize / 2;
}
