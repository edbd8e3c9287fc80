import { accuseTrials } from "./forged/accuse.ts";
import { chanceTrials } from "./forged/chance.ts";
import { cookieAccuseTrials } from "./forged/cookies-accuse.ts";
import { cookieStuffingTrials } from "./forged/cookies-stuffing.ts";
import { cookieTakeoverTrials } from "./forged/cookies-takeover.ts";
import { floodTrials } from "./forged/flood.ts";
import { Ground, worlds, type World } from "./forged/ground.ts";
import { hideTrials } from "./forged/hide.ts";
import { Ledger } from "./forged/ledger.ts";
import { pressTrials } from "./forged/press.ts";
import { steerTrials } from "./forged/steer.ts";
import type { Setting, Trial } from "./forged/trial.ts";
import type { Environment } from "../service/test/launch.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const trials: Trial[] = [
  ...accuseTrials,
  ...hideTrials,
  ...steerTrials,
  ...pressTrials,
  ...floodTrials,
  ...chanceTrials,
  ...cookieTakeoverTrials,
  ...cookieStuffingTrials,
  ...cookieAccuseTrials,
];
const noQuotas: Environment = {
  RATE_LIMIT_COLLECTOR: "off",
  QUOTA_ADDRESS_EVENTS: "off",
  QUOTA_ADDRESS_NAMES: "off",
  QUOTA_KEY_EVENTS: "off",
  QUOTA_KEY_NAMES: "off",
};

// A world that cannot be created is a violation, so that no attack is skipped silently.
async function openWorlds(setting: Setting): Promise<Set<World>> {
  const open = new Set<World>();
  for (const world of worlds) {
    try {
      await Ground.open(setting.stand, setting.port, world);
      open.add(world);
    } catch (error) {
      setting.ledger.fail(`the world "${world}" could not be created, so no attack was tried in it: ${String(error)}`);
    }
  }
  return open;
}

async function runTrial(setting: Setting, trial: Trial): Promise<void> {
  const { attack, world } = trial;
  try {
    await trial.run({ ...setting, random: setting.random.fork(`${attack}/${world}`) });
  } catch (error) {
    setting.ledger.fail(`${attack}, ${world}: did not finish: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

async function runTrials(setting: Setting, wanted: Trial[], { atOnce, onDone }: { atOnce: number; onDone: () => void }) {
  const queue = [...wanted];
  const runNext = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await runTrial(setting, next);
      onDone();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
}

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const stand = await Stand.open();
  try {
    const service = await stand.start(noQuotas);
    const ledger = new Ledger();
    const setting: Setting = { stand, port: service.port, ledger, random, scale };
    const open = await openWorlds(setting);
    const wanted = trials.filter(({ world, isOnlyFull }) => open.has(world) && (scale === "full" || isOnlyFull !== true));
    let done = 0;
    const onDone = () => progress(++done, wanted.length, "attacks");
    const [floods, others] = [wanted.filter(({ isFlood }) => isFlood), wanted.filter(({ isFlood }) => !isFlood)];
    await runTrials(setting, others, { atOnce: 3, onDone });
    await service.stop();
    const { port } = await stand.start();
    await runTrials({ ...setting, port }, floods, { atOnce: 1, onDone });
    return { figures: { attacks: wanted.length, ...ledger.figures }, violations: ledger.violations };
  } finally {
    await stand.close();
  }
}

export const forged: Part = {
  name: "forged",
  title: "Forged events",
  claim:
    'An attacker who knows the public app key, our source, account ids and an address that others share, but no secret and nobody\'s session, sends arbitrary events to the collector, in the format of the tag and of the Clickstream SDK. If servers or signatures confirm accounts, the attacker accuses nobody, creates no account, hides no take-over and no stuffing, delays no server activity, buries no evidence and keeps no case open. The rows that begin with "own cookies" show an attacker of a shop whose server reports the truth: the attacker sends no forged server activity, but chooses devices, sessions, addresses, account names and passwords to try. Each of these attacks is compared with the same attack without the disguise, hides nothing and accuses no customer who logs in as usual. What the attacker achieves against a tenant that uses only the snippet is shown beside it. The worst result of all tries is shown.',
  run,
};
