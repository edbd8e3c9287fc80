import { ownAddress, repeat } from "./forge.ts";
import type { Act, CaseItem } from "./ground.ts";
import { movedBetween, playOn, type Played } from "./hide.ts";
import { botAgent, strangeAgent, type PageEvent } from "./page-event.ts";
import {
  act,
  actsOf,
  crowd,
  historyOf,
  innocent,
  minute,
  office,
  officeIp,
  officeNeighbours,
  owner,
  uuidLike,
  type Stage,
  type Story,
} from "./story.ts";
import { openGround, type Setting, type Trial } from "./trial.ts";

// The shop's server reports the truth. The attacker makes it report wrong passwords for the accounts of others, and invents
// sessions. No honest customer may get a case.
const world = "server";
const suspicious = 3;

function isOnAccount({ website_account_id: id }: CaseItem): boolean {
  return id !== "UNKNOWN";
}

function worstOf(cases: CaseItem[]): string {
  const worst = cases.toSorted((a, b) => b.overall_risk_score - a.overall_risk_score)[0];
  return worst ? `${worst.website_account_id}: score ${worst.overall_risk_score}, ${worst.recommended_action}` : "";
}

// Anybody can make a log-in fail, so a failed log-in is not an act of the account's owner.
function isOwners({ type }: Act): boolean {
  return type !== "login_failed";
}

// A decision that is missing counts as suspicious.
function judgeActs({ ledger }: Setting, attack: string, played: Played, acts: Act[]): void {
  const found = acts.filter(({ id }) => (played.decisions.get(id)?.score ?? Infinity) >= suspicious);
  ledger.goal({ attack, world, what: "acts of honest customers found suspicious" }, found.length, 0, found[0]?.id);
}

const colleagues = repeat(6, (index) => `colleague-${index}`);
// The first two of them have not logged in before.
const newCustomers = new Set(colleagues.slice(0, 2));
const strangers = repeat(40, (index) => `stranger-${index}`);

type Wrong = { perColleague: number; ips: string[] };

// A colleague tries wrong passwords for everybody in the office, and for many others, with a new device for each try. Because of
// the others, the attack on the address or the network is found.
function wrongPasswords(base: number, { perColleague, ips }: Wrong): Stage {
  const names = [...repeat(perColleague, () => colleagues).flat(), ...strangers];
  const acts = names.map((account, index): Act => ({
    id: `wrong-${index}`,
    type: "login_failed",
    at: base - 23 * minute + index * 1000,
    account,
    device: uuidLike(9000 + index),
    // Each account is tried from all of the addresses.
    ip: ips[Math.floor(index / colleagues.length) % ips.length] ?? officeIp,
    agent: strangeAgent,
  }));
  return { name: "wrong passwords", acts };
}

function beforeMorning({ stages }: Story, added: Stage): Story {
  return { stages: stages.flatMap((stage) => (stage.name === "morning" ? [added, stage] : [stage])) };
}

// After this many wrong passwords, the first log-in of an account looks like a successful guess. Without earlier log-ins there is
// no evidence for the owner.
const failuresBeforeGuess = 10;

function accuseColleagues(name: string, wrong: Wrong): Trial {
  const attack = `own cookies, wrong passwords in an office, ${name}`;
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger } = setting;
      const base = Date.now();
      const story = office(base);
      const control = await playOn(setting, world, story);
      const attacked = await playOn(setting, world, beforeMorning(story, wrongPasswords(base, wrong)));
      const subjects = await attacked.ground.subjects();
      if (!subjects.some((subject) => /^(ip|network):/.test(subject)))
        ledger.fail(`${attack}, ${world}: the attack itself was not found, so this proves nothing`);
      const isExcused = (account = "") => wrong.perColleague >= failuresBeforeGuess && newCustomers.has(account);
      const acts = innocent.flatMap((stage) => actsOf(story, stage)).filter(isOwners);
      const known = acts.filter(({ account }) => !isExcused(account));
      judgeActs(setting, attack, attacked, known);
      ledger.note({ attack, world, what: "log-odds of colleagues rose by" }, movedBetween(known, control, attacked).rise);
      const before = (await control.ground.cases()).filter(isOnAccount);
      ledger.note({ attack, world, what: "cases on accounts, without wrong passwords" }, before.length);
      const cases = (await attacked.ground.cases()).filter(isOnAccount);
      const accused = cases.filter((each) => !isExcused(each.website_account_id));
      ledger.goal({ attack, world, what: "cases on accounts" }, accused.length, 0, worstOf(accused));
      if (wrong.perColleague >= failuresBeforeGuess)
        ledger.note({ attack, world, what: "cases on customers without earlier log-ins" }, cases.length - accused.length);
    },
  };
}

