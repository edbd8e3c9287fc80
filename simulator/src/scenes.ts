import { headlessUserAgent } from "./agents.ts";
import { crawl } from "./bots.ts";
import { countries, distanceKm } from "./countries.ts";
import { newDevice, type Device } from "./device.ts";
import { browse, buy, cents } from "./errands.ts";
import { visitorOf, visitShop } from "./life.ts";
import { addressV4, pickSite } from "./network.ts";
import { pages } from "./pages.ts";
import { newAccount, type Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Actor, Shop } from "./shop.ts";
import { humanRhythm, machineRhythm, Visit } from "./visit.ts";
import { popularAbroad } from "./whereabouts.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

// Scenes are honest but unusual. Nobody in a scene is an attacker, so every case is a false positive. Each scene happens in both
// halves of its period, so that the second half shows what was learned from the first.
export const sceneKinds = [
  "ordinary",
  "campaign",
  "carrier_nat",
  "holiday",
  "robots",
  "event_wifi",
  "large_shop",
  "new_customers",
  "kiosk",
  "popular_payee",
] as const;
export type SceneKind = (typeof sceneKinds)[number];

// The scene lasts from `fromMs` to `toMs`. Anything that is always unusual, such as a kiosk, is also part of the history.
type Scene = { kind: SceneKind; random: Random; historyMs: number; fromMs: number; toMs: number };

type Script = (shop: Shop, scene: Scene) => Actor[];

const sceneParameters = {
  sizeFactor: 10,
  campaign: { reached: 0.8, medianMs: 40 * minuteMs },
  carrierAddresses: 2,
  holidayDays: [0.35, 0.9],
  robots: { price: { everyMs: 30 * minuteMs, events: 24 }, monitor: { everyMs: 10 * minuteMs } },
  wifi: { customers: 60, lastsMs: 3.5 * hourMs, mistypes: 0.35, buys: 0.3 },
  kiosk: { patrons: 300, everyMs: 9 * minuteMs, opensHour: 7, closesHour: 20, mistypes: 0.1, buys: 0.25 },
  payee: { share: 0.5, reached: 0.8, withinMs: 45 * minuteMs, prices: [39, 65, 89] },
} as const;

// How many members the scene's shop has, if an ordinary one has this many.
export function membersIn(kind: SceneKind, users: number): number {
  return kind === "large_shop" ? users * sceneParameters.sizeFactor : users;
}

// Call it before anybody has entered the shop.
export function enterScene(shop: Shop, scene: Scene): void {
  for (const actor of scripts[scene.kind](shop, scene)) shop.enter(actor);
}

// One time in each half of the scene, at this hour (UTC).
function halves({ fromMs, toMs }: Scene, hour: number): number[] {
  return [0.1, 0.6].map((share) => {
    const dayStartMs = Math.ceil((fromMs + share * (toMs - fromMs)) / dayMs) * dayMs;
    return dayStartMs + hour * hourMs;
  });
}

function* each<T>(plan: { atMs: number; item: T }[], act: (item: T, atMs: number) => void): Actor {
  for (const { atMs, item } of plan.toSorted((a, b) => a.atMs - b.atMs)) {
    yield atMs;
    act(item, atMs);
  }
}

const hasJoined = (person: Person, atMs: number): boolean => person.joinsMs < atMs;

// Everybody gets the same e-mail, and most visit within two hours.
const campaign: Script = (shop, scene) => {
  const { random } = scene;
  const { reached, medianMs } = sceneParameters.campaign;
  const plan = halves(scene, 9).flatMap((sentMs) =>
    shop.people
      .filter((person) => hasJoined(person, sentMs) && random.chance(reached))
      .map((item) => ({ item, atMs: sentMs + random.logNormal(medianMs, 0.9) })),
  );
  return [each(plan, (person, atMs) => visitShop(shop, person, atMs))];
};

