import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BackupFault } from "../service/src/db/backup/dump-file.ts";
import {
  checkFile,
  digestLog,
  digestTables,
  findTorn,
  listKeys,
  readLogEnds,
  within,
  writeOn,
} from "../service/test/backup-lab.ts";
import { launchCli, runCli } from "../service/test/cli.ts";
import { connectTo, createDatabase, type ServiceProcess } from "../service/test/launch.ts";
import { send } from "../service/test/send.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const sizes = {
  short: { rounds: 1, kills: 1, damages: 60, restMs: 1_000 },
  full: { rounds: 5, kills: 3, damages: 400, restMs: 4_000 },
};

const closesBefore = 10;

type Trial = {
  stand: Stand;
  proof: Proof;
  folder: string;
  closed: string[];
  violations: string[];
  figures: Record<string, number>;
};

function count({ figures }: Trial, name: string, more: number): void {
  figures[name] = (figures[name] ?? 0) + more;
}

type Load = { service: ServiceProcess; writers: Promise<void>[] };

async function startLoad({ stand, closed }: Trial, signal: AbortSignal): Promise<Load> {
  const service = await stand.start();
  const { port } = service;
  const tenants = [await stand.tenant(), await stand.tenant()];
  const writers: Promise<void>[] = [];
  for (const { tenant, client_id, client_secret } of tenants) {
    const rawBody = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const granted = await send(port, "POST", "/v2/oauth/token", { rawBody, headers });
    const { access_token: token } = JSON.parse(granted.text) as { access_token: string };
    for (const _each of [1, 2]) writers.push(writeOn({ port, tenant, token }, signal, closed));
  }
  // The first backup must contain some events, even on a slow machine.
  while (closed.length < closesBefore) await Promise.race([sleep(50), ...writers]);
  return { service, writers };
}

async function backUp(trial: Trial, name: string): Promise<string> {
  const file = join(trial.folder, name);
  const { code, err } = await runCli(["backup", file], { DATABASE_URL: trial.stand.databaseUrl });
  if (code !== 0) trial.violations.push(`a backup under load failed: ${err}`);
  count(trial, "backups", 1);
  return file;
}

async function restore(trial: Trial, file: string): Promise<string> {
  const url = await createDatabase(trial.stand.databaseUrl);
  const { code, err } = await runCli(["restore", file], { DATABASE_URL: url });
  if (code !== 0) trial.violations.push(`a complete backup could not be restored: ${err}`);
  count(trial, "restores", 1);
  return url;
}

// The copy must be one moment of the original: nothing torn, its log a prefix of the original's, and everything included that was
// acknowledged before the backup began.
export async function compareMoment(
  { copy, original }: { copy: string; original: string },
  answered: string[],
): Promise<{ violations: string[]; events: number }> {
  const violations = await within(copy, findTorn);
  const ends = await within(copy, readLogEnds);
  const [here, there] = [
    await within(copy, (client) => digestLog(client, ends)),
    await within(original, (client) => digestLog(client, ends)),
  ];
  for (const id of Object.keys(ends))
    if (here[id] !== there[id]) violations.push(`the log of tenant ${id} differs before event ${ends[id]}`);
  const kept = await within(copy, listKeys);
  const lost = answered.filter((key) => !kept.has(key));
  if (lost.length > 0)
    violations.push(`${lost.length} closes were acknowledged before the backup, but are not in it: ${lost[0]}`);
  return { violations, events: Object.values(ends).reduce((sum, end) => sum + Number(end), 0) };
}

async function tryMoment(trial: Trial, round: number): Promise<void> {
  const { proof, stand, closed, violations } = trial;
  await sleep(proof.random.between(0.2, 1) * sizes[proof.scale].restMs);
  const answered = [...closed];
  const copy = await restore(trial, await backUp(trial, `moment-${round}`));
  const compared = await compareMoment({ copy, original: stand.databaseUrl }, answered);
  violations.push(...compared.violations);
  count(trial, "events compared", compared.events);
}