// Four wrong passwords from four networks of one IPv6 block, then the owner logs in on the usual device. The control uses four
// blocks, which opens a case about one of them, and none about the account.
function guessFromBlock(): Trial {
  const attack = "own cookies, four wrong passwords from one IPv6 block";
  return {
    attack,
    world,
    run: async (setting) => {
      const base = Date.now();
      const story = (ip: (index: number) => string): Story => {
        const wrong = repeat(4, (index): Act => {
          const at = base - 20 * minute + index * minute;
          return { id: `wrong-${index}`, type: "login_failed", at, account: owner.account, ip: ip(index), agent: strangeAgent };
        });
        return {
          stages: [
            crowd(base),
            { name: "history", acts: historyOf(owner, base, 12) },
            { name: "wrong passwords", acts: wrong },
            { name: "login", acts: [act(owner, "login_succeeded", base - 10 * minute)] },
          ],
        };
      };
      const naive = await playOn(
        setting,
        world,
        story((index) => `2001:db8:${index + 1}:1::9`),
      );
      const opened = await naive.ground.cases();
      if (opened.length === 0) setting.ledger.fail(`${attack}, ${world}: four blocks open no case, so this proves nothing`);
      const accused = opened.filter(isOnAccount);
      setting.ledger.goal({ attack, world, what: "cases on accounts, from four blocks" }, accused.length, 0, worstOf(accused));
      const attempt = story((index) => `2001:db8:66:${index + 1}::9`);
      const attacked = await playOn(setting, world, attempt);
      judgeActs(setting, attack, attacked, [...actsOf(attempt, "wrong passwords"), ...actsOf(attempt, "login")]);
      const cases = await attacked.ground.cases();
      setting.ledger.goal({ attack, world, what: "cases in all" }, cases.length, 0, worstOf(cases));
    },
  };
}

const pages = 200;
const pagesPerRequest = 50;

// Each page event invents a session and names no device. The control sends as many events in one session.
function floodSessions(): Trial {
  const attack = `own cookies, ${pages} invented sessions without a device`;
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger, scale } = setting;
      const base = Date.now();
      const subjectsAfter = async (sessionOf: (index: number) => string, perRequest: number) => {
        const ground = await openGround(setting, world);
        await ground.tell([...crowd(base).acts, ...historyOf(owner, base, 1)]);
        const events = repeat(pages, (index): PageEvent => ({
          type: "add_to_cart",
          at: base - (pages - index) * 100,
          account: owner.account,
          session: sessionOf(index),
          isDriven: true,
        }));
        for (let from = 0; from < pages; from += perRequest) {
          const some = events.slice(from, from + perRequest);
          await ground.collect({ events: some, ip: ownAddress(0), agent: botAgent, shape: "tag" });
          await ground.settle();
        }
        return ground.subjects();
      };
      const control = await subjectsAfter(() => "one", pagesPerRequest);
      if (control.length !== 1) ledger.fail(`${attack}, ${world}: one session opens ${control.length} cases, not 1`);
      const flood = await subjectsAfter((index) => `invented-${index}`, pagesPerRequest);
      const ofAccounts = flood.filter((subject) => subject.startsWith("account:"));
      ledger.goal({ attack, world, what: "cases in all" }, flood.length, 1, flood.slice(0, 5).join(", "));
      ledger.goal({ attack, world, what: "cases on accounts" }, ofAccounts.length, 0, ofAccounts[0]);
      if (scale === "short") return;
      // The first sessions that come one at a time look like separate visitors. Measured, without a goal.
      const slow = await subjectsAfter((index) => `invented-${index}`, 1);
      ledger.note({ attack, world, what: "cases in all, one request at a time" }, slow.length);
    },
  };
}

const offices: [string, Wrong][] = [
  ["3 times each, from its address", { perColleague: 3, ips: [officeIp] }],
  ["3 times each, from its network", { perColleague: 3, ips: officeNeighbours }],
  ["12 times each, from its network", { perColleague: 12, ips: officeNeighbours }],
  ["12 times each, from four addresses", { perColleague: 12, ips: [officeIp, ...officeNeighbours] }],
];

export const cookieAccuseTrials: Trial[] = [
  accuseColleagues("12 times each, from its address", { perColleague: 12, ips: [officeIp] }),
  ...offices.map(([name, wrong]): Trial => ({ ...accuseColleagues(name, wrong), isOnlyFull: true })),
  guessFromBlock(),
  floodSessions(),
];
