import { listMisplaced } from "../db/citus/distribute.ts";
import { isCluster, listNodes } from "../db/citus/nodes.ts";
import { fail, ok, type Check } from "./doctor-checks.ts";
import type { Store } from "./store.ts";

const name = "node of cluster";

// Names each node of a Citus cluster, and the tables that are not where they should be.
export async function checkNodes({ database }: Store): Promise<Check[]> {
  if (!(await isCluster(database))) return [];
  const [nodes, misplaced] = await Promise.all([listNodes(database), listMisplaced(database)]);
  const checks = nodes.map((node) =>
    node.fault === null
      ? ok(name, `${node.name} answers`)
      : fail(name, `${node.name} is down: ${node.fault}`, "start it: until then its tenants get 502, and the others are served"),
  );
  if (misplaced.length === 0) return checks;
  const tables = misplaced.map(({ table }) => table).join(", ");
  return [...checks, fail(name, `these tables are not distributed: ${tables}`, "stop the service and run casehound distribute")];
}
