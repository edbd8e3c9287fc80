import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@casehound/simulator/random";
import { ServiceProcess, connectToFolder, freePort, killHard, processesOf, readDemo } from "../../service/test/launch.ts";
import type { Findings } from "../part.ts";
import { Ledger, audit } from "../writers/ledger.ts";
import { Crew } from "./crew.ts";
import type { Figures } from "./house.ts";
import { SmallDisk } from "./small-disk.ts";
import { WatchedCaller } from "./watched-caller.ts";

const writersMax = 4;
const fullMs = 6_000;
const batchMax = 300;
const batchesMax = 400;

type Tenant = { tenant_id: string; app_key: string };

// A service with its own PostgreSQL, as `npm start` runs it, on a disk that fills up.
export async function fillDisk(random: Random): Promise<Findings> {
  const disk = SmallDisk.make();
  const port = await freePort();
  const env = { DATA_DIR: disk.folder, PORT: String(port), LOG_LEVEL: "silent" };
  const service = new ServiceProcess(env);
  const ledger = new Ledger();
  try {
    await service.up();
    const line = new WatchedCaller(port, readDemo(disk.folder));
    await line.signIn();
    const { tenant_id: tenantId, app_key: appKey } = await findTenant(disk.folder, readDemo(disk.folder).tenant);
    const crew = new Crew(writersMax, { line, ledger, random, appKey });
    await crew.begin();
    await crew.allGetOn();
    const figures = await crew.goThrough({
      name: "a full disk",
      begin: async () => {
        await disk.fill();
        await writeUntilRefused(line, { ledger, random });
        const read = await line.call({ method: "GET", path: "/cases" });
        if (read?.status !== 200) ledger.violate(`a full disk: a read returned ${read?.status}`);
      },
      lastsMs: fullMs,
      end: () => disk.free(),
      mustSee: ["502"],
    });
    if (disk.isMounted) Object.assign(figures, await leaveNoRoomForLog(disk, crew));
    await crew.stop();
    await check(disk.folder, tenantId, ledger);
    return {
      figures: {
        ...figures,
        "a full disk: simulated by": disk.how,
        "a full disk: activities, each scored once": ledger.activities.size,
      },
      violations: ledger.violations,
    };
  } finally {
    service.signal("SIGKILL");
    await service.exited;
    for (const pid of processesOf(disk.folder)) killHard(pid);
    while (processesOf(disk.folder).length > 0) await sleep(20);
    disk.remove();
  }
}

// PostgreSQL stops if it cannot write its log, and cannot start again until there is room.
async function leaveNoRoomForLog(disk: SmallDisk, crew: Crew): Promise<Figures> {
  const before = countStarts(disk.folder);
  const name = "no room for the write-ahead log";
  const figures = await crew.goThrough({
    name,
    begin: async () => {
      const client = await connectToFolder(disk.folder);
      await disk.fill();
      let isGone = false;
      while (!isGone) {
        isGone = await client.query("select pg_logical_emit_message(false, 'proof', 'x'), pg_switch_wal()").then(
          () => false,
          () => true,
        );
      }
      await client.end();
    },
    lastsMs: fullMs,
    end: () => disk.free(),
    mustSee: ["502"],
  });
  return { ...figures, [`${name}: restarts of PostgreSQL`]: countStarts(disk.folder) - before };
}

async function findTenant(folder: string, slug: string): Promise<Tenant> {
  const client = await connectToFolder(folder);
  const { rows } = await client.query<Tenant>("select tenant_id, app_key from tenants where slug = $1", [slug]);
  await client.end();
  if (!rows[0]) throw new Error(`no tenant ${slug}`);
  return rows[0];
}

// Writes batches, each of which is stored completely or not at all. A batch without a response is not sent again.
async function writeUntilRefused(line: WatchedCaller, { ledger, random }: { ledger: Ledger; random: Random }): Promise<void> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const activities = Array.from({ length: batchMax }, () => ({
      activity_id: random.uuid(),
      type: "page_view",
      occurred_at: new Date().toISOString(),
      device_id: "filler",
      // Random, because other values would be compressed.
      attributes: Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`a${index}`, random.uuid().repeat(3)])),
    }));
    const answer = await line.call({ method: "POST", path: "/activities", body: { activities } });
    if (answer?.status !== 202) return;
    for (const { activity_id } of activities) ledger.activities.add(activity_id);
  }
  ledger.violate(`a full disk: ${batchesMax} batches were accepted nevertheless`);
}

async function check(folder: string, tenantId: string, ledger: Ledger): Promise<void> {
  const client = await connectToFolder(folder);
  while ((await client.query("select 1 from inbox limit 1")).rowCount !== 0) await sleep(50);
  await audit(ledger, client, tenantId);
  await client.end();
}

function countStarts(folder: string): number {
  return readFileSync(join(folder, "postgres.log"), "utf8").split("ready to accept connections").length - 1;
}
