import { collidingNames } from "../../service/test/colliding-names.ts";
import { repeat } from "./forge.ts";
import type { Act } from "./ground.ts";
import { movedMax, playOn, strongest } from "./hide.ts";
import { agents, strangeAgent } from "./page-event.ts";
import { act, actsOf, crowd, foundAfter, minute, stuffing, uuidLike, type Stage, type Story } from "./story.ts";
import type { Trial } from "./trial.ts";

// Many accounts are attacked from one source, in a shop whose server reports the truth. The attacker chooses devices, addresses and
// account names so that the source is not found. The control is the same attack without that.
const world = "server";

const padsPerTry = 10;
// This many failing accounts are an attack, whoever else logs in at the source.
const accountsOfAnySource = 24;

function isTried({ name }: Stage): boolean {
  return name.startsWith("stuffing");
}

// Before each try, the attacker's own accounts log in or fail at the same address.
function padded({ stages }: Story, accounts: number, types: string[]): Story {
  let count = 0;
  const pad = (tried: Act, index: number): Act => ({
    ...tried,
    id: `own-${count}`,
    type: types[count % types.length] ?? "",
    account: `own-${Math.floor(count++ / types.length) % accounts}`,
    at: tried.at - 2000 + index * 100,
  });
  const padAll = (acts: Act[]) => acts.flatMap((each) => [...repeat(padsPerTry, (index) => pad(each, index)), each]);
  return { stages: stages.map((stage) => (isTried(stage) ? { ...stage, acts: padAll(stage.acts) } : stage)) };
}

const paddings: Record<string, string[]> = {
  "log-ins": ["login_succeeded"],
  failures: ["login_failed"],
  "log-ins and failures": ["login_succeeded", "login_failed"],
};

function padStuffing(): Trial {
  const attack = "own cookies, padded stuffing from one address";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger, random, scale } = setting;
      const story = stuffing(Date.now(), "address");
      const control = foundAfter(story, (await playOn(setting, world, story)).decisions);
      ledger.note({ attack, world, what: "accounts tried when found, without padding" }, control);
      const tried = Object.entries(paddings);
      for (const [name, types] of scale === "full" ? tried : [random.pick(tried)]) {
        for (const accounts of scale === "full" ? [1, 3] : [3]) {
          const hidden = await playOn(setting, world, padded(story, accounts, types));
          const where = `${name} of ${accounts} own accounts`;
          ledger.goal({ attack, world, what: "accounts tried when found" }, foundAfter(story, hidden.decisions), control, where);
          const lost = (await hidden.ground.casesAbout("ip:")) === 0 ? 1 : 0;
          ledger.goal({ attack, world, what: "cases of the stuffing lost" }, lost, 0, where);
        }
      }
      if (scale === "short") return;
      // The rule allows two failing accounts for each account that logs in. So each own account hides two victims, but the
      // attack is always found at 24.
      for (const own of [6, 24]) {
        const many = await playOn(setting, world, padded(story, own, ["login_succeeded"]));
        const what = `accounts tried when found, with ${own} own accounts that log in`;
        ledger.goal({ attack, world, what }, foundAfter(story, many.decisions), accountsOfAnySource);
      }
    },
  };
}

// Wrong passwords, one for each try, in the order of the tries.
function tries(base: number, count: number, make: (index: number) => Partial<Act>): Story {
  const acts = repeat(count, (index): Act => ({
    id: `stuffed-${index}`,
    type: "login_failed",
    at: base - 9 * minute + index * 1000,
    account: `stuffed-${index}`,
    ip: "192.0.2.40",
    agent: strangeAgent,
    ...make(index),
  }));
  return { stages: [crowd(base), { name: "tries", acts }] };
}

const cookieTries = 200;
const casesMax = 2;
// The rule about an address needs this many accounts. With fewer than five tries on each device, only that rule can match.
const accountsOfAddress = 8;

function changeCookies(triesPerCookie: number): Trial {
  const attack = `own cookies, stuffing with a new device for every ${triesPerCookie === 1 ? "try" : `${triesPerCookie} tries`}`;
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const withCookie = (cookie: (index: number) => number) =>
        tries(base, cookieTries, (index) => ({ account: `stuffed-${index % 40}`, device: uuidLike(7000 + cookie(index)) }));
      const naive = withCookie(() => 0);
      const control = await playOn(setting, world, naive);
      const story = withCookie((index) => Math.floor(index / triesPerCookie));
      const hidden = await playOn(setting, world, story);
      const count = foundAfter(naive, control.decisions);
      ledger.note({ attack, world, what: "accounts tried when found, with one device" }, count);
      const most = triesPerCookie >= count ? count : accountsOfAddress;
      ledger.goal({ attack, world, what: "accounts tried when found" }, foundAfter(story, hidden.decisions), most);
      const subjects = await hidden.ground.subjects();
      const aboutAddress = await hidden.ground.casesAbout("ip:");
      ledger.goal({ attack, world, what: "cases of the address lost" }, 1 - aboutAddress, 0, subjects.join(", "));
      ledger.goal({ attack, world, what: "cases in all" }, subjects.length, casesMax, subjects.slice(0, 5).join(", "));
    },
  };
}

