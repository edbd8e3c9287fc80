import { acceptLanguage, userAgentAt } from "@casehound/simulator/agents";
import { attackerCountry, attackerDevice, proxyAddress } from "@casehound/simulator/attack";
import type { BrowserRequest } from "@casehound/simulator/delivery";
import { Network } from "@casehound/simulator/network";
import { pages } from "@casehound/simulator/pages";
import { Random } from "@casehound/simulator/random";
import type { Client } from "@casehound/simulator/sdk-request";
import { newStorage, SdkSession } from "@casehound/simulator/sdk";
import { actions } from "../service/src/domain/finding.ts";
import { unknownAccount } from "../service/src/domain/account.ts";
import { blockOf } from "../service/src/domain/address.ts";
import { origin, type Progress, type SimulatedService } from "./detection-service.ts";
import { dayMs } from "./detection-shop.ts";

// Somebody who has read a page of a shop that uses only the snippet, and who accuses its members with forged events. Each address
// is in its own block, and each victim gets a separate device and session.
export type Forger = { addresses: number; paceMs: number };
export type Forged = {
  addresses: number;
  hours: number;
  victims: number;
  onAccounts: number;
  // The highest values among the cases on accounts.
  score: number | null;
  action: string | null;
  onSources: number;
};

const hourMs = 3_600_000;
// If the forger is slow, each name is scored in its own batch, as by an idle engine.
const promptMs = 10_000;
const failures = 6;
const isDriven = { _casehound_webdriver: true };
// All at once, or spread over one day by the service's clock.
const forgers: readonly Forger[] = [1, 10, 100].flatMap((addresses) => [0, 22 * hourMs].map((paceMs) => ({ addresses, paceMs })));

export type ForgedShop = { users: number; historyDays: number; endMs: number };

export async function measureForgers(
  service: SimulatedService,
  shop: ForgedShop,
  { wanted = forgers, onProgress }: { wanted?: readonly Forger[]; onProgress: Progress },
): Promise<Forged[]> {
  const measured: Forged[] = [];
  for (const forger of wanted) measured.push(await measureForger(service, shop, forger, onProgress));
  return measured;
}

// Each forger gets a new shop, so that none profits from what another did.
async function measureForger(
  service: SimulatedService,
  { users, historyDays, endMs }: ForgedShop,
  forger: Forger,
  onProgress: Progress,
): Promise<Forged> {
  const seed = `forger-${forger.addresses}-${forger.paceMs / hourMs}`;
  const period = { startMs: endMs - historyDays * dayMs, measuredMs: endMs, endMs };
  const opened = await service.open(period);
  const { truths } = await service.live(opened, { seed, users, voice: { kind: "snippet" }, period, onProgress });
  const victims = [...new Set(truths.flatMap((truth) => (truth.has_login ? (truth.website_account_id ?? []) : [])))];
  const before = new Set((await service.cases(opened.tenant_id)).map((each) => each.case_id));
  const requests = forgedRequests(victims, { ...forger, seed, appKey: opened.app_key, startMs: endMs + hourMs });
  await service.bring(opened, requests, { seed, onProgress, everyMs: promptMs });
  const made = (await service.cases(opened.tenant_id)).filter((each) => !before.has(each.case_id));
  const [onSources, onAccounts] = [true, false].map((isOfSource) =>
    made.filter((each) => (each.website_account_id === unknownAccount) === isOfSource),
  );
  const given = (onAccounts ?? []).map(({ details }) => details);
  const strongest = Math.max(...given.map((each) => actions.indexOf(each.recommended_action)));
  return {
    addresses: forger.addresses,
    hours: forger.paceMs / hourMs,
    victims: victims.length,
    onAccounts: given.length,
    score: given.length === 0 ? null : Math.max(...given.map((each) => each.overall_risk_score)),
    action: actions[strongest] ?? null,
    onSources: onSources?.length ?? 0,
  };
}

type Forging = Forger & { seed: string; appKey: string; startMs: number };

function forgedRequests(victims: string[], { addresses, paceMs, seed, appKey, startMs }: Forging): BrowserRequest[] {
  const random = new Random(seed);
  const places = addressesIn(random, addresses);
  const settings = { appKey, appId: appKey, origin, sendIntervalMs: Number.POSITIVE_INFINITY };
  const requests = victims.flatMap((victim, index) => {
    const atMs = startMs + (paceMs * index) / victims.length;
    const sent: BrowserRequest[] = [];
    const client = clientAt(random, places[index % places.length] ?? "", atMs);
    const page = new SdkSession({ storage: newStorage(random, atMs), client, settings, random }, atMs, (each) => sent.push(each));
    accuse(page, victim, atMs);
    return sent;
  });
  return requests.toSorted((a, b) => a.at_ms - b.at_ms);
}

// Everything that looks suspicious: guessed passwords, a log-in, a changed address and a large transfer, from a browser that a
// program controls.
function accuse(page: SdkSession, accountId: string, atMs: number): void {
  const report = (type: string, attributes: Record<string, string | number | boolean>, afterMs: number): void =>
    page.report(type, atMs + afterMs, { attributes: { ...attributes, ...isDriven }, accountId });
  page.open(pages.login, atMs + 50);
  for (let n = 0; n < failures; n++) report("login_failed", { method: "password" }, 100 + 100 * n);
  page.setUser(accountId, atMs + 1000);
  report("login_succeeded", { method: "password" }, 1001);
  page.open(pages.wallet, atMs + 1200);
  report("email_changed", {}, 1500);
  report("transfer", { amount: 5000, currency: "EUR" }, 1900);
  page.send(atMs + 2000);
}

function addressesIn(random: Random, count: number): string[] {
  const network = new Network();
  const byBlock = new Map<string, string>();
  while (byBlock.size < count) {
    const address = proxyAddress(random, network, attackerCountry(random));
    byBlock.set(blockOf(address), address);
  }
  return [...byBlock.values()];
}

function clientAt(random: Random, ip: string, atMs: number): Client {
  const { agent, locale, zoneMinutes } = attackerDevice(random, attackerCountry(random), atMs);
  return {
    userAgent: userAgentAt(agent, atMs),
    acceptLanguage: acceptLanguage(locale),
    locale,
    zoneOffsetMs: zoneMinutes * 60_000,
    clockOffsetMs: 0,
    screen: agent.screen,
    viewport: agent.viewport,
    ip,
  };
}
