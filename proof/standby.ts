import type { Findings, Part, Proof } from "./part.ts";
import { laggingName, losses, missingStandby, takeOvers } from "./standby/trials.ts";

const counts = {
  short: { takeOvers: 3, losses: 1, moves: 1, seconds: 13 },
  full: { takeOvers: 50, losses: 10, moves: 10, seconds: 60 },
};

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const wanted = counts[scale];
  const trial = (name: string, total: number) => {
    let done = 0;
    return { scale, random: random.fork(name), onDone: (what: string) => progress(++done, total, what) };
  };
  const found = [
    await takeOvers(trial("failovers", wanted.takeOvers), wanted.takeOvers),
    await laggingName(trial("name", wanted.moves), wanted.moves),
    await missingStandby(trial("missing", wanted.seconds * 2), wanted.seconds),
    await losses(trial("losses", wanted.losses), wanted.losses),
  ];
  return {
    figures: Object.assign({}, ...found.map(({ figures }) => figures)) as Findings["figures"],
    violations: found.flatMap(({ violations }) => violations),
  };
}

export const standby: Part = {
  name: "standby",
  title: "A standby takes over",
  claim:
    "`DATABASE_URL` names a primary and its streaming standby. The primary is killed under load and the standby is promoted, again and again, with `synchronous_commit = remote_apply`: no acknowledged write is missing, no key is applied twice, and writes go on within a second of the promotion. A name that points to a read-only server for a while gets 502 and never an acknowledged write. While a standby that must confirm is down, nothing is acknowledged, not even a change that an earlier attempt has already made. Without synchronous replication, PostgreSQL loses what the standby had not received yet: those writes are counted and are no violation.",
  run,
};
