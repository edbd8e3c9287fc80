import { storeModel } from "./isolation/model.ts";
import { storeApproval } from "../service/test/stored-approval.ts";
import { storeSnooze } from "../service/test/stored-snooze.ts";
import { connectTo, type Environment } from "../service/test/launch.ts";
import { send } from "../service/test/send.ts";
import { tryCollector } from "./bad-input/collector.ts";
import type { Context } from "./bad-input/context.ts";
import { sendValid } from "./bad-input/controls.ts";
import { tryCursors } from "./bad-input/cursors.ts";
import { settled } from "./bad-input/digest.ts";
import { readDocument } from "./bad-input/document.ts";
import { fuzzParser, sendTexts } from "./bad-input/json-texts.ts";
import { Ledger } from "./bad-input/ledger.ts";
import { sendMutated, sendMutatedActivities } from "./bad-input/raw-bytes.ts";
import { fuzzCompiler, sendRules } from "./bad-input/rule-texts.ts";
import { breakRules } from "./bad-input/schema-rules.ts";
import { Lines } from "./bad-input/wire.ts";
import { buildWorld } from "./bad-input/world.ts";
import { Pool } from "./bad-input/wrong-values.ts";
import type { Findings, Part, Proof, Scale } from "./part.ts";
import { Stand } from "./stand.ts";

// Switch off the limits, so requests are rejected for their content and not for their number.
const environment: Environment = {
  LOG_LEVEL: "error",
  RATE_LIMIT_CLIENT: "off",
  RATE_LIMIT_TENANT: "off",
  RATE_LIMIT_COLLECTOR: "off",
  QUOTA_ADDRESS_EVENTS: "off",
  QUOTA_ADDRESS_NAMES: "off",
  QUOTA_KEY_EVENTS: "off",
  QUOTA_KEY_NAMES: "off",
};

const requests: Record<Scale, number> = { short: 3_000, full: 100_000 };

async function run(proof: Proof): Promise<Findings> {
  const stand = await Stand.open();
  try {
    return await runOn(stand, proof);
  } finally {
    await stand.close();
  }
}

async function runOn(stand: Stand, { scale, random, progress }: Proof): Promise<Findings> {
  const total = requests[scale];
  const service = await stand.start(environment);
  const { port } = service;
  const client = await connectTo(stand.postgres.address);
  const lines = new Lines(port, 4);
  const ledger = new Ledger(progress, total);
  const build = async () => {
    const tenant = await stand.tenant();
    const world = await buildWorld(port, tenant);
    world.ids["model_id"] = await storeModel(stand.database, tenant.tenant_id, 1);
    world.ids["snooze_id"] = await storeSnooze(stand.database, tenant.tenant_id, "account-1");
    world.ids["approval_id"] = await storeApproval(stand.database, tenant.tenant_id, "a text");
    return world;
  };
  const [world, spare, loose] = await Promise.all([build(), build(), build()]);
  const operations = readDocument((await send(port, "GET", "/openapi.json")).text);
  const context: Context = {
    world,
    spare,
    loose,
    operations,
    lines,
    ledger,
    client,
    random,
    pool: new Pool(random.fork("pool")),
  };
  await settled(client);
  await breakRules(context, Math.round(total * 0.3));
  await sendTexts(context, Math.round(total * 0.1));
  await sendRules(context, Math.round(total * 0.05));
  await tryCursors(context, Math.round(total * 0.05));
  fuzzParser(context, total);
  fuzzCompiler(context, Math.round(total * 0.4));
  await sendMutated(context, Math.round(total * 0.4));
  // From here on, requests have effects that continue after the response.
  await sendValid(context);
  await sendMutatedActivities(context, Math.round(total * 0.05));
  await tryCollector(context, Math.round(total * 0.05));
  for (const loss of lines.losses) ledger.violate("a connection without a response", loss);
  lines.close();
  await client.end();
  const health = await send(port, "GET", "/readyz").catch((error: unknown) => ({ status: 0, text: String(error) }));
  if (health.status !== 200) ledger.violate("the service's health", health.text);
  const log = service.stderr.split("\n").filter((line) => line !== "");
  for (const line of log.slice(0, 5)) ledger.violate("the service's log", line);
  return { figures: ledger.figures(), violations: ledger.violations };
}

export const badInput: Part = {
  name: "bad-input",
  title: "Bad input",
  claim:
    "Whatever is sent, the service responds in JSON, never with a 5xx, and applies nothing that it rejects. The requests break every rule of every schema in the OpenAPI document, mutate the bytes of valid requests, and fuzz the JSON parser, the rule compiler, the cursors and the collector.",
  run,
};
