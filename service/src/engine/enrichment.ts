import { readFileSync } from "node:fs";
import { SocketAddress, isIPv6 } from "node:net";
import { parse } from "bowser";
import { isDisposableEmailDomain } from "disposable-email-domains-js";
import { isbot } from "isbot";
import { Reader } from "mmdb-lib";
import type { EnrichedActivity } from "../detection/scene.ts";
import { timeOf, type RecordedActivity } from "../domain/activity.ts";
import { blockOf } from "../domain/address.ts";
import { Cached } from "../domain/cached.ts";
import { firstCharacters } from "../domain/text.ts";

type Location = { country: string; asn: number; lat: number | null; lon: number | null };
type Address = { ip: string; location: Location };
type Agent = { browser: string; os: string; isBot: boolean };
export type EnrichmentFile = { type: string; built_at: string };

const cachedMax = 20_000;
// The browser name in a user agent can be as long as the user agent itself, and it is stored with the account's habits.
const nameCharacters = 32;
const nowhere: Location = { country: "", asn: 0, lat: null, lon: null };
// Scripts and headless browsers that identify themselves, in addition to the crawlers that `isbot` knows.
const scriptPattern = /HeadlessChrome|PhantomJS|puppeteer|playwright|selenium|python|curl|wget|Go-http-client|axios|node-fetch/i;

// Derives facts from an address, a user agent and an e-mail address. Uses only files on this machine; without them the facts are
// unknown.
export class Enrichment {
  readonly #readers: Reader<never>[];
  readonly files: EnrichmentFile[];
  readonly #addresses = new Cached<Address>(cachedMax, (given) => {
    const ip = plainIp(given);
    return { ip, location: this.#lookUp(ip) };
  });
  readonly #agents = new Cached<Agent>(cachedMax, readAgent);
  readonly #domains = new Cached<boolean>(cachedMax, (domain) =>
    withParents(domain).some((each) => isDisposableEmailDomain(each)),
  );

  // `databases` holds the contents of MaxMind files and `names` their names. For each fact, the first database that has it wins.
  constructor(databases: Buffer[], names: string[] = []) {
    this.#readers = databases.map((bytes, index) => readerOf(bytes, names[index] ?? "A file"));
    this.files = this.#readers.map(({ metadata }) => ({
      type: metadata.databaseType,
      built_at: metadata.buildEpoch.toISOString(),
    }));
  }

  static open(paths: string[]): Enrichment {
    return new Enrichment(
      paths.map((path) => readFileSync(path)),
      paths,
    );
  }

  enrich(activity: RecordedActivity): EnrichedActivity {
    const { user_agent: userAgent, attributes } = activity;
    const address = activity.ip === undefined ? null : this.#addresses.get(activity.ip);
    const location = address?.location ?? nowhere;
    const agent =
      userAgent === undefined || userAgent === "" ? { browser: "", os: "", isBot: false } : this.#agents.get(userAgent);
    const email = attributes?.["email"];
    const domain = typeof email === "string" ? email.slice(email.lastIndexOf("@") + 1).toLowerCase() : "";
    return {
      activity: address === null || address.ip === activity.ip ? activity : { ...activity, ip: address.ip },
      // A page starts as unverified and is trusted more once its user is confirmed.
      source: activity.origin === "server" ? "server" : "page",
      at: timeOf(activity),
      ...location,
      network: address === null ? "" : location.asn === 0 ? blockOf(address.ip) : `AS${location.asn}`,
      browser: agent.browser,
      os: agent.os,
      isBotAgent: agent.isBot,
      isDisposableEmail: domain !== "" && domain.length <= 253 && this.#domains.get(domain),
      value: valueOf(activity),
    };
  }

  #lookUp(ip: string): Location {
    const found = { ...nowhere };
    for (const reader of this.#readers) {
      // In an IPv4 tree, the first bits of an IPv6 address would lead to an unrelated entry.
      if (reader.metadata.ipVersion === 4 && ip.includes(":")) continue;
      const entry: unknown = reader.get(ip);
      found.country ||= text(member(member(entry, "country"), "iso_code")) || text(member(entry, "country"));
      found.asn ||= number(member(entry, "autonomous_system_number")) ?? 0;
      found.lat ??= number(member(member(entry, "location"), "latitude"));
      found.lon ??= number(member(member(entry, "location"), "longitude"));
    }
    return found;
  }
}

// The library's error does not name the file, so add the name.
function readerOf(bytes: Buffer, name: string): Reader<never> {
  try {
    return new Reader<never>(bytes);
  } catch (cause) {
    throw new Error(`${name} is not a MaxMind database`, { cause });
  }
}

function valueOf({ amount, attributes }: RecordedActivity): number {
  if (amount !== undefined) return Math.max(amount, 0);
  for (const name of ["amount", "value", "_value"]) {
    const value = attributes?.[name];
    if (typeof value === "number" && Number.isFinite(value)) return Math.max(value, 0);
  }
  return 0;
}

// Gives each address one spelling: without a zone, and with an IPv4-mapped IPv6 address as plain IPv4. Dual-stack servers report
// their IPv4 clients in the mapped form.
function plainIp(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const { address } = new SocketAddress({ address: ip.replace(/%.*$/, ""), family: "ipv6" });
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, "");
}

// `a.b.example`, `b.example`: providers of disposable addresses also hand out subdomains of their domains.
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

function readAgent(userAgent: string): Agent {
  const parsed = parse(userAgent);
  return {
    browser: firstCharacters(parsed.browser.name ?? "", nameCharacters),
    os: firstCharacters(parsed.os.name ?? "", nameCharacters),
    // `isbot` lists okhttp as a bot, but native Android apps use it.
    isBot: (isbot(userAgent) && !/\bokhttp\b/i.test(userAgent)) || scriptPattern.test(userAgent),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" && /^[A-Z]{2}$/.test(value) ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