// A restore killed at any moment must leave nothing or, if it had already finished, everything.
async function tryKill(trial: Trial, file: string, whole: Record<string, string>): Promise<void> {
  const url = await createDatabase(trial.stand.databaseUrl);
  const running = launchCli(["restore", file], { DATABASE_URL: url });
  await sleep(trial.proof.random.between(500, 3_000));
  running.child.kill("SIGKILL");
  await running.ended;
  await connectionsGone(url);
  const left = await within(url, digestTables);
  const isWhole = JSON.stringify(left) === JSON.stringify(whole);
  if (Object.keys(left).length > 0 && !isWhole)
    trial.violations.push("a restore that was killed left part of the database behind");
  count(trial, "restores killed", 1);
}

// PostgreSQL notices the kill only when it next uses the connection.
async function connectionsGone(url: string): Promise<void> {
  const client = await connectTo({ connectionString: url });
  const text = "select 1 from pg_stat_activity where datname = current_database() and application_name = 'casehound'";
  while ((await client.query(text)).rows.length > 0) await sleep(50);
  await client.end();
}

async function tryDamages(trial: Trial, file: string): Promise<void> {
  const { random, scale } = trial.proof;
  const bytes = readFileSync(file);
  const damaged = join(trial.folder, "damaged");
  for (let done = 0; done < sizes[scale].damages; done++) {
    const [at, bit] = [random.whole(0, bytes.length - 1), random.whole(0, 7)];
    const isCut = random.chance(0.3);
    const other = Buffer.from(isCut ? bytes.subarray(0, at) : bytes);
    if (!isCut) other[at] = (other[at] ?? 0) ^ (1 << bit);
    writeFileSync(damaged, other);
    const what = isCut ? `cut at ${at}` : `with bit ${bit} of byte ${at} flipped`;
    await checkFile(damaged).then(
      () => trial.violations.push(`a file ${what} of ${bytes.length} was accepted as complete`),
      (error: unknown) =>
        error instanceof BackupFault || trial.violations.push(`a file ${what} was rejected with ${String(error)}`),
    );
    count(trial, "damaged files rejected", 1);
  }
  const dataDir = join(trial.folder, "never");
  const { code } = await runCli(["restore", damaged], { DATA_DIR: dataDir });
  if (code !== 1 || existsSync(dataDir))
    trial.violations.push(`a damaged file was not rejected before the folder was created: ${code}`);
}

async function run(proof: Proof): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), "casehound-proof-backup-"));
  const { rounds, kills } = sizes[proof.scale];
  const stand = await Stand.open();
  const trial: Trial = { stand, proof, folder, closed: [], violations: [], figures: {} };
  const stopping = new AbortController();
  try {
    const { service, writers } = await startLoad(trial, stopping.signal);
    for (let round = 0; round < rounds; round++) {
      proof.progress(round, rounds, "backups under load");
      await tryMoment(trial, round);
    }
    stopping.abort();
    await Promise.all(writers);
    await service.stop();
    const file = await backUp(trial, "still");
    const [original, copy] = [stand.databaseUrl, await restore(trial, file)];
    const [before, after] = [await within(original, digestTables), await within(copy, digestTables)];
    const differing = Object.keys(before).filter((name) => before[name] !== after[name]);
    trial.violations.push(...differing.map((name) => `the table ${name} differs after a restore: ${after[name]}`));
    count(trial, "tables compared row by row", Object.keys(before).length);
    for (let kill = 0; kill < kills; kill++) {
      proof.progress(kill, kills, "restores killed");
      await tryKill(trial, file, before);
    }
    await tryDamages(trial, file);
    return { figures: { ...trial.figures, "closes acknowledged under load": trial.closed.length }, violations: trial.violations };
  } finally {
    stopping.abort();
    await stand.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const backup: Part = {
  name: "backup",
  title: "Backup and restore",
  claim:
    "A backup taken under load is a snapshot of one moment, with every change that was acknowledged before it. A restore brings back every row unchanged. Damaged files are rejected before anything is touched, and a restore that is killed leaves nothing behind.",
  run,
};
