import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import { newGuise, ownAddress, repeat, type Guise } from "./forge.ts";
import { mallory, type Act, type CaseItem, type Ground } from "./ground.ts";
import { movedBetween, movedMax, playOn, type Played } from "./hide.ts";
import { oddIds } from "./odd.ts";
import { agents, botAgent, shapes, strangeAgent, type PageEvent, type PageRequest } from "./page-event.ts";
import {
  actsOf,
  attacker,
  attackerSession,
  innocent,
  minute,
  office,
  officeIp,
  owner,
  stolen,
  stuffing,
  stuffingDevice,
  stuffingIp,
  takeover,
  theft,
  thief,
  victims,
  type Forgery,
  type Story,
} from "./story.ts";
import type { Setting, Trial } from "./trial.ts";

const reported = "reported";

// Everything at once: a theft, stuffing, people in an office, and a case that a server's report opened.
function wholeStory(base: number): Story {
  const [crowd, history, login, change, payment] = takeover(base).stages;
  const [, officeHistory, , morning, noon] = office(base).stages;
  const tries = stuffing(base, "device").stages.slice(1, 3);
  const report: Act = {
    id: "report",
    type: "fraud_report",
    at: base - minute,
    account: reported,
    ip: officeIp,
    agent: agents[0],
  };
  const stages = [
    crowd,
    history,
    officeHistory,
    tries[0],
    login,
    morning,
    { name: "report", acts: [report] },
    tries[1],
    change,
    noon,
    payment,
  ];
  return { stages: stages.filter((stage) => stage !== undefined) };
}

const kinds = ["accuse", "hide", "flood", "bury", "keep open"] as const;
const types = [
  "login_succeeded",
  "login_failed",
  "signup",
  "purchase",
  "payment",
  "password_changed",
  "payee_added",
  "logout",
  "fraud_report",
  "_page_view",
  "_session_start",
  "_user_engagement",
  "add_to_cart",
];

// An attacker who draws each request at random: its purpose, its apparent sender, its time, and the account that it names.
class Chancer {
  readonly #random: Random;
  readonly #ground: Ground;
  readonly #base: number;
  sent = 0;

  constructor(random: Random, ground: Ground, base: number) {
    this.#random = random;
    this.#ground = ground;
    this.#base = base;
  }

  async send(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.#ground.collect(this.#request());
      this.sent++;
    }
  }

  #request(): PageRequest {
    const random = this.#random;
    const kind = random.pick(kinds);
    const count = { accuse: 12, hide: 20, flood: 200, bury: 40, "keep open": 10 }[kind];
    const guise = this.#guise(kind === "hide");
    const account = this.#account(kind);
    const from = this.#time();
    const gapMs = random.pick([1, 100, 1000, minute]);
    const token = random.chance(0.2) ? { token: this.#token() } : {};
    const type = random.pick(types);
    const events = repeat(count, (index): PageEvent => {
      const isFresh = kind === "flood" || kind === "bury" || kind === "keep open";
      const { device, session } = isFresh && random.chance(0.8) ? newGuise(random, from, "") : guise;
      const amount = kind === "hide" ? stolen : random.whole(1, 100_000);
      return {
        type: random.chance(0.5) ? type : random.pick(types),
        at: from + index * gapMs,
        account: kind === "flood" ? `flood-${random.hex(1)}` : account,
        device,
        ...(random.chance(0.9) && { session }),
        attributes: { amount, result: random.pick(["ok", "failure"]), email: "x@mailinator.com" },
        isDriven: random.chance(0.5),
        ...token,
      };
    });
    const agent = random.pick([...agents, strangeAgent, botAgent]);
    return { events, ip: guise.ip, agent, shape: random.pick(shapes), isPacked: random.chance(0.1) };
  }

  // Never somebody else's session, because those are secret. The thief's and the stuffer's devices belong to the attacker.
  #guise(isHiding: boolean): Guise {
    const random = this.#random;
    const ips = [ownAddress(random.whole(0, 20)), officeIp, thief.ip, stuffingIp("device", 0), attacker.ip];
    const fresh = newGuise(random, this.#base, random.pick(ips));
    if (random.chance(0.2)) return { ...fresh, device: attacker.device, session: attackerSession(this.#base) };
    return isHiding || random.chance(0.2) ? { ...fresh, device: random.pick([thief.device, stuffingDevice]) } : fresh;
  }

  #account(kind: (typeof kinds)[number]): unknown {
    const random = this.#random;
    if (kind === "keep open") return reported;
    if (kind === "hide") return random.pick([owner.account, `invented-${random.hex(1)}`]);
    return random.pick([
      ...victims,
      owner.account,
      "stuffed-3",
      "newcomer-0",
      "colleague-1",
      reported,
      `invented-${random.hex(1)}`,
      random.pick(oddIds(owner.account)),
      null,
    ]);
  }

  // Now, late, at the time of the theft, long ago, or in the future.
  #time(): number {
    const random = this.#random;
    const day = 24 * 60 * minute;
    const backMs = random.pick([0, 5 * minute, 10 * minute, 60 * minute, 3 * day, 21 * day, 80 * day, -60 * minute, -365 * day]);
    return this.#base - backMs - random.whole(0, minute);
  }

  #token(): string {
    return this.#ground.world === "signed" ? this.#ground.tokenFor(mallory) : `v1.${Date.now()}.${this.#random.hex(8)}`;
  }
}

