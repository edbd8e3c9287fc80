import { setTimeout as sleep } from "node:timers/promises";
import { newGuise, ownAddress, repeat } from "./forge.ts";
import type { Ground, World } from "./ground.ts";
import { damageOf, judgeClaims, judgeDamage, judgeSources, lookAt } from "./ledger.ts";
import { botAgent, shapes, type PageEvent, type Shape } from "./page-event.ts";
import { crowd } from "./story.ts";
import { openGround, type Setting, type Trial } from "./trial.ts";

const eventsARequest = 2000;
const floodAtOnce = 4;

// Every event has a new device, session and account, so that each creates as many rows as possible.
async function flood(ground: Ground, setting: Setting, { events, shape }: { events: number; shape: Shape }): Promise<number> {
  const { random } = setting;
  const base = Date.now();
  const requests = repeat(events / eventsARequest, (request) => {
    const forged = repeat(eventsARequest, (index): PageEvent => {
      const { device, session } = newGuise(random, base, "");
      const type = ["login_succeeded", "login_failed", "signup", "purchase"][index % 4] ?? "";
      return { type, at: base - index, account: `flood-${request}-${index}`, device, session, isDriven: true };
    });
    return { events: forged, ip: ownAddress(request % 8), agent: `${botAgent} ${request}`, shape, isLean: true };
  });
  let taken = 0;
  const sendNext = async () => {
    for (let next = requests.pop(); next !== undefined; next = requests.pop()) if ((await ground.collect(next)) === 200) taken++;
  };
  await Promise.all(repeat(floodAtOnce, sendNext));
  return taken * eventsARequest;
}

const waitSecondsMax = 180;

// How long it takes until a report that was just accepted becomes a case.
async function waitForCase(ground: Ground, account: string): Promise<number> {
  await ground.must("POST", "/activities", {
    body: {
      activities: [
        {
          activity_id: `report-${account}`,
          type: "fraud_report",
          occurred_at: new Date().toISOString(),
          website_account_id: account,
        },
      ],
    },
  });
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  while ((await ground.cases(`website_account_id=${account}`)).length === 0 && seconds() < waitSecondsMax) await sleep(20);
  return seconds();
}

function floodTrial(world: World): Trial {
  const attack = "flood";
  return {
    attack,
    world,
    isFlood: true,
    run: async (setting) => {
      const { ledger, scale } = setting;
      const ground = await openGround(setting, world);
      if (world !== "snippet") await ground.tell(crowd(Date.now()).acts);
      const before = await lookAt(ground);
      const rowsBefore = await ground.rows();
      const events = scale === "full" ? 40_000 : 8000;
      const taken = await flood(ground, setting, { events, shape: setting.random.pick(shapes) });
      const row = { attack, world };
      // In a test the machine may be busy with other things.
      const secondsMax = scale === "full" ? 2 : 10;
      // A tenant that uses only the snippet has no server that could report.
      if (world !== "snippet")
        ledger.goal({ ...row, what: "seconds until a report becomes a case" }, await waitForCase(ground, "reported"), secondsMax);
      ledger.note({ ...row, what: "events sent" }, events);
      ledger.note({ ...row, what: "events accepted" }, taken);
      await ground.settle();
      const damage = damageOf(before, await lookAt(ground));
      const forged = {
        ...damage,
        accused: damage.accused.filter(({ website_account_id: id }) => id !== "reported"),
        created: damage.created.filter((id) => id !== "reported"),
      };
      if (world === "snippet") judgeClaims(ledger, row, forged);
      else judgeDamage(ledger, row, forged);
      judgeSources(ledger, row, damage);
      const rows = await ground.rows();
      ledger.note({ ...row, what: "sessions stored" }, rows.sessions - rowsBefore.sessions);
      ledger.note({ ...row, what: "states stored" }, rows.states - rowsBefore.states);
    },
  };
}

export const floodTrials: Trial[] = (["server", "signed", "snippet"] as const).map(floodTrial);
