import { repeat } from "./forge.ts";
import { mallory, type Act } from "./ground.ts";
import { movedBetween, movedMax, playOn, strongest, type Played } from "./hide.ts";
import { sessionIdOf, strangeAgent } from "./page-event.ts";
import {
  act,
  actsOf,
  day,
  historyOf,
  minute,
  owner,
  takeover,
  theft,
  thief,
  uuidLike,
  type Person,
  type Stage,
  type Story,
} from "./story.ts";
import type { Setting, Trial } from "./trial.ts";

// The shop's server reports the truth. But attackers choose their cookies, their addresses, the names of their own accounts, and
// the passwords that they try. Each attack is compared with a control: the same attack by somebody who does not try to hide.
const world = "server";
const own: Person = { ...thief, account: mallory };

// Records how far the take-over's log-odds fell, and whether its case is still opened.
async function judgeTheft({ ledger }: Setting, attack: string, control: Played, hidden: Played, acts: Act[]): Promise<void> {
  const { fall, rise, where } = movedBetween(acts, control, hidden);
  ledger.goal({ attack, world, what: "log-odds of the take-over fell by" }, fall, movedMax, where);
  ledger.note({ attack, world, what: "log-odds of the take-over rose by" }, rise);
  const subject = `account:${owner.account}`;
  const [before, after] = [await control.ground.casesAbout(subject), await hidden.ground.casesAbout(subject)];
  if (before === 0) ledger.fail(`${attack}, ${world}: the control opens no case, so this proves nothing`);
  ledger.goal({ attack, world, what: "cases of the take-over lost" }, before - after, 0);
}

function changed({ stages }: Story, change: (act: Act, index: number) => Act, names: string[] = theft): Story {
  let index = 0;
  const changeAll = (stage: Stage) => ({ ...stage, acts: stage.acts.map((each) => change(each, index++)) });
  return { stages: stages.map((stage) => (names.includes(stage.name) ? changeAll(stage) : stage)) };
}

function before(name: string, { stages }: Story, added: Stage): Story {
  return { stages: stages.flatMap((stage) => (stage.name === name ? [added, stage] : [stage])) };
}

function withoutDevice({ device: _device, ...rest }: Act): Act {
  return rest;
}

type Disguise = (story: Story, base: number) => Story;

const sessionPerRequest: Disguise = (story, base) =>
  changed(story, (each, index) => ({ ...each, session: sessionIdOf(uuidLike(5000 + index), base) }));
const noDeviceOnChange: Disguise = (story) => changed(story, withoutDevice, ["change"]);
// The second log-in begins a session of its own, in which the thief continues.
const loginTwice: Disguise = (story, base) => {
  const again = act(thief, "login_succeeded", base - 9 * minute);
  const { session = "" } = again;
  const goingOn = changed(story, (each) => ({ ...each, session }), ["change", "payment"]);
  return before("change", goingOn, { name: "again", acts: [again] });
};
const ownAccountBetween: Disguise = (story, base) => {
  const session = sessionIdOf(thief.device, base - 10 * minute);
  const acts = [act(own, "login_succeeded", base - 8.5 * minute, { session })];
  return before("change", story, { name: "own account", acts });
};
// The attacker's own account has logged in on the thief's device for days, so that the device is usual for that account.
const ownAccountWithHistory: Disguise = (story, base) =>
  before("login", ownAccountBetween(story, base), { name: "own history", acts: historyOf(own, base, 8) });

const everyDisguise = "all of these";
const disguises: Record<string, Disguise> = {
  "logs in twice": loginTwice,
  "new session per request": sessionPerRequest,
  "own account in between": ownAccountBetween,
  "own usual account in between": ownAccountWithHistory,
  "no device on the change": noDeviceOnChange,
  [everyDisguise]: (story, base) =>
    sessionPerRequest(noDeviceOnChange(loginTwice(ownAccountWithHistory(story, base), base), base), base),
};

function hideTheft(): Trial {
  const attack = "own cookies, take-over";
  return {
    attack,
    world,
    run: async (setting) => {
      const base = Date.now();
      const story = takeover(base);
      const control = await playOn(setting, world, story);
      const acts = theft.flatMap((stage) => actsOf(story, stage));
      setting.ledger.note({ attack, world, what: "log-odds without a disguise" }, strongest(control, acts));
      // The disguise that combines the others shows what any of them hides. The full proof also tries each of them alone.
      const tried = Object.entries(disguises).filter(([name]) => setting.scale === "full" || name === everyDisguise);
      for (const [name, disguise] of tried) {
        const hidden = await playOn(setting, world, disguise(story, base));
        await judgeTheft(setting, `${attack}, ${name}`, control, hidden, acts);
      }
    },
  };
}

// Somebody who imitates the owner: the same network and browser, but another address and device.
const imitator: Person = { ...owner, device: thief.device, ip: "203.0.113.178" };
const ownLogins = 400;

// Everybody uses the owner's browser, so at first it says nothing about who logs in. The owner has few log-ins. With many, a
// log-in on a new device would reach the limit for one log-in, and a small fall would not show.
function withCommonBrowser(story: Story, base: number): Story {
  const { stages } = changed(story, (each) => ({ ...each, agent: owner.agent }), ["crowd"]);
  const recent = (acts: Act[]) => acts.filter(({ at }) => at > base - 6.5 * day);
  return { stages: stages.map((stage) => (stage.name === "history" ? { ...stage, acts: recent(stage.acts) } : stage)) };
}

// One account logs in many times on one day with another browser. If each log-in counted, the owner's browser would become rare,
// and a rare browser is evidence for the owner. The control logs in once.
function crowdOut(): Trial {
  const attack = `own cookies, ${ownLogins} own log-ins before a take-over`;
  return {
    attack,
    world,
    run: async (setting) => {
      const base = Date.now();
      const story = withCommonBrowser(takeover(base, { by: imitator }), base);
      const acts = theft.flatMap((stage) => actsOf(story, stage));
      // Days begin at midnight UTC. All of the log-ins are on the afternoon of the day before.
      const noon = Math.floor(base / day) * day - day / 2;
      const far: Person = { account: mallory, ip: "198.51.100.200", device: uuidLike(6000), agent: strangeAgent };
      const playAfter = (count: number) => {
        const logins = repeat(count, (index) => act(far, "login_succeeded", noon + index * minute));
        return playOn(setting, world, before("login", story, { name: "own log-ins", acts: logins }));
      };
      const [control, hidden] = [await playAfter(1), await playAfter(ownLogins)];
      await judgeTheft(setting, attack, control, hidden, acts);
    },
  };
}

export const cookieTakeoverTrials: Trial[] = [hideTheft(), crowdOut()];
