import { BlockList, isIP } from "node:net";

// Reads TRUSTED_PROXIES. Returns a fault as text.
export function readProxies(value: string): BlockList | string {
  const list = new BlockList();
  if (value.trim() === "none") return list;
  for (const entry of value.split(",").map((each) => each.trim())) {
    const [address = "", bits] = entry.split("/", 2);
    const version = isIP(address);
    const bitsMax = version === 4 ? 32 : 128;
    const isBlock = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
    if (version === 0 || !isBlock || entry.split("/").length > 2 || address.includes("%"))
      return `TRUSTED_PROXIES must be a list of addresses and CIDR blocks, or none, not ${JSON.stringify(value)}`;
    list.addSubnet(address, Number(bits ?? bitsMax), version === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
