import type { Random } from "@casehound/simulator/random";
import { loginsOf, newGuise, repeat, type Guise } from "./forge.ts";
import type { Act, Decided, Ground, World } from "./ground.ts";
import { strangeAgent, type PageEvent, type PageRequest, type Shape } from "./page-event.ts";
import {
  actsOf,
  attacker,
  attackerSession,
  foundAfter,
  minute,
  owner,
  play,
  stolen,
  stuffedAt,
  stuffing,
  stuffingDevice,
  stuffingIp,
  takeover,
  theft,
  thief,
  thiefSession,
  type Forgery,
  type Spread,
  type Story,
} from "./story.ts";
import { openGround, shapesOf, type Setting, type Trial } from "./trial.ts";

export const movedMax = 0.1;

export type Played = { ground: Ground; decisions: Map<string, Decided> };

// Runs a story on a new tenant. Two runs of one story differ only in the forgery.
export async function playOn(
  setting: Setting,
  world: World,
  story: Story,
  forge: (ground: Ground) => Forgery = () => async () => {},
): Promise<Played> {
  const ground = await openGround(setting, world);
  await play(ground, story, forge(ground));
  return { ground, decisions: await ground.decisions(actsOf(story)) };
}

export type Moved = { fall: number; rise: number; scores: number; where: string };

// How far the log-odds of these acts moved. If an act has no decision, it counts as an infinite fall.
export function movedBetween(acts: Act[], clean: Played, forged: Played): Moved {
  const moved: Moved = { fall: 0, rise: 0, scores: 0, where: "" };
  for (const { id } of acts) {
    const [before, after] = [clean.decisions.get(id), forged.decisions.get(id)];
    const change = before && after ? after.logOdds - before.logOdds : -Infinity;
    if (-change > moved.fall)
      moved.where = `${id}: ${before?.logOdds} became ${after?.logOdds}, rules ${before?.rules.join(" ")} became ${after?.rules.join(" ")}`;
    moved.fall = Math.max(moved.fall, -change);
    moved.rise = Math.max(moved.rise, change);
    if ((after?.score ?? 0) > (before?.score ?? 0)) moved.scores++;
  }
  return moved;
}

// The largest log-odds of these acts.
export function strongest({ decisions }: Played, acts: Act[]): number {
  return Math.max(...acts.map(({ id }) => decisions.get(id)?.logOdds ?? -Infinity));
}

type Disguise = { guise: Guise; base: number; shape: Shape };

// Log-ins and amounts that would make the thief look like the owner, and the thief's browser like everybody's.
function whitewash({ guise, base, shape }: Disguise, from: number, ids: string[] = []): PageRequest[] {
  const { device, session, ip } = guise;
  const step = (type: string, index: number, more: Partial<PageEvent> = {}): PageEvent => ({
    type,
    at: from + index * minute,
    account: owner.account,
    device,
    session,
    ...more,
  });
  const events = [
    ...repeat(5, (index) => step("login_succeeded", index)),
    ...repeat(17, (index) => step("payment", index, { attributes: { amount: stolen } })),
    // Uses the activity ids that the shop is about to send.
    ...ids.map((id, index) => step("login_succeeded", index, { id })),
  ];
  const invented = repeat(40, (index) => `invented-${from - base}-${index}`);
  const everybody = { at: (index: number) => from + index * 1000, type: "login_succeeded", agent: strangeAgent } as const;
  return [{ events, ip, shape, agent: strangeAgent }, loginsOf(guise, invented, everybody, shape)];
}

// 100 page views and failed log-ins, to push older events out of memory.
function drown({ guise, base, shape }: Disguise): PageRequest {
  const { device, session, ip } = guise;
  const events = repeat(100, (index): PageEvent => ({
    type: index % 2 === 0 ? "login_failed" : "page_view",
    at: base - 9 * minute + index * 100,
    account: owner.account,
    device,
    session,
  }));
  return { events, ip, shape, agent: strangeAgent };
}

