import { createHmac } from "node:crypto";
import { blockOf } from "../domain/address.ts";

export type IpPolicy = { ip_policy: "full" | "truncate" | "hash"; ip_key: Uint8Array };

// The form in which an address is stored after lookup. If the hash were not keyed by tenant, anyone who sees it could try all
// 2^32 IPv4 addresses within hours.
export function keptIp(ip: string, { ip_policy, ip_key }: IpPolicy): string {
  if (ip_policy === "full") return ip;
  return ip_policy === "truncate" ? blockOf(ip) : `h-${createHmac("sha256", ip_key).update(ip).digest("hex").slice(0, 24)}`;
}
