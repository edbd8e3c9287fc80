import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { PrivateAddress, isPrivate, publicLookup } from "./address.ts";

// Not imported, for the reason in api/http/node-http.ts.
const { request: httpRequest } = process.getBuiltinModule("node:http");

export type Reach = { isPrivateAllowed: boolean };
type Sent = Pick<RequestOptions, "method" | "headers" | "signal">;

// Starts a request to an address that a tenant has chosen. Each request uses a new connection, because there are many receivers, and
// a kept connection that the receiver closed would look like a failure.
export function startRequest(
  url: URL,
  { isPrivateAllowed }: Reach,
  sent: Sent,
  onAnswer: (answer: IncomingMessage) => void,
): ClientRequest {
  // The brackets of an IPv6 host belong to the URL, not to the address.
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A name is checked during lookup. A literal address is never looked up, so check it here.
  if (!isPrivateAllowed && isIP(host) !== 0 && isPrivate(host)) throw new PrivateAddress(host);
  const start = url.protocol === "https:" ? httpsRequest : httpRequest;
  return start(url, { ...sent, agent: false, ...(!isPrivateAllowed && { lookup: publicLookup }) }, onAnswer);
}
