import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Random } from "@casehound/simulator/random";
import { check } from "./checker.ts";
import { registerOf, type Call } from "./history.ts";
import { MadeHistory, got, move } from "./made-history.ts";

const accounts = ["a", "b"];

function randomHistory(seed: number, steps: number): MadeHistory {
  const random = new Random(String(seed));
  const made = new MadeHistory(random);
  for (const account of accounts) {
    made.makeAccount(account);
    made.report(account, `first-${account}`);
  }
  const keys: string[] = [];
  for (let step = 0; step < steps; step++) {
    const [id, known] = random.pick([...made.cases]);
    const account = random.pick(accounts);
    const marker = `step-${step}`;
    const status = random.pick(["OPEN", "CLOSED"]);
    const version = known.states.length - (random.chance(0.2) ? 1 : 0);
    const put = () => (made.put(id, marker, { status, version }), keys.push(marker));
    const bulk = () => made.closeMany([...made.cases.keys()], marker);
    const flag = () => made.changeAccount(account, marker, { is_blocked: random.chance(0.5) });
    const replay = () => (keys.length > 0 ? made.replay(random.pick(keys)) : made.refuse(marker));
    const reads = [() => made.read(id), () => made.list(account), () => made.readAccount(account)];
    random.pick([put, put, put, bulk, flag, replay, () => made.report(account, marker), ...reads])();
  }
  return made;
}

type Mutation = (made: MadeHistory, random: Random) => boolean;
const isRead = ({ deed }: Call) => deed === undefined;
const hasMade = ({ deed }: Call) => deed !== undefined && deed.made.length > 0 && !deed.isReplay;

function pickFrom<T>(random: Random, list: T[]): T | undefined {
  return list.length === 0 ? undefined : random.pick(list);
}

// Each mutation makes a correct history wrong, if it finds a place for it.
const mutations: Record<string, Mutation> = {
  "a read before everything": ({ calls }, random) => {
    const read = pickFrom(random, calls.filter(isRead));
    return read !== undefined && Boolean(move(read, -1_000));
  },
  "an old read after everything": (made, random) => {
    const old = ({ sights: [first] }: Call) =>
      [...made.cases].some(([id, { states }]) => first?.register === registerOf.case(id) && Number(first.value) < states.length);
    const read = pickFrom(
      random,
      made.calls.filter((call) => isRead(call) && old(call)),
    );
    for (const id of made.cases.keys()) made.read(id);
    return read !== undefined && Boolean(move(read, got(made.calls.at(-1)).end + 1_000));
  },
  "a missing entry": ({ log }, random) => log.splice(random.whole(1, log.length - 2), 1).length === 1,
  "a repeated entry": ({ log }, random) => {
    const index = random.whole(0, log.length - 1);
    return log.splice(index, 0, { ...got(log[index]) }).length === 0;
  },
  "a state that nobody made": ({ cases }, random) => {
    const [, { states }] = random.pick([...cases]);
    random.pick(states).marker = "ghost";
    return true;
  },
  "a rejection of an applied change": ({ calls }, random) => {
    const done = pickFrom(random, calls.filter(hasMade));
    for (const { deed } of calls) if (deed && deed.marker === done?.deed?.marker) deed.outcome = "refused";
    return done !== undefined;
  },
  "a change after everything": (made, random) => {
    const done = pickFrom(random, made.calls.filter(hasMade));
    for (const id of made.cases.keys()) made.read(id);
    const { end } = got(made.calls.at(-1));
    for (const call of made.calls) if (done && call.deed?.marker === done.deed?.marker) move(call, end + 1_000);
    return done !== undefined;
  },
  "a replay with other bytes": ({ calls }, random) => {
    const replay = pickFrom(
      random,
      calls.filter(({ deed }) => deed?.isReplay === true),
    );
    if (replay?.deed) replay.deed.bytes += "?";
    return replay !== undefined;
  },
  "a change that two calls claim": ({ calls }, random) => {
    const done = pickFrom(random, calls.filter(hasMade));
    if (done?.deed) calls.push({ ...done, deed: { ...done.deed, marker: "another" } });
    return done !== undefined;
  },
  "different content": (made, random) => {
    const { sights } = random.pick(made.calls.filter((call) => isRead(call) && call.sights[0]?.facts !== undefined));
    got(sights[0]).facts += "?";
    return true;
  },
};

const seeds = fc.tuple(fc.integer(), fc.integer({ min: 20, max: 120 }));

test("checker: any history of a correct service passes, however its calls overlap", () => {
  fc.assert(
    fc.property(seeds, ([seed, steps]) => {
      expect(check(randomHistory(seed, steps)).violations).toEqual([]);
    }),
  );
});

test.each(Object.entries(mutations))("checker: detects %s in any history", (_name, mutate) => {
  fc.assert(
    fc.property(seeds, fc.integer(), ([seed, steps], chance) => {
      const made = randomHistory(seed, steps);
      made.read("case-1");
      fc.pre(mutate(made, new Random(`mutation ${chance}`)));
      expect(check(made).violations).not.toEqual([]);
    }),
  );
});