// At every stage: before the account's first log-in, dated before it, in between, and during the theft.
function hiding(ground: Ground, story: Story, disguise: Disguise): Forgery {
  const { base } = disguise;
  // A shop's pages use ids that nobody can guess. Its servers' ids may be order numbers.
  const guessed = (stage: string) =>
    ground.world === "server" ? actsOf(story, stage).filter(({ type }) => type !== "page_view") : [];
  const idsOf = (stage: string) => guessed(stage).map(({ id }) => id);
  const long = base - 30 * 24 * 60 * minute;
  const requestsAt: Record<string, () => PageRequest[]> = {
    history: () => whitewash(disguise, long, idsOf("history")),
    login: () => [...whitewash(disguise, long + minute), ...whitewash(disguise, base - 60 * minute, idsOf("login"))],
    change: () => [...whitewash(disguise, base - 9 * minute), drown(disguise)],
    payment: () => [...whitewash(disguise, base - 6 * minute, idsOf("payment")), drown(disguise)],
  };
  return async (stage) => {
    for (const request of requestsAt[stage]?.() ?? []) await ground.collect(request);
  };
}

// The apparent senders of the forged events: the thief's device in a session without an account, the attacker's own session with
// the thief's device, and the thief's own session, which the shop ties to the account when the thief logs in.
const disguises = {
  "the thief's device": (base: number, random: Random): Guise => ({ ...newGuise(random, base, thief.ip), device: thief.device }),
  "the attacker's own session": (base: number): Guise => ({
    device: thief.device,
    session: attackerSession(base),
    ip: attacker.ip,
  }),
  "the thief's own session": (base: number): Guise => ({ device: thief.device, session: thiefSession(base), ip: thief.ip }),
};
type DisguiseName = keyof typeof disguises;

function hideTheft(world: "server" | "signed", name: DisguiseName): Trial {
  const attack = `hide a take-over, from ${name}`;
  const isOwn = name === "the thief's own session";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger, random } = setting;
      const base = Date.now();
      // A thief whose own session contains page events avoids a rule. That is measured separately below, so both runs contain
      // those events.
      const story = takeover(base, { hasPages: isOwn });
      const acts = theft.flatMap((stage) => actsOf(story, stage));
      const clean = await playOn(setting, world, story);
      const found = await clean.ground.cases(`website_account_id=${owner.account}`);
      if (found.length === 0)
        ledger.fail(`${attack}, ${world}: the take-over opens no case even without forgery, so this proves nothing`);
      for (const shape of shapesOf(setting)) {
        const guise = disguises[name](base, random);
        const forged = await playOn(setting, world, story, (ground) => hiding(ground, story, { base, shape, guise }));
        const moved = movedBetween(acts, clean, forged);
        const row = { attack, world };
        // Whoever holds the account's token can send what the account's page could send. Measured, without a goal.
        if (isOwn && world === "signed") ledger.note({ ...row, what: "log-odds of the take-over fell by" }, moved.fall);
        else ledger.goal({ ...row, what: "log-odds of the take-over fell by" }, moved.fall, movedMax, moved.where);
        ledger.note({ ...row, what: "log-odds of the take-over rose by" }, moved.rise);
        const still = await forged.ground.cases(`website_account_id=${owner.account}`);
        ledger.goal({ ...row, what: "cases of the take-over lost" }, found.length - still.length, 0);
      }
    },
  };
}

// Measures what changes if the thief's browser runs the tag, as any customer's does. That is behaviour and not forgery, so there
// is no goal.
function runTag(): Trial {
  const attack = "a thief who runs the tag in the session";
  return {
    attack,
    world: "server",
    run: async (setting) => {
      const base = Date.now();
      const story = takeover(base);
      const acts = theft.flatMap((stage) => actsOf(story, stage));
      const clean = await playOn(setting, "server", story);
      const tagged = await playOn(setting, "server", takeover(base, { hasPages: true }));
      const { fall } = movedBetween(acts, clean, tagged);
      setting.ledger.note({ attack, world: "server", what: "log-odds of the take-over fell by" }, fall);
      setting.ledger.note({ attack, world: "server", what: "log-odds of the take-over without it" }, strongest(clean, acts));
    },
  };
}

