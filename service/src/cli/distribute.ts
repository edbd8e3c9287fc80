import { distribute, findMisplaced, shardsDefault, shardsMax, type TablePlacement } from "../db/citus/distribute.ts";
import { checkMigrations } from "../db/postgres/migrate.ts";
import { UsageFault, textOption, type Call, type Command, type Options, type Outcome } from "./command.ts";
import { table } from "./table.ts";

function readShards(options: Options): number {
  const text = textOption(options, "shards") ?? String(shardsDefault);
  const shards = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > shardsMax) throw new UsageFault(`--shards must be a whole number from 1 to ${shardsMax}`);
  return shards;
}

function text(tables: TablePlacement[]): string {
  return table(
    ["table", "is", "should be"],
    tables.map((each) => [each.table, each.is ?? "missing", each.should]),
  );
}

async function check({ store }: Call): Promise<Outcome> {
  const client = await store.database.connect();
  try {
    const misplaced = await findMisplaced(client);
    if (misplaced.length === 0) return { result: { misplaced }, text: "every table is where it should be" };
    return { result: { misplaced }, text: text(misplaced), isFailure: true };
  } finally {
    await client.end();
  }
}

async function run(call: Call): Promise<Outcome> {
  const shards = readShards(call.options);
  if (call.options["check"] === true) return check(call);
  await checkMigrations(call.store.database);
  const placed = await distribute(call.store.database, shards);
  const names = placed.map((each) => each.table);
  return { result: { placed: names }, text: names.length === 0 ? "nothing to do" : `placed ${names.join(", ")}` };
}

export const distributeCommand: Command = {
  name: "distribute",
  usage: "distribute [--check] [--shards <n>]",
  summary: "distributes the tables over the nodes of a Citus cluster, by tenant",
  positionals: { min: 0, max: 0 },
  options: {
    check: { type: "boolean", describe: "only list the tables that are not where they should be" },
    shards: { type: "string", describe: `how many shards there are, 1 to ${shardsMax} (default ${shardsDefault})` },
  },
  wants: { schema: "any", newDatabase: false },
  check: async ({ options }) => void readShards(options),
  run,
};
