import { disposableEmailBlocklist } from "disposable-email-domains-js";
import { countries, type City, type Country } from "./countries.ts";
import { newDevice, type Device } from "./device.ts";
import { pickSite, type Carrier, type Network, type Site } from "./network.ts";
import type { Random } from "./random.ts";
import type { Account } from "./visit.ts";

const dayMs = 86_400_000;

// People who live together share a connection, and some share a device.
export type Household = {
  random: Random;
  country: Country;
  city: City;
  site: Site;
  line: number;
  leaseEndsMs: number;
  movesMs: number;
};

// One address for everybody who works in an office, or for everybody who uses a library.
type SharedPlace = { site: Site; host: number; device: Device | null };

type Trip = { leavesMs: number; arrivesMs: number; returnsMs: number; homeMs: number; site: Site; host: number };

export type Habits = {
  visitsPerDay: number;
  // How many hours later than usual this person's day is.
  lateness: number;
  // How often the shop still recognizes the person, so that no log-in is needed.
  staysLoggedIn: number;
  logsOut: number;
  typos: number;
  buys: number;
  amountMedian: number;
  amountSigma: number;
  // Sells in the shop's marketplace and transfers the proceeds.
  sells: boolean;
  usesVpn: number;
  prefersPhone: number;
  rhythm: { sigma: number; speed: number };
};

export type Person = {
  account: Account;
  random: Random;
  country: Country;
  household: Household;
  devices: Device[];
  mobile: Carrier;
  office: SharedPlace | null;
  library: SharedPlace | null;
  habits: Habits;
  // Before the simulation for most people.
  joinsMs: number;
  silence: { fromMs: number; toMs: number } | null;
  trip: Trip | null;
  nextTripMs: number;
  // Somebody else has changed the password.
  isLockedOut: boolean;
  // Replaces the person's own connections.
  onlyAddress?: string;
  // The victim of an attack on a dormant account. No other attack may wake it first.
  isReserved?: true;
};

const peopleShares = {
  householdSizes: { "1": 0.62, "2": 0.24, "3": 0.1, "4": 0.04 },
  sharedMachine: 0.3,
  deviceCounts: { "1": 0.42, "2": 0.43, "3": 0.15 },
  worksInOffice: 0.35,
  colleagues: 25,
  readsInLibrary: 0.015,
  joinsWithin: 0.2,
  dormant: 0.08,
  sells: 0.12,
  usesVpn: 0.04,
  disposableMail: 0.006,
  tripsPerYear: 5,
};

const mailDomains: Record<string, number> = {
  "gmail.com": 40,
  "gmx.example": 14,
  "web.example": 10,
  "outlook.com": 12,
  "icloud.com": 10,
  "proton.me": 4,
  "mail.example": 10,
};
const names = "anna ben carla david elena felix greta hugo ida jonas karin luca mia nils olga paul rosa samir tina viktor".split(
  " ",
);
const disposable = disposableEmailBlocklist();

export function newAccount(random: Random, mail: "ordinary" | "disposable"): Account {
  const domain = mail === "disposable" ? random.pick(disposable) : random.pickShare(mailDomains);
  const email = `${random.pick(names)}.${random.pick(names)}${random.whole(1, 9999)}@${domain}`;
  return { id: `c${random.hex(1)}${random.hex(1).slice(0, 2)}`, email, logins: 0 };
}

function newHabits(random: Random, visitsPerDay: number): Habits {
  return {
    visitsPerDay: Math.min(6, random.logNormal(visitsPerDay * 0.7, 0.85)),
    lateness: random.normal(0, 1.5),
    staysLoggedIn: random.chance(0.3) ? random.between(0.5, 0.95) : random.between(0, 0.3),
    logsOut: random.chance(0.25) ? random.between(0.3, 0.9) : 0.03,
    typos: random.chance(0.35) ? random.between(0.1, 0.3) : random.between(0.01, 0.08),
    buys: random.between(0.08, 0.4),
    amountMedian: random.logNormal(48, 0.7),
    amountSigma: random.between(0.3, 0.8),
    sells: random.chance(peopleShares.sells),
    usesVpn: random.chance(peopleShares.usesVpn) ? random.between(0.2, 0.9) : 0,
    prefersPhone: random.between(0.2, 0.85),
    rhythm: { sigma: Math.min(1.4, Math.max(0.4, random.normal(0.85, 0.2))), speed: random.logNormal(1, 0.3) },
  };
}

export type PopulationOptions = {
  random: Random;
  network: Network;
  users: number;
  startMs: number;
  days: number;
  visitsPerDay: number;
};

