import { mallory, type Act, type Decided, type Ground } from "./ground.ts";
import { agents, sessionIdOf, strangeAgent } from "./page-event.ts";

export const minute = 60_000;
export const day = 24 * 60 * minute;

// A stage is reported and scored as a whole before the next one begins.
export type Stage = { name: string; acts: Act[] };
export type Story = { stages: Stage[] };

// Called before a stage is reported, and once more at the end. What it sends is scored before the stage is reported, unless it
// returns "racing". Then both are scored together.
export type Forgery = (stage: string) => Promise<"racing" | void>;

export async function play(ground: Ground, { stages }: Story, forge: Forgery = async () => {}): Promise<void> {
  for (const { name, acts } of stages) {
    if ((await forge(name)) !== "racing") await ground.settle();
    await ground.tell(acts);
  }
  await forge("end");
  await ground.settle();
}

export function actsOf({ stages }: Story, name?: string): Act[] {
  return stages.filter((stage) => name === undefined || stage.name === name).flatMap(({ acts }) => acts);
}

export type Person = { account: string; device: string; ip: string; agent: string };

export function uuidLike(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

function person(account: string, number: number, ip: string, agent?: string): Person {
  return { account, device: uuidLike(number), ip, agent: agent ?? agents[number % agents.length] ?? "" };
}

export function act(who: Person, type: string, at: number, more: Partial<Act> = {}): Act {
  const { account, device, ip, agent } = who;
  return { id: `${account}-${type}-${at}`, type, at, account, device, ip, agent, session: sessionIdOf(device, at), ...more };
}

// Days of log-ins and small payments, each in a session of its own.
export function historyOf(who: Person, base: number, days: number): Act[] {
  return Array.from({ length: days }, (_, index) => {
    const at = base - (days + 1 - index) * day;
    const session = sessionIdOf(who.device, at);
    const amount = 40 + ((index * 7) % 20);
    return [
      act(who, "login_succeeded", at, { session }),
      act(who, "payment", at + 5 * minute, { session, attributes: { amount } }),
    ];
  }).flat();
}

export const attacker = person(mallory, 666, "198.51.100.66", agents[0]);
export function attackerSession(base: number): string {
  return sessionIdOf(attacker.device, base - 30 * minute);
}
const customers = Array.from({ length: 6 }, (_, index) =>
  person(`customer-${index}`, 100 + index, `203.0.113.${10 + (index % 2)}`),
);
export const victims = customers.map(({ account }) => account);

// Other customers, whose log-ins define what is usual for everybody, and the attacker as a customer with a session that the shop
// knows. Their pages send events, so that a session without any is unusual.
export function crowd(base: number): Stage {
  const at = base - 30 * minute;
  const today = [...customers, attacker].flatMap((who) => {
    const session = sessionIdOf(who.device, at);
    return [act(who, "login_succeeded", at, { session }), act(who, "page_view", at + minute, { session })];
  });
  return { name: "crowd", acts: [...customers.flatMap((who) => historyOf(who, base, 8)), ...today] };
}

export const owner = person("ada", 7, "203.0.113.77", agents[1]);
export const thief: Person = { account: "ada", device: uuidLike(13), ip: "192.0.2.13", agent: strangeAgent };
export function thiefSession(base: number): string {
  return sessionIdOf(thief.device, base - 10 * minute);
}
export const stolen = 900;

// A stranger logs in, changes the password, adds a payee and pays far more than the owner ever did.
export function takeover(base: number, { hasPages = false, by = thief } = {}): Story {
  const session = sessionIdOf(by.device, base - 10 * minute);
  const at = (minutes: number) => base - 10 * minute + minutes * minute;
  const steal = (type: string, minutes: number, more: Partial<Act> = {}) => act(by, type, at(minutes), { session, ...more });
  // In a session that servers report, the thief's browser may run the shop's tag. That is behaviour, not forgery.
  const pages = hasPages ? [steal("page_view", 0.1), steal("page_view", 0.2)] : [];
  return {
    stages: [
      crowd(base),
      { name: "history", acts: historyOf(owner, base, 12) },
      { name: "login", acts: [...pages, steal("login_succeeded", 0)] },
      { name: "change", acts: [steal("password_changed", 2), steal("payee_added", 3)] },
      { name: "payment", acts: [steal("payment", 5, { attributes: { amount: stolen } })] },
    ],
  };
}
export const theft = ["login", "change", "payment"];

export type Spread = "device" | "address" | "network";
const stuffedMax = 40;
const stuffedAStage = 10;
export const stuffingDevice = uuidLike(4040);

export function stuffingIp(spread: Spread, index: number): string {
  return `192.0.2.${spread === "network" ? 40 + (index % 4) : 40}`;
}

export function stuffedAt(base: number, index: number): number {
  return base - 9 * minute + index * 4_000;
}

// One password for each of many accounts: from one device, from one address without a device, or from one block of addresses.
export function stuffing(base: number, spread: Spread): Story {
  const tried = Array.from({ length: stuffedMax }, (_, index): Act => ({
    id: `stuffed-${index}`,
    type: "login_failed",
    at: stuffedAt(base, index),
    account: `stuffed-${index}`,
    ip: stuffingIp(spread, index),
    agent: strangeAgent,
    ...(spread === "device" && { device: stuffingDevice }),
  }));
  const stages = Array.from({ length: stuffedMax / stuffedAStage }, (_, index) => ({
    name: `stuffing ${index * stuffedAStage}`,
    acts: tried.slice(index * stuffedAStage, (index + 1) * stuffedAStage),
  }));
  return { stages: [crowd(base), ...stages] };
}

// How many accounts had been tried when the first try was found suspicious. If none was, returns one more than the number of all
// tries.
export function foundAfter(story: Story, decisions: Map<string, Decided>): number {
  const tried = actsOf(story).filter(({ id }) => id.startsWith("stuffed-"));
  const first = tried.findIndex(({ id }) => (decisions.get(id)?.score ?? 0) >= 3);
  return first === -1 ? tried.length + 1 : first + 1;
}

export const officeIp = "203.0.113.200";
export const officeNeighbours = ["203.0.113.201", "203.0.113.202", "203.0.113.203"];

// People behind one address: log-ins, some of them on a new phone, sign-ups, a mistyped password, payments.
// Two of them are new customers. `hasPages`: whether their pages send events before they log in.
export function office(base: number, { hasPages = false } = {}): Story {
  const colleagues = Array.from({ length: 6 }, (_, index) => person(`colleague-${index}`, 300 + index, officeIp));
  const visit = (who: Person, index: number) => {
    const at = base - 20 * minute + index * minute;
    const today = index % 2 === 0 ? who : { ...who, device: uuidLike(900 + index), agent: agents[(index + 1) % 3] ?? "" };
    return { at, today, session: sessionIdOf(today.device, at) };
  };
  const doors = colleagues.map((who, index): Act => {
    const { at, today, session } = visit(who, index);
    const { account: _nobodyYet, ...page } = act(today, "page_view", at - 10_000, { session });
    return page;
  });
  const morning = (who: Person, index: number): Act[] => {
    const { at, today, session } = visit(who, index);
    const mistyped = index === 1 ? [act(today, "login_failed", at - 20_000, { session })] : [];
    const paid = act(today, "payment", at + 30_000, { session, attributes: { amount: 55 } });
    return [...mistyped, act(today, "login_succeeded", at, { session }), paid];
  };
  const signUp = (index: number) => {
    const who = person(`newcomer-${index}`, 500 + index, officeIp);
    return act(who, "signup", base - 10 * minute + index * minute, { attributes: { email: `n${index}@company.example` } });
  };
  return {
    stages: [
      crowd(base),
      { name: "history", acts: colleagues.slice(2).flatMap((who) => historyOf(who, base, 6)) },
      { name: "doors", acts: hasPages ? doors : [] },
      { name: "morning", acts: colleagues.slice(0, 3).flatMap(morning) },
      { name: "noon", acts: [...colleagues.slice(3).flatMap((who, index) => morning(who, index + 3)), signUp(0), signUp(1)] },
    ],
  };
}
export const innocent = ["morning", "noon"];

// A shop whose pages send nothing, so that everything that is known about everybody comes from its servers.
export function quietShop(base: number): Story {
  const today = customers.flatMap((who, index) => {
    const at = base - 20 * minute + index * minute;
    const phone: Person = { ...who, device: uuidLike(700 + index), ip: `192.0.2.${100 + index}`, agent: strangeAgent };
    const session = sessionIdOf(phone.device, at);
    return [
      act(phone, "login_succeeded", at, { session }),
      act(phone, "payment", at + 30_000, { session, attributes: { amount: 70 } }),
      act(phone, "email_changed", at + 40_000, { session }),
    ];
  });
  return {
    stages: [
      { name: "history", acts: customers.flatMap((who) => historyOf(who, base, 8)) },
      { name: "today", acts: today },
    ],
  };
}
