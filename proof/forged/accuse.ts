import { failures, loginsOf, madeUpTheft, newGuise, ownAddress, repeat, robot, signUps } from "./forge.ts";
import { mallory, type Act, type Ground, type World } from "./ground.ts";
import { damageOf, judgeClaims, judgeDamage, judgeSources, lookAt, type Damage } from "./ledger.ts";
import { oddIds, oddTokens } from "./odd.ts";
import { agents, botAgent, shapes, type PageRequest, type Shape } from "./page-event.ts";
import { attacker, attackerSession, crowd, minute, victims } from "./story.ts";
import { openGround, shapesOf, type Setting, type Trial } from "./trial.ts";

type Attack = (ground: Ground, base: number) => Promise<unknown>;

// A shop with customers, what an attacker sends, and what that changed. `told`: what the attacker makes the shop report.
async function inShop(setting: Setting, world: World, attack: Attack, told: (base: number) => Act[] = () => []): Promise<Damage> {
  const ground = await openGround(setting, world);
  const base = Date.now();
  if (world !== "snippet") await ground.tell(crowd(base).acts);
  const before = await lookAt(ground);
  if (world !== "snippet") await ground.tell(told(base));
  await attack(ground, base);
  await ground.settle();
  return damageOf(before, await lookAt(ground));
}

function judge({ ledger }: Setting, row: { attack: string; world: World }, damage: Damage): void {
  if (row.world === "snippet") judgeClaims(ledger, row, damage);
  else judgeDamage(ledger, row, damage);
  judgeSources(ledger, row, damage);
}

async function sendAll(ground: Ground, requests: PageRequest[]): Promise<void> {
  for (const request of requests) await ground.collect(request);
}

// For each rule about an account there is a request that would make it match. Half of the victims are customers that the shop has
// named; the others are not known yet.
function accusations({ random }: Setting, base: number, shape: Shape): PageRequest[] {
  const guise = (index: number) => newGuise(random, base, ownAddress(index));
  const naming = (account: unknown) => ({ account, at: base });
  const own = { device: attacker.device, session: attackerSession(base), ip: attacker.ip };
  return [
    robot(guise(0), naming(victims[0]), shape),
    robot(guise(1), naming("stranger-1"), shape),
    // In the session that the shop's servers tied to the attacker's own account.
    robot(own, naming(victims[1]), shape),
    ...failures(
      repeat(6, (index) => guise(10 + index)),
      naming(victims[2]),
      shape,
    ),
    ...failures(
      repeat(6, (index) => guise(20 + index)),
      naming("stranger-2"),
      shape,
    ),
    madeUpTheft(guise(30), naming(victims[3]), shape),
    madeUpTheft(guise(31), naming("stranger-3"), shape),
    signUps(
      guise(32),
      repeat(10, (index) => `signed-up-${index}`),
      base,
      shape,
    ),
    loginsOf(
      guise(33),
      [...victims, ...repeat(6, (index) => `stranger-${10 + index}`)],
      { at: (index) => base - index * 2000, type: "login_succeeded", agent: agents[1] },
      shape,
    ),
  ];
}

function accuse(world: World): Trial {
  const attack = "accuse";
  return {
    attack,
    world,
    run: async (setting) => {
      for (const shape of shapes) {
        const damage = await inShop(setting, world, async (ground, base) => {
          for (const request of accusations(setting, base, shape)) {
            await ground.collect(request);
            await ground.settle();
          }
        });
        judge(setting, { attack, world }, damage);
      }
    },
  };
}

const named = 2000;
// One source is one suspect. But the first few devices may get a case before the source is recognized as a crowd.
const casesOfCrowdMax = 10;

// One request that names 2,000 accounts; with `isManyDevices`, each on its own device.
function bulk(world: World, isManyDevices: boolean): Trial {
  const attack = isManyDevices ? "accuse 2,000 in one request, a device each" : "accuse 2,000 in one request";
  return {
    attack,
    world,
    run: async (setting) => {
      const { random, ledger } = setting;
      for (const shape of shapesOf(setting)) {
        const damage = await inShop(setting, world, async (ground, base) => {
          const one = newGuise(random, base, ownAddress(0));
          const events = repeat(named, (index) => {
            const { device, session } = isManyDevices ? newGuise(random, base, one.ip) : one;
            return { type: "purchase", at: base - index, account: `bulk-${index}`, device, session, isDriven: true };
          });
          await ground.collect({ events, ip: one.ip, agent: botAgent, shape, isLean: true });
        });
        judge(setting, { attack, world }, damage);
        const { accused, sources } = damage;
        const most = isManyDevices ? casesOfCrowdMax : 1;
        ledger.goal({ attack, world, what: "cases in all" }, accused.length + sources.length, most);
      }
    },
  };
}

