import { findTenant } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { deliver } from "../simulator/courier.ts";
import { attackKinds } from "../simulator/delivery.ts";
import { scenarioDeliveries } from "../simulator/scenario.ts";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { Progress } from "./progress.ts";
import { cellText } from "./table.ts";

// Until Ctrl+C, or until there is nothing more where that is asked for. Each line is written as it comes.
async function tail({ client, options }: ApiCall): Promise<Outcome> {
  const types = textOption(options, "types")?.split(",");
  const after = readWhole(options, "after", { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 });
  const isJson = options["json"] === true;
  let last = textOption(options, "after") === undefined ? await findEnd(client) : after;
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  let count = 0;
  for await (const event of client.events({ after: last, signal: stopping.signal, ...(types && { types }) })) {
    const { event_id, type, occurred_at, actor, resource } = event;
    const line = `${event_id}  ${occurred_at}  ${type}  ${cellText(resource.type)} ${cellText(resource.id)}  by ${cellText(actor)}`;
    process.stdout.write(`${isJson ? JSON.stringify(event) : line}\n`);
    last = event_id;
    count++;
  }
  return { result: { events: count, last_event_id: last }, text: `${count} events; go on with --after ${last}` };
}

// The number of the last event, without reading all of them.
async function findEnd(client: ApiCall["client"]): Promise<number> {
  const stopping = AbortSignal.timeout(10_000);
  for await (const first of client.follow({ after: 0, types: ["nothing.ever"], signal: stopping }))
    if (first.type === "reset" && "last_event_id" in first) return first.last_event_id;
  return 0;
}

async function send({ store, client, baseUrl, slug, token, options }: ApiCall): Promise<Outcome> {
  const kind = readOneOf(options, "scenario", attackKinds);
  if (kind === undefined) throw new UsageFault(`--scenario is needed: one of ${attackKinds.join(", ")}`);
  const tenant = await findTenant(store.database, slug);
  if (!tenant) throw new Failure("item-not-found", `there is no tenant ${slug}`);
  const { clickstream_app_id: appKey, allowed_origins: origins } = await client.getTenant();
  const [origin] = origins;
  if (origin === undefined)
    throw new Failure("bad-request", `the tenant ${slug} allows no origin: tenant update ${slug} --origin https://shop.example`);
  const seed = textOption(options, "seed") ?? `scenario-${Date.now()}`;
  const progress = new Progress();
  let sent = 0;
  const deliveries = scenarioDeliveries({ kind, seed, nowMs: Date.now(), appKey, origin });
  const tally = await deliver(
    deliveries,
    { baseUrl, tenant: slug, token },
    {
      onSent: (each) => {
        sent += each.kind === "server" ? each.activities.length : each.kind === "browser" ? each.events : 0;
        progress.show(() => `${sent} events sent`);
      },
    },
  );
  progress.clear();
  if (tally.problem !== undefined) throw new Failure("bad-gateway", `${tally.refused} requests were refused: ${tally.problem}`);
  const text = `${tally.events} events of a simulated shop with one ${kind} sent; cases follow within seconds: cases list`;
  return { result: { scenario: kind, seed, ...tally }, text };
}

export const eventCommands: Command[] = [
  {
    name: "events tail",
    usage: "events tail [--after <event_id>] [--types <types>]",
    summary: "prints every change as it happens, until Ctrl+C",
    positionals: { min: 0, max: 0 },
    options: {
      ...apiOptions,
      after: { type: "string", describe: "from this event on (default: from now)" },
      types: { type: "string", describe: "only these types, by commas" },
    },
    wants,
    run: overApi(tail),
  },
  {
    name: "events send",
    usage: "events send --scenario <name>",
    summary: "sends the activity of a simulated shop with one attack in it",
    positionals: { min: 0, max: 0 },
    options: {
      ...apiOptions,
      scenario: { type: "string", describe: attackKinds.join(", ") },
      seed: { type: "string", describe: "the same seed is the same shop (default: a new one)" },
    },
    wants,
    run: overApi(send),
  },
];
