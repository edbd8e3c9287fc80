import { setTimeout as sleep } from "node:timers/promises";
import { clientTrials } from "./full-and-slow/client-trials.ts";
import { databaseTrials } from "./full-and-slow/database-trials.ts";
import { fillDisk } from "./full-and-slow/disk.ts";
import { leaksOf, type Holding } from "./full-and-slow/holding.ts";
import { House, type Figures } from "./full-and-slow/house.ts";
import { UnreadClients } from "./full-and-slow/unread.ts";
import type { Findings, Part, Proof } from "./part.ts";

const warmUpMs = { short: 1_000, full: 6_000 };
// Longer than an idle connection of a client or a pool is kept.
const quietMs = 90_000;
const trials = [...databaseTrials, ...clientTrials];

async function run(proof: Proof): Promise<Findings> {
  // Runs separately, because its PostgreSQL is on a disk of its own.
  const disk = proof.scale === "full" ? fillDisk(proof.random.fork("disk")) : Promise.resolve({ figures: {}, violations: [] });
  const [house, full] = await Promise.all([runHouse(proof), disk]);
  return { figures: { ...house.figures, ...full.figures }, violations: [...house.violations, ...full.violations] };
}

async function runHouse({ scale, random, progress }: Proof): Promise<Findings> {
  const house = await House.open(scale, random.fork("house"));
  const { crew, ledger } = house;
  const figures: Figures = {};
  try {
    await house.fillList();
    await crew.begin();
    await sleep(warmUpMs[scale]);
    await crew.stop();
    const before = await house.hold();
    crew.start();
    const unread = await UnreadClients.open(house);
    const chosen = trials.filter(({ isShort }) => isShort || scale === "full");
    for (const [index, { name, run: tryOut }] of chosen.entries()) {
      progress(index, chosen.length, `trials, now ${name}`);
      Object.assign(figures, await tryOut(house));
    }
    Object.assign(figures, await unread.end());
    await crew.stop();
    if (house.hasExited) ledger.violate("the service ended");
    Object.assign(figures, await house.audit(), await compare(house, before));
    return {
      figures: {
        trials: chosen.length,
        requests: ledger.requests,
        "acknowledged changes, each found once": ledger.changes.size,
        ...figures,
      },
      violations: ledger.violations,
    };
  } finally {
    await house.close();
  }
}

// Waits for what must time out first.
async function compare(house: House, before: Holding): Promise<Figures> {
  const deadline = Date.now() + quietMs;
  let after = await house.hold();
  while (leaksOf(before, after).length > 0 && Date.now() < deadline) {
    await sleep(500);
    after = await house.hold();
  }
  for (const leak of leaksOf(before, after)) house.ledger.violate(`leaked in the trials: ${leak}`);
  return {
    "heap before and after, MB": `${megabytes(before)}, ${megabytes(after)}`,
    "file descriptors before and after": `${before.descriptors}, ${after.descriptors}`,
    "connections to the database before and after": `${before.databaseConnections}, ${after.databaseConnections}`,
    "handles before": tell(before),
    "handles after": tell(after),
  };
}

function megabytes({ heapBytes }: Holding): string {
  return (heapBytes / 1024 / 1024).toFixed(1);
}

function tell({ resources }: Holding): string {
  const sorted = Object.entries(resources).toSorted(([one], [other]) => one.localeCompare(other));
  return sorted.map(([kind, count]) => `${count} ${kind}`).join(", ");
}

export const fullAndSlow: Part = {
  name: "full-and-slow",
  title: "Full disks, slow statements and lost connections",
  claim:
    "The database's disk is full, its connections are in use, its tables are locked, a statement takes too long, or the network goes silent without closing anything. Clients send one byte at a time, never read, stay idle by the thousand, and disconnect at every stage of a request. Each request gets its documented response, and slow clients do not affect others. When the disturbance is over, everything recovers by itself, with nothing lost and nothing applied twice. At the end the process holds no more resources than before.",
  run,
};