// All customers of a country use one mobile carrier, which has two addresses for all of them.
const carrierNat: Script = (shop, { random, historyMs }) => {
  for (const person of shop.people) {
    const { country } = person;
    const site = shop.network.carriersOf(country, "mobile")[0]?.sites[0];
    if (site === undefined) continue;
    person.onlyAddress = addressV4(site, 37 * random.whole(1, sceneParameters.carrierAddresses));
    const phones = person.devices.filter(({ kind }) => kind === "phone");
    const own = newDevice(random, { number: random.word(), kind: "phone", country, nowMs: historyMs });
    person.devices = phones.length > 0 ? phones : [own];
  }
  return [];
};

// Everybody travels abroad within a day or two, and again in the second half.
const holiday: Script = (shop, { random, fromMs, toMs }) => {
  const halfMs = (toMs - fromMs) / 2;
  const [shortest, longest] = sceneParameters.holidayDays;
  const plan = shop.people.flatMap((item) =>
    [fromMs, fromMs + halfMs].map((startMs) => ({ item, atMs: startMs + random.unit() * 0.1 * halfMs })),
  );
  return [
    each(plan, (person, atMs) => {
      const abroad = countries.filter(({ code }) => code !== person.country.code && popularAbroad.has(code));
      const site = pickSite(random, shop.network.carriersOf(random.pick(abroad), random.chance(0.6) ? "home" : "office"));
      const wayMs = 1.5 * hourMs + (distanceKm(person.household.city, site.city) / 600) * hourMs;
      const returnsMs = atMs + wayMs + random.between(shortest, longest) * (halfMs - 2 * wayMs);
      person.trip = { leavesMs: atMs, arrivesMs: atMs + wayMs, returnsMs, homeMs: returnsMs + wayMs, site, host: random.word() };
    }),
  ];
};

function* everyMs(fromMs: number, toMs: number, stepMs: number, act: (atMs: number) => void): Actor {
  for (let atMs = fromMs; atMs < toMs; atMs += stepMs) {
    yield atMs;
    act(atMs);
  }
}

function stationary(random: Random, country: (typeof countries)[number], nowMs: number): Device {
  const device = newDevice(random, { number: random.word(), kind: "desktop", country, nowMs });
  const fixed = {
    clockOffsetMs: 0,
    blocking: "none",
    isPrivate: false,
    clearing: 0,
    replacedMs: Number.POSITIVE_INFINITY,
  } as const;
  return { ...device, ...fixed };
}

// Two robots that the shop has allowed: one compares prices, the other checks that the pages load. Each run starts a new browser,
// and neither logs in.
const robots: Script = (shop, { random, fromMs, toMs }) => {
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const run = (atMs: number, ip: string, meanMs: number): Visit => {
    const device = stationary(random, country, atMs);
    const rhythm = machineRhythm(random, { meanMs, jitter: 0.1 });
    const userAgent = headlessUserAgent(atMs);
    const truth = { kind: "genuine" } as const;
    return new Visit(shop, { random, device, ip, zoneMinutes: 0, account: null, rhythm, userAgent, scrolls: 0, truth }, atMs);
  };
  const hosts = shop.network.carriersOf(country, "hosting");
  const [priceIp, monitorIp] = [
    addressV4(pickSite(random, hosts), random.word()),
    addressV4(pickSite(random, hosts), random.word()),
  ];
  const { price, monitor } = sceneParameters.robots;
  const compare = (atMs: number): void => {
    const visit = run(atMs, priceIp, 700);
    crawl(visit, price.events);
    visit.end();
  };
  const check = (atMs: number): void => void run(atMs, monitorIp, 1500).to(pages.home).to(pages.login).end();
  return [everyMs(fromMs, toMs, price.everyMs, compare), everyMs(fromMs + minuteMs, toMs, monitor.everyMs, check)];
};