// The tenant uses only the snippet while the attacker prepares, and starts to send server activity afterwards.
function prepare(): Trial {
  const attack = "hide a take-over, before the tenant's first server activity";
  const world = "server";
  return {
    attack,
    world,
    run: async (setting) => {
      const base = Date.now();
      const story = takeover(base);
      const acts = theft.flatMap((stage) => actsOf(story, stage));
      const clean = await playOn(setting, world, story);
      for (const shape of shapesOf(setting)) {
        const guise = disguises["the thief's device"](base, setting.random);
        const forged = await playOn(setting, world, story, (ground) => async (stage) => {
          if (stage !== "crowd") return;
          const requests = whitewash({ guise, base, shape }, base - 30 * 24 * 60 * minute);
          for (const request of [...requests, drown({ guise, base, shape })]) await ground.collect(request);
        });
        const { fall, where } = movedBetween(acts, clean, forged);
        setting.ledger.goal({ attack, world, what: "log-odds of the take-over fell by" }, fall, movedMax, where);
      }
    },
  };
}

const noiseAStage = 32;

// Forges successes of invented accounts, to lower the ratio, and failures of one account, to fill the memory, from the same
// place.
function noise(ground: Ground, { base, shape, spread }: { base: number; shape: Shape; spread: Spread }): Forgery {
  return async (stage) => {
    const [word, from = ""] = stage.split(" ");
    if (word !== "stuffing") return;
    const first = Number(from);
    const at = (index: number) => stuffedAt(base, first) + index * 200;
    const account = repeat(noiseAStage, (index) => `invented-${first}-${index}`);
    for (let which = 0; which < (spread === "network" ? 4 : 1); which++) {
      const ip = stuffingIp(spread, which);
      // If the stuffing has no device, each address gets one of the attacker's own.
      const device = spread === "device" ? stuffingDevice : `${stuffingDevice.slice(0, -1)}${which}`;
      const guise: Guise = { device, session: `${device.slice(-8)}-forged`, ip };
      await ground.collect(loginsOf(guise, account, { at, type: "login_succeeded", agent: strangeAgent }, shape));
      const same = repeat(noiseAStage, () => "one");
      await ground.collect(loginsOf(guise, same, { at, type: "login_failed", agent: strangeAgent }, shape));
    }
  };
}

function hideStuffing(world: "server" | "signed", spread: Spread): Trial {
  const attack = `hide stuffing by ${spread}`;
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const story = stuffing(base, spread);
      const clean = await playOn(setting, world, story);
      const count = foundAfter(story, clean.decisions);
      ledger.note({ attack, world, what: "accounts tried when found, without forgery" }, count);
      for (const shape of shapesOf(setting)) {
        const forged = await playOn(setting, world, story, (ground) => noise(ground, { base, shape, spread }));
        ledger.goal({ attack, world, what: "accounts tried when found" }, foundAfter(story, forged.decisions), count);
        const about = (await forged.ground.cases()).filter(({ website_account_id: id }) => id === "UNKNOWN");
        ledger.goal({ attack, world, what: "cases of the stuffing lost" }, about.length === 0 ? 1 : 0, 0);
      }
    },
  };
}

export const hideTrials: Trial[] = [
  ...(["server", "signed"] as const).flatMap((world) => [
    ...(Object.keys(disguises) as DisguiseName[]).map((name) => hideTheft(world, name)),
    ...(["device", "address", "network"] as const).map((spread) => hideStuffing(world, spread)),
  ]),
  runTag(),
  prepare(),
];