export function buildPeople({ random, network, users, startMs, days, visitsPerDay }: PopulationOptions): Person[] {
  const people: Person[] = [];
  const places = new SharedPlaces(random.fork("places"), network, startMs);
  let deviceNumber = 0;
  for (let number = 0; people.length < users; number++) {
    const own = random.fork(`household-${number}`);
    const household = newHousehold(own, network, startMs);
    const { country } = household;
    const size = Number(own.pickShare(peopleShares.householdSizes));
    const isShared = size > 1 && own.chance(peopleShares.sharedMachine);
    const family = newDevice(own, { number: deviceNumber++, kind: own.pick(["desktop", "tablet"]), country, nowMs: startMs });
    for (let member = 0; member < size && people.length < users; member++) {
      const me = own.fork(`member-${member}`);
      const devices = newDevices(me, country, startMs, deviceNumber);
      deviceNumber += devices.length;
      if (isShared) devices.push(family);
      const isNew = me.chance(peopleShares.joinsWithin);
      people.push({
        account: newAccount(me, me.chance(peopleShares.disposableMail) ? "disposable" : "ordinary"),
        random: me,
        country,
        household,
        devices,
        mobile: me.pick(network.carriersOf(country, "mobile")),
        office: me.chance(peopleShares.worksInOffice) ? places.office(household) : null,
        library: me.chance(peopleShares.readsInLibrary) ? places.library(household) : null,
        habits: newHabits(me, visitsPerDay),
        joinsMs: isNew ? startMs + me.unit() * days * dayMs : startMs - me.exponential(400 * dayMs),
        silence: me.chance(peopleShares.dormant) ? silenceWithin(me, startMs, days) : null,
        trip: null,
        nextTripMs: startMs + me.exponential((365 / peopleShares.tripsPerYear) * dayMs),
        isLockedOut: false,
      });
    }
  }
  return people;
}

function silenceWithin(random: Random, startMs: number, days: number): { fromMs: number; toMs: number } {
  const fromMs = startMs + random.between(0, 0.35) * days * dayMs;
  return { fromMs, toMs: fromMs + random.between(0.3, 0.6) * days * dayMs };
}

function newHousehold(random: Random, network: Network, startMs: number): Household {
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const site = pickSite(random, network.carriersOf(country, "home"));
  return {
    random,
    country,
    city: site.city,
    site,
    line: random.word(),
    leaseEndsMs: startMs + random.exponential(site.carrier.leaseDays * dayMs),
    movesMs: startMs + random.exponential(1200 * dayMs),
  };
}

function newDevices(random: Random, country: Country, nowMs: number, firstNumber: number): Device[] {
  const count = Number(random.pickShare(peopleShares.deviceCounts));
  const kinds = random.chance(0.7) ? (["phone", "desktop", "tablet"] as const) : (["desktop", "phone", "desktop"] as const);
  return kinds.slice(0, count).map((kind, index) => newDevice(random, { number: firstNumber + index, kind, country, nowMs }));
}

// Offices fill up one after another in every city. A library serves its whole city.
class SharedPlaces {
  readonly #random: Random;
  readonly #network: Network;
  readonly #nowMs: number;
  readonly #offices = new Map<string, { place: SharedPlace; free: number }>();
  readonly #libraries = new Map<string, SharedPlace>();
  #devices = 1_000_000;

  constructor(random: Random, network: Network, nowMs: number) {
    this.#random = random;
    this.#network = network;
    this.#nowMs = nowMs;
  }

  office(household: Household): SharedPlace {
    const key = household.city.name;
    let office = this.#offices.get(key);
    if (office === undefined || office.free === 0) {
      const free = Math.max(2, Math.round(this.#random.exponential(peopleShares.colleagues)));
      office = { place: { ...this.#address(household), device: null }, free };
      this.#offices.set(key, office);
    }
    office.free--;
    return office.place;
  }

  library(household: Household): SharedPlace {
    const key = household.city.name;
    const known = this.#libraries.get(key);
    if (known !== undefined) return known;
    const { country } = household;
    const device = newDevice(this.#random, { number: this.#devices++, kind: "desktop", country, nowMs: this.#nowMs });
    const library = { ...this.#address(household), device };
    this.#libraries.set(key, library);
    return library;
  }

  #address({ country, city }: Household): { site: Site; host: number } {
    const sites = this.#network.carriersOf(country, "office").flatMap((carrier) => carrier.sites);
    const site = sites.find((each) => each.city.name === city.name) ?? this.#random.pick(sites);
    return { site, host: this.#random.word() };
  }
}