async function closeReported(ground: Ground, chancer: Chancer, requests: number): Promise<{ tried: number; refused: number }> {
  const cases = await ground.cases(`website_account_id=${reported}&status=OPEN`);
  await Promise.all([chancer.send(requests), sleep(300)]);
  await ground.settle();
  const statuses = await Promise.all(cases.map((each) => ground.close(each)));
  return { tried: cases.length, refused: statuses.filter((status) => status !== 200).length };
}

function accountsOf(cases: CaseItem[]): Set<string> {
  return new Set(cases.map((each) => each.website_account_id).filter((id) => id !== "UNKNOWN" && id !== mallory));
}

type Round = { story: Story; clean: Played; world: "server" | "signed"; round: number };

async function judgeRound({ ledger }: Setting, { story, clean, world, round }: Round, forged: Played): Promise<void> {
  const row = { attack: "random attacks", world };
  const where = `round ${round}`;
  const [before, after] = [accountsOf(await clean.ground.cases()), accountsOf(await forged.ground.cases())];
  const accused = [...after.difference(before)];
  const hidden = [...before.difference(after)];
  ledger.goal({ ...row, what: "accounts accused" }, accused.length, 0, `${where}: ${accused.slice(0, 5).join(", ")}`);
  ledger.goal({ ...row, what: "cases of accounts lost" }, hidden.length, 0, `${where}: ${hidden.join(", ")}`);
  const created = [...(await forged.ground.accounts()).keys()].filter((id) => !forged.ground.named.has(id));
  ledger.goal({ ...row, what: "accounts created" }, created.length, 0, where);
  const bad = movedBetween(
    [...theft, "stuffing 0", "stuffing 10"].flatMap((stage) => actsOf(story, stage)),
    clean,
    forged,
  );
  const good = movedBetween(
    innocent.flatMap((stage) => actsOf(story, stage)),
    clean,
    forged,
  );
  ledger.goal({ ...row, what: "log-odds of real attacks fell by" }, bad.fall, movedMax, `${where}: ${bad.where}`);
  ledger.note({ ...row, what: "log-odds of real attacks rose by" }, bad.rise);
  ledger.goal(
    { ...row, what: "log-odds of innocents moved by" },
    Math.max(good.fall, good.rise),
    movedMax,
    `${where}: ${good.where}`,
  );
}

function combine(world: "server" | "signed"): Trial {
  const attack = "random attacks";
  return {
    attack,
    world,
    run: async (setting) => {
      const { ledger, scale } = setting;
      const [rounds, aStage] = scale === "full" ? [12, 12] : [1, 4];
      let sent = 0;
      for (let round = 0; round < rounds; round++) {
        const random = setting.random.fork(`round ${round}`);
        const base = Date.now();
        const story = wholeStory(base);
        const clean = await playOn(setting, world, story);
        let closed = { tried: 0, refused: 0 };
        const forge = (ground: Ground): Forgery => {
          const chancer = new Chancer(random, ground, base);
          return async (stage) => {
            // Until its server first reports, the tenant uses only the snippet, and a page's claims count.
            if (world === "server" && stage === story.stages[0]?.name) return undefined;
            await chancer.send(aStage);
            if (stage === "payment") closed = await closeReported(ground, chancer, aStage);
            sent += stage === "end" ? chancer.sent : 0;
            return random.chance(0.5) ? "racing" : undefined;
          };
        };
        const forged = await playOn(setting, world, story, forge);
        await judgeRound(setting, { story, clean, world, round }, forged);
        if (closed.tried !== 1) ledger.fail(`${attack}, ${world}: round ${round}: ${closed.tried} cases of the report, not 1`);
        ledger.goal({ attack, world, what: "closes rejected" }, closed.refused, 0, `round ${round}`);
      }
      ledger.note({ attack, world, what: "rounds" }, rounds);
      ledger.note({ attack, world, what: "requests" }, sent);
    },
  };
}

export const chanceTrials: Trial[] = [combine("server"), combine("signed")];