const farm = { device: uuidLike(8000), ip: "192.0.2.80", agent: agents[0] };

function collide(): Trial {
  const attack = "own cookies, sign-ups whose names collide";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const names = collidingNames();
      const signUpAll = (accounts: string[]): Story => {
        const acts = accounts.map((account, index) =>
          act({ ...farm, account }, "signup", base - 9 * minute + index * 10_000, { id: `stuffed-${index}` }),
        );
        return { stages: [crowd(base), { name: "farm", acts }] };
      };
      const plain = signUpAll(names.map((_, index) => `plain-${index}`));
      const control = await playOn(setting, world, plain);
      const story = signUpAll(names);
      const hidden = await playOn(setting, world, story);
      const count = foundAfter(plain, control.decisions);
      ledger.note({ attack, world, what: "sign-ups when found, with plain names" }, count);
      ledger.goal({ attack, world, what: "sign-ups when found" }, foundAfter(story, hidden.decisions), count);
      const acts = actsOf(story, "farm");
      const fall = strongest(control, acts) - strongest(hidden, acts);
      ledger.goal({ attack, world, what: "log-odds of the farm fell by" }, fall, movedMax);
      const lost = (await control.ground.casesAbout("device:")) - (await hidden.ground.casesAbout("device:"));
      ledger.goal({ attack, world, what: "cases of the farm lost" }, lost, 0);
      if ((await control.ground.casesAbout("device:")) === 0)
        ledger.fail(`${attack}, ${world}: the control opens no case, so this proves nothing`);
    },
  };
}

const farmed = 40;
const signUpsOfBlock = 16;

// Each sign-up comes from another /64 of one /48, with a new device.
function farmInBlock(): Trial {
  const attack = "own cookies, sign-ups from one IPv6 block";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const acts = repeat(farmed, (index) => {
        const from = { device: uuidLike(8100 + index), ip: `2001:db8:66:${(index + 1).toString(16)}::9`, agent: agents[0] };
        return act({ ...from, account: `farmed-${index}` }, "signup", base - 9 * minute + index * 10_000, {
          id: `stuffed-${index}`,
        });
      });
      const story: Story = { stages: [crowd(base), { name: "farm", acts }] };
      const { ground, decisions } = await playOn(setting, world, story);
      ledger.goal({ attack, world, what: "sign-ups when found" }, foundAfter(story, decisions), signUpsOfBlock);
      const subjects = await ground.subjects();
      ledger.goal({ attack, world, what: "cases of the block lost" }, 1 - (await ground.casesAbout("network:")), 0);
      ledger.goal({ attack, world, what: "cases in all" }, subjects.length, 1, subjects.slice(0, 5).join(", "));
    },
  };
}

const sprayed = 30;
const rounds = 4;
// The rule about a network needs this many accounts.
const accountsOfNetwork = 20;

// Four tries on each account, each try from another /64 of one /48. The block counts as one address, so it is one case about the
// block, and no account gets a case because "many addresses" tried it.
function sprayFromBlock(): Trial {
  const attack = "own cookies, wrong passwords from one IPv6 block";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const spray = (ip: (index: number) => string) =>
        tries(base, sprayed * rounds, (index) => ({ account: `stuffed-${index % sprayed}`, ip: ip(index) }));
      const naive = spray(() => "2001:db8:66:1::9");
      const control = await playOn(setting, world, naive);
      const story = spray((index) => `2001:db8:66:${(index + 1).toString(16)}::9`);
      const hidden = await playOn(setting, world, story);
      ledger.note({ attack, world, what: "accounts tried when found, from one address" }, foundAfter(naive, control.decisions));
      ledger.goal({ attack, world, what: "accounts tried when found" }, foundAfter(story, hidden.decisions), accountsOfNetwork);
      const acts = actsOf(story, "tries");
      const fall = strongest(control, acts) - strongest(hidden, acts);
      ledger.goal({ attack, world, what: "log-odds of the spraying fell by" }, fall, movedMax);
      const subjects = await hidden.ground.subjects();
      ledger.goal({ attack, world, what: "cases of the block lost" }, 1 - (await hidden.ground.casesAbout("network:")), 0);
      ledger.goal({ attack, world, what: "cases in all" }, subjects.length, 1, subjects.slice(0, 5).join(", "));
    },
  };
}

export const cookieStuffingTrials: Trial[] = [
  padStuffing(),
  changeCookies(5),
  { ...changeCookies(4), isOnlyFull: true },
  { ...changeCookies(1), isOnlyFull: true },
  collide(),
  farmInBlock(),
  sprayFromBlock(),
];
