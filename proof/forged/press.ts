import { setTimeout as sleep } from "node:timers/promises";
import { newGuise, ownAddress, repeat } from "./forge.ts";
import type { Act, CaseItem, Ground } from "./ground.ts";
import { damageOf, judgeDamage, lookAt } from "./ledger.ts";
import { agents, botAgent, strangeAgent, type PageEvent, type Shape } from "./page-event.ts";
import { crowd, minute, victims } from "./story.ts";
import { openGround, shapesOf, type Setting, type Trial } from "./trial.ts";

type Vouched = "server" | "signed";

function reportOn(account: string, at: number): Act {
  return { id: `report-${account}-${at}`, type: "fraud_report", at, account, ip: "203.0.113.1", agent: agents[0] };
}

const buriers = 320;
type Buried = { attack: string; told: Act[]; isTarget: (each: CaseItem) => boolean; named: Partial<PageEvent>; ip: string };

// A case that the shop's servers opened, and 320 forged findings about it, each in a new session so that none is a repeat.
async function buryCase(setting: Setting, ground: Ground, { attack, told, isTarget, named, ip }: Buried, shape: Shape) {
  const { ledger, random } = setting;
  const base = Date.now();
  await ground.tell([...crowd(base).acts, ...told]);
  const look = await lookAt(ground);
  const opened = look.cases.find(isTarget);
  if (!opened) throw new Error("the servers' reports opened no case");
  const before = Object.keys((await ground.caseOf(opened.case_id)).fraud_occurrences);
  for (let from = 0; from < buriers; from += 40) {
    const events = repeat(40, (index): PageEvent => {
      const { device, session } = newGuise(random, base, "");
      const type = ["purchase", "login_succeeded", "login_failed", "signup"][index % 4] ?? "";
      const account = `claimed-${from + index}`;
      return { type, at: base - 400 + from + index, account, device, session, isDriven: true, ...named };
    });
    await ground.collect({ events, ip, agent: botAgent, shape });
  }
  await ground.settle();
  const after = await ground.caseOf(opened.case_id);
  const row = { attack, world: ground.world };
  const lost = before.filter((id) => !(id in after.fraud_occurrences));
  ledger.goal({ ...row, what: "pieces of evidence lost" }, lost.length, 0);
  return { versions: after.case_version - opened.case_version, damage: damageOf(look, await lookAt(ground)) };
}

function buryAccount(world: Vouched): Trial {
  const attack = "bury the evidence of an account";
  return {
    attack,
    world,
    run: async (setting) => {
      const [account = ""] = victims;
      for (const shape of shapesOf(setting)) {
        const told = [reportOn(account, Date.now() - minute), reportOn(account, Date.now())];
        const isTarget = (each: CaseItem) => each.website_account_id === account;
        const buried = { attack, told, isTarget, named: { account }, ip: ownAddress(0) };
        const { versions, damage } = await buryCase(setting, await openGround(setting, world), buried, shape);
        setting.ledger.goal({ attack, world, what: "versions that forgery made" }, versions, 0);
        judgeDamage(setting.ledger, { attack, world }, damage);
      }
    },
  };
}

// Log-ins to seven accounts fail on one device.
function stuffingOf(device: string, ip: string, name: string): Act[] {
  const base = Date.now();
  return repeat(7, (index): Act => {
    const account = `${name}-${index}`;
    return {
      id: `try-${account}`,
      type: "login_failed",
      at: base - minute + index * 1000,
      account,
      device,
      ip,
      agent: strangeAgent,
    };
  });
}

function isAboutSource({ website_account_id: id }: CaseItem): boolean {
  return id === "UNKNOWN";
}

function burySource(world: Vouched): Trial {
  const attack = "bury the evidence of a source";
  return {
    attack,
    world,
    run: async (setting) => {
      for (const shape of shapesOf(setting)) {
        const [device, ip] = [setting.random.uuid(), ownAddress(0)];
        const buried = { attack, told: stuffingOf(device, ip, "tried"), isTarget: isAboutSource, named: { device }, ip };
        const { versions, damage } = await buryCase(setting, await openGround(setting, world), buried, shape);
        setting.ledger.note({ attack, world, what: "versions that forgery made" }, versions);
        judgeDamage(setting.ledger, { attack, world }, damage);
      }
    },
  };
}

const closes = 8;
const aSecond = 100;
const everyMs = 100;
const thinkMs = 1000;

