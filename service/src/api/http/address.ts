import type { IncomingMessage } from "node:http";
import { SocketAddress, isIP, type BlockList } from "node:net";
import { headerLines } from "./headers.ts";

// As many as a chain of proxies can sensibly have; whoever sends more is padding.
const hopsMax = 32;

// Where a request comes from. Every proxy writes whom it got the request from behind what was there already, so only the
// right end can be believed, and only as far as the writers are ours.
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

// One spelling for each address: no port, no zone, and an IPv4 address inside of an IPv6 one is that IPv4 address.
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
