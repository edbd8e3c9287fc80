import { setTimeout as sleep } from "node:timers/promises";
import { failures, loginsOf, newGuise, ownAddress, repeat, signUps, type Guise } from "./forge.ts";
import type { Ground } from "./ground.ts";
import { movedBetween, movedMax, playOn } from "./hide.ts";
import { agents, strangeAgent, type PageRequest, type Shape } from "./page-event.ts";
import { actsOf, innocent, minute, office, officeIp, officeNeighbours, quietShop, victims, type Forgery } from "./story.ts";
import { shapesOf, type Setting, type Trial } from "./trial.ts";

// A colleague forges sign-ups, log-ins and failures from the address that all of them share, and from its neighbours.
function fromTheOffice(setting: Setting, base: number, shape: Shape): (ground: Ground) => Forgery {
  const at = (index: number) => base - 21 * minute + index * 500;
  return (ground) => async (stage) => {
    if (!innocent.includes(stage)) return;
    const farm = repeat(12, (index) => `farm-${stage}-${index}`);
    for (const ip of [officeIp, ...officeNeighbours]) {
      const guise: Guise = newGuise(setting.random, base, ip);
      await ground.collect(signUps(guise, farm, base - minute, shape));
      await ground.collect(loginsOf(guise, farm, { at, type: "login_failed", agent: agents[0] }, shape));
      await ground.collect(
        loginsOf(
          guise,
          repeat(30, (index) => `spray-${index}`),
          { at, type: "login_failed", agent: agents[1] },
          shape,
        ),
      );
      await ground.collect(loginsOf(guise, farm, { at, type: "login_succeeded", agent: agents[2] }, shape));
      for (const request of failures([guise], { account: "colleague-1", at: base }, shape)) await ground.collect(request);
    }
  };
}

function shareAddress(world: "server" | "signed"): Trial {
  const attack = "forge from an office's address";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const story = office(base);
      const acts = innocent.flatMap((stage) => actsOf(story, stage));
      const clean = await playOn(setting, world, story);
      for (const shape of shapesOf(setting)) {
        const forged = await playOn(setting, world, story, fromTheOffice(setting, base, shape));
        const { fall, rise, scores } = movedBetween(acts, clean, forged);
        ledger.goal({ attack, world, what: "log-odds of innocents rose by" }, rise, movedMax);
        ledger.goal({ attack, world, what: "log-odds of innocents fell by" }, fall, movedMax);
        ledger.goal({ attack, world, what: "innocents with a higher score" }, scores, 0);
        const accused = (await forged.ground.cases()).filter(({ website_account_id: id }) => id !== "UNKNOWN");
        const before = (await clean.ground.cases()).filter(({ website_account_id: id }) => id !== "UNKNOWN");
        ledger.goal({ attack, world, what: "cases on accounts" }, accused.length - before.length, 0);
      }
    },
  };
}

// A flood from the office's address uses up its quota. Page events of the colleagues are dropped, so their sessions seem to have
// no browser. That must not count against them.
function useUpQuota(): Trial {
  const attack = "use up an office's quota";
  const world = "server";
  return {
    attack,
    world,
    isFlood: true,
    run: async (setting) => {
      const { ledger, random } = setting;
      const base = Date.now();
      const story = office(base, { hasPages: true });
      const acts = innocent.flatMap((stage) => actsOf(story, stage));
      const clean = await playOn(setting, world, story);
      const newNames = (count: number): PageRequest => {
        const events = repeat(count, (index) => {
          const { device, session } = newGuise(random, base, "");
          return { type: "_page_view", at: base - index, device, session };
        });
        return { events, ip: officeIp, agent: agents[0], shape: "tag", isLean: true };
      };
      const over = new AbortController();
      let pressing = Promise.resolve();
      const forged = await playOn(setting, world, story, (ground) => async (stage) => {
        if (stage === "morning") {
          over.abort();
          await pressing;
        }
        if (stage !== "doors") return undefined;
        await ground.collect(newNames(1000));
        pressing = (async () => {
          while (!over.signal.aborted) await Promise.all([ground.collect(newNames(20)), sleep(100)]);
        })();
        return "racing";
      });
      const { rise, scores } = movedBetween(acts, clean, forged);
      ledger.goal({ attack, world, what: "log-odds of innocents rose by" }, rise, movedMax);
      ledger.goal({ attack, world, what: "innocents with a higher score" }, scores, 0);
    },
  };
}

// Forges page events in a shop whose pages send none, and log-ins that would change what is usual for everybody.
function everybody(setting: Setting, base: number, shape: Shape): PageRequest[] {
  const at = (index: number) => base - 60 * minute + index * 100;
  return agents.flatMap((agent, index) => {
    const guise = newGuise(setting.random, base, ownAddress(index));
    const near = newGuise(setting.random, base, `203.0.113.${90 + index}`);
    const invented = repeat(60, (each) => `invented-${index}-${each}`);
    const pages = { ...loginsOf(guise, [...victims, undefined], { at, type: "login_succeeded", agent }, shape) };
    return [
      { ...pages, events: pages.events.map((event) => ({ ...event, type: "_page_view" })) },
      loginsOf(guise, invented, { at, type: "login_succeeded", agent }, shape),
      loginsOf(near, invented, { at, type: "login_succeeded", agent: strangeAgent }, shape),
      loginsOf(near, invented, { at, type: "login_failed", agent }, shape),
    ];
  });
}

function steerEverybody(): Trial {
  const attack = "steer what is usual for everybody";
  const world = "server";
  return {
    attack,
    world,
    run: async (setting) => {
      const base = Date.now();
      const story = quietShop(base);
      const clean = await playOn(setting, world, story);
      for (const shape of shapesOf(setting)) {
        const forged = await playOn(setting, world, story, (ground) => async (stage) => {
          if (stage !== "today") return;
          for (const request of everybody(setting, base, shape)) await ground.collect(request);
        });
        const { fall, rise, where } = movedBetween(actsOf(story), clean, forged);
        setting.ledger.goal({ attack, world, what: "log-odds of others moved by" }, Math.max(fall, rise), 0, where);
      }
    },
  };
}

export const steerTrials: Trial[] = [shareAddress("server"), shareAddress("signed"), steerEverybody(), useUpQuota()];