// Sixty customers log in from the Wi-Fi of one event within an evening, and some mistype on their phones.
const eventWifi: Script = (shop, scene) => {
  const { random } = scene;
  const { customers, lastsMs, mistypes, buys } = sceneParameters.wifi;
  const country = random.pickWeighted(countries, ({ customers: weight }) => weight);
  const ip = addressV4(pickSite(random, shop.network.carriersOf(country, "office")), random.word());
  const plan = halves(scene, 18).flatMap((startMs) => {
    const here = shop.people.filter((person) => hasJoined(person, startMs)).map((person) => ({ person, order: random.unit() }));
    const chosen = here.toSorted((a, b) => a.order - b.order).slice(0, customers);
    return chosen.map(({ person: item }) => ({ item, atMs: startMs + random.unit() * lastsMs }));
  });
  return [
    each(plan, (person, atMs) => {
      const visitor = { ...visitorOf(shop, person, atMs), ip };
      const visit = new Visit(shop, visitor, atMs).to(pages.home).to(pages.login, 6000);
      for (let left = random.chance(mistypes) ? random.whole(1, 3) : 0; left > 0; left--) visit.failLogIn();
      visit.logIn();
      browse(visit, random.whole(1, 4));
      if (random.chance(buys)) buy(visit, cents(random.logNormal(person.habits.amountMedian, 0.4)), person.country.currency);
      visit.end();
    }),
  ];
};

// The shop opens: all of its customers sign up during the scene.
const newCustomers: Script = (shop, { random, fromMs, toMs }) => {
  for (const person of shop.people) {
    person.joinsMs = fromMs + random.between(0.01, 0.95) * (toMs - fromMs);
    person.silence = null;
  }
  return [];
};

// One device in a branch of the shop, on which hundreds of customers log in and out.
const kiosk: Script = (shop, { random, historyMs, toMs }) => {
  const { patrons, everyMs: gapMs, opensHour, closesHour, mistypes, buys } = sceneParameters.kiosk;
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const device = stationary(random, country, historyMs);
  const ip = addressV4(pickSite(random, shop.network.carriersOf(country, "office")), random.word());
  const accounts = Array.from({ length: patrons }, () => newAccount(random, "ordinary"));
  const isOpen = (atMs: number): boolean => {
    const hour = ((atMs + country.zoneMinutes * minuteMs) / hourMs) % 24;
    return hour >= opensHour && hour < closesHour;
  };
  const serve = (atMs: number): void => {
    if (!isOpen(atMs)) return;
    const rhythm = humanRhythm(random, { sigma: 0.6, speed: 2.5 });
    const truth = { kind: "genuine" } as const;
    const account = random.pick(accounts);
    const visitor = { random, device, ip, zoneMinutes: device.zoneMinutes, account, rhythm, truth };
    const visit = new Visit(shop, visitor, atMs).to(pages.login);
    if (random.chance(mistypes)) visit.failLogIn(3000);
    visit.logIn(4000);
    browse(visit, random.whole(1, 3));
    if (random.chance(buys)) buy(visit, cents(random.logNormal(40, 0.5)), country.currency);
    visit.logOut().end();
  };
  return [everyMs(historyMs + hourMs, toMs, gapMs, serve)];
};

// One payee receives half of all payments, and sells tickets to most customers within an hour.
const popularPayee: Script = (shop, scene) => {
  const { random } = scene;
  const { share, reached, withinMs, prices } = sceneParameters.payee;
  const payeeId = "seller-tickets";
  if (shop.till !== null) shop.till.favourite = { payeeId, share };
  const plan = halves(scene, 10).flatMap((startMs) =>
    shop.people
      .filter((person) => hasJoined(person, startMs) && random.chance(reached))
      .map((item) => ({ item, atMs: startMs + random.unit() * withinMs })),
  );
  return [
    each(plan, (person, atMs) => {
      const visit = new Visit(shop, visitorOf(shop, person, atMs), atMs).to(pages.home);
      if (visit.isKnown) visit.stayLoggedIn();
      else visit.to(pages.login, 5000).logIn();
      buy(visit, random.pick(prices), person.country.currency, { payee_id: payeeId });
      visit.end();
    }),
  ];
};

const nothing: Script = () => [];
const scripts: Record<SceneKind, Script> = {
  ordinary: nothing,
  campaign,
  carrier_nat: carrierNat,
  holiday,
  robots,
  event_wifi: eventWifi,
  large_shop: nothing,
  new_customers: newCustomers,
  kiosk,
  popular_payee: popularPayee,
};