// What anybody can make a server report about a customer with a script, in the attacker's own session: a failed log-in, or a
// request for a new password. It must tie, link and accuse nothing. Otherwise anyone who types a customer's name could send
// events for that customer.
function tie(world: "server" | "signed", type: "login_failed" | "custom:reset_asked"): Trial {
  const attack = `tie by ${type}`;
  const tied = victims.slice(0, 2);
  const told = (base: number) => {
    const own = { session: attackerSession(base), device: attacker.device, ip: attacker.ip, agent: botAgent };
    return tied.map((account): Act => ({ id: `tie-${account}`, type, at: base - minute, account, ...own }));
  };
  return {
    attack,
    world,
    run: async (setting) => {
      for (const shape of shapesOf(setting)) {
        const send: Attack = async (ground, base) => {
          const own = { device: attacker.device, session: attackerSession(base), ip: attacker.ip };
          for (const account of tied) {
            await ground.collect(robot(own, { account, at: base }, shape));
            await ground.collect(madeUpTheft(own, { account, at: base }, shape));
          }
        };
        const damage = await inShop(setting, world, send, told);
        judge(setting, { attack, world }, damage);
      }
    },
  };
}

// Invalid names, names that look like others, keys of other tenants, and tokens that are not valid for the name.
function odd(world: World): Trial {
  const attack = "odd names, keys and tokens";
  return {
    attack,
    world,
    run: async (setting) => {
      const { random, stand } = setting;
      const other = await stand.tenant();
      for (const shape of shapes) {
        const damage = await inShop(setting, world, async (ground, base) => {
          const requests = [
            ...oddIds(victims[0] ?? "").map((account, index) =>
              robot(newGuise(random, base, ownAddress(index)), { account, at: base }, shape),
            ),
            ...oddTokens(ground, { victim: victims[1] ?? "", own: mallory, other: other.app_key }).map((token, index) => {
              const forged = robot(newGuise(random, base, ownAddress(100 + index)), { account: victims[1], at: base }, shape);
              return { ...forged, events: forged.events.map((event) => ({ ...event, token })) };
            }),
          ];
          await sendAll(ground, requests);
          const abroad = robot(newGuise(random, base, ownAddress(200)), { account: victims[2], at: base }, shape);
          const naming = { tenant_id: ground.tenant.tenant_id };
          const events = abroad.events.map((event) => ({ ...event, attributes: naming }));
          await ground.collect({ ...abroad, events }, other.app_key);
        });
        await stand.drained(other.tenant_id);
        judge(setting, { attack, world }, damage);
      }
    },
  };
}

// An erased account must not be recreated because a page names it.
function erased(world: World): Trial {
  const attack = "name an erased account";
  return {
    attack,
    world,
    run: async (setting) => {
      const ground = await openGround(setting, world);
      const base = Date.now();
      await ground.tell(crowd(base).acts);
      const gone = victims[0] ?? "";
      await ground.must("DELETE", `/enduseraccounts/${gone}`);
      const before = await lookAt(ground);
      for (const shape of shapes)
        await ground.collect(robot(newGuise(setting.random, base, ownAddress(1)), { account: gone, at: base }, shape));
      await ground.settle();
      judge(setting, { attack, world }, damageOf(before, await lookAt(ground)));
    },
  };
}

// One browser per account, each from its own network, all in one IPv6 block such as a provider gives to a customer.
const networks = 100;
function block(world: World): Trial {
  const attack = `accuse ${networks} from one IPv6 block`;
  return {
    attack,
    world,
    run: async (setting) => {
      const damage = await inShop(setting, world, async (ground, base) => {
        for (let index = 0; index < networks; index++) {
          const guise = newGuise(setting.random, base, `2001:db8:66:${(index + 1).toString(16)}::9`);
          await ground.collect(robot(guise, { account: `claimed-${index}`, at: base }, "tag"));
        }
      });
      judge(setting, { attack, world }, damage);
      const all = damage.accused.length + damage.sources.length;
      setting.ledger.goal({ attack, world, what: "cases in all" }, all, casesOfCrowdMax);
    },
  };
}

// What a forger achieves against a tenant that uses only the snippet, by the number of addresses. Measured, without a goal.
const accountsNamed = 48;
function reach(addresses: number): Trial {
  const attack = `accuse ${accountsNamed} accounts from ${addresses} address${addresses === 1 ? "" : "es"}`;
  return {
    attack,
    world: "snippet",
    run: async (setting) => {
      const damage = await inShop(setting, "snippet", async (ground, base) => {
        for (let index = 0; index < accountsNamed; index++) {
          const guise = newGuise(setting.random, base, ownAddress(index % addresses));
          await ground.collect(robot(guise, { account: `claimed-${index}`, at: base }, "tag"));
        }
      });
      judge(setting, { attack, world: "snippet" }, damage);
    },
  };
}

export const accuseTrials: Trial[] = [
  ...(["server", "signed", "snippet"] as const).flatMap((world) => [
    accuse(world),
    bulk(world, false),
    bulk(world, true),
    block(world),
  ]),
  ...(["server", "signed"] as const).flatMap((world) => [
    tie(world, "login_failed"),
    tie(world, "custom:reset_asked"),
    odd(world),
    erased(world),
  ]),
  ...[1, 4, 16].map(reach),
];