// Sends 100 forged events per second for each target, until `until` has ended.
async function pressOn<T>(forge: () => Promise<unknown>, until: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const pressing = (async () => {
    while (!over.signal.aborted) await Promise.all([forge(), sleep(everyMs)]);
  })();
  try {
    return await until();
  } finally {
    over.abort();
    await pressing;
  }
}

// Reads the cases, waits as an investigator would, and closes them with the versions that were read.
async function readAndClose(ground: Ground, cases: () => Promise<CaseItem[]>): Promise<{ tried: number; refused: number }> {
  const read = await cases();
  await sleep(thinkMs);
  const statuses = await Promise.all(read.map((each) => ground.close(each)));
  return { tried: read.length, refused: statuses.filter((status) => status !== 200).length };
}

type Target = { account?: string; device?: string; ip: string };

async function press(ground: Ground, setting: Setting, targets: Target[], shape: Shape): Promise<void> {
  const base = Date.now();
  await Promise.all(
    targets.map(({ account, device: own, ip }, target) => {
      const events = repeat((aSecond * everyMs) / 1000, (index): PageEvent => {
        const { device, session } = newGuise(setting.random, base + index, "");
        const type = ["purchase", "login_failed", "login_succeeded", "signup"][index % 4] ?? "";
        return {
          type,
          at: base - index,
          account: account ?? `claimed-${target}-${index}`,
          device: own ?? device,
          session,
          isDriven: true,
        };
      });
      return ground.collect({ events, ip, agent: botAgent, shape });
    }),
  );
}

async function keepOpen(
  setting: Setting,
  ground: Ground,
  { targets, shape, cases }: { targets: Target[]; shape: Shape; cases: () => Promise<CaseItem[]> },
): Promise<{ tried: number; refused: number }> {
  // The first rounds may raise a score. The goal is about the flood that continues after that.
  for (let round = 0; round < 5; round++) await press(ground, setting, targets, shape);
  await ground.settle();
  return pressOn(
    () => press(ground, setting, targets, shape),
    () => readAndClose(ground, cases),
  );
}

function keepAccountsOpen(world: Vouched): Trial {
  const attack = "keep cases of accounts open";
  return {
    attack,
    world,
    run: async (setting) => {
      for (const shape of shapesOf(setting)) {
        const ground = await openGround(setting, world);
        const base = Date.now();
        const accounts = repeat(closes, (index) => `kept-${index}`);
        await ground.tell([...crowd(base).acts, ...accounts.map((account) => reportOn(account, base))]);
        const targets = accounts.map((account, index) => ({ account, ip: ownAddress(index) }));
        const cases = async () =>
          (await ground.cases("status=OPEN")).filter((each) => accounts.includes(each.website_account_id));
        const { tried, refused } = await keepOpen(setting, ground, { targets, shape, cases });
        if (tried !== closes) setting.ledger.fail(`${attack}, ${world}: ${tried} cases were open, not ${closes}`);
        setting.ledger.goal({ attack, world, what: `of ${closes} closes, rejected` }, refused, 0);
        await ground.settle();
      }
    },
  };
}

// Cases about the attacker's own devices. The servers' reports of stuffing open them, and then forged events from the same
// devices flood them.
function keepSourcesOpen(world: Vouched): Trial {
  const attack = "keep cases of sources open";
  return {
    attack,
    world,
    run: async (setting) => {
      for (const shape of shapesOf(setting)) {
        const ground = await openGround(setting, world);
        const targets = repeat(closes, (index) => ({ device: setting.random.uuid(), ip: ownAddress(index) }));
        const stuffed = targets.flatMap(({ device, ip }, index) => stuffingOf(device, ip, `kept-${index}`));
        await ground.tell([...crowd(Date.now()).acts, ...stuffed]);
        const cases = async () => (await ground.cases("status=OPEN")).filter(isAboutSource);
        const { tried, refused } = await keepOpen(setting, ground, { targets, shape, cases });
        if (tried < closes) setting.ledger.fail(`${attack}, ${world}: ${tried} cases were open, not ${closes}`);
        setting.ledger.goal({ attack, world, what: "closes rejected" }, refused, 0);
        await ground.settle();
      }
    },
  };
}

export const pressTrials: Trial[] = (["server", "signed"] as const).flatMap((world) => [
  buryAccount(world),
  burySource(world),
  keepAccountsOpen(world),
  keepSourcesOpen(world),
]);
