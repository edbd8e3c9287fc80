import type { IncomingMessage } from "node:http";
import { SocketAddress, isIP, type BlockList } from "node:net";
import { headerLines } from "./headers.ts";

// No real chain of proxies is longer. A longer header is padding.
const hopsMax = 32;

// The address that a request comes from. Every proxy appends the address it got the request from, so only the right end of the
// header can be trusted, and only as far as our own proxies wrote it.
export function clientAddress(request: IncomingMessage, trusted: BlockList): string | undefined {
  const peer = plainAddress(request.socket.remoteAddress ?? "");
  if (peer === null) return undefined;
  let nearest = peer;
  const hops = headerLines(request, "x-forwarded-for").join(",").split(",").slice(-hopsMax);
  while (isTrusted(nearest, trusted)) {
    const next = plainAddress(hops.pop() ?? "");
    if (next === null) break;
    nearest = next;
  }
  return nearest;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

// Gives each address one spelling: no port, no zone, and an IPv4-mapped IPv6 address as IPv4.
function plainAddress(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]+)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1")
    .replace(/%.*$/, "");
  const version = isIP(bare);
  if (version === 0) return null;
  if (version === 4) return bare;
  return new SocketAddress({ address: bare, family: "ipv6" }).address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, "");
}
