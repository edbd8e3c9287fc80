// Works on addresses as well-formed text.

// The eight groups of an IPv6 address, without leading zeros.
function groupsOf(ip: string): string[] {
  const [head = "", tail] = ip.toLowerCase().split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail === undefined ? [] : tail.split(":").filter((group) => group !== "");
  const all = [...groups, ...Array.from({ length: Math.max(8 - groups.length - rest.length, 0) }, () => "0"), ...rest];
  return all.map((group) => group.replace(/^0+(?=.)/, ""));
}

// Returns the range that one host has: an IPv4 address, or the /64 in which an IPv6 host may choose any address. A value that a
// tenant's policy has truncated or hashed is returned unchanged.
export function hostOf(ip: string): string {
  return ip.includes(":") && !ip.includes("/") ? `${groupsOf(ip).slice(0, 4).join(":")}::/64` : ip;
}

// Returns the range that one sender may control entirely: an IPv4 address, or the /48 in which an IPv6 site may choose any /64.
export function siteOf(ip: string): string {
  return ip.includes(":") && !ip.includes("/") ? blockOf(ip) : ip;
}

// Returns the block of neighboring addresses that one subscriber or one server rack typically has.
export function blockOf(ip: string): string {
  if (!ip.includes(":")) return `${ip.includes(".") ? ip.slice(0, ip.lastIndexOf(".")) : ip}.0/24`;
  return `${groupsOf(ip).slice(0, 3).join(":")}::/48`;
}
