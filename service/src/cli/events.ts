import type { FollowedEvent } from "@casehound/client";
import { Failure } from "../domain/failure.ts";
import { deliver } from "@casehound/simulator/courier";
import { scenarioDeliveries, scenarioKinds } from "@casehound/simulator/scenario";
import { apiOptions, overApi, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { Progress } from "./progress.ts";
import { cellText } from "./table.ts";

// Runs until Ctrl+C and prints each event as it arrives. Without --after it starts now and uses the stream.
async function tail({ client, options }: ApiCall): Promise<Outcome> {
  const types = textOption(options, "types")?.split(",");
  const after = readWhole(options, "after", { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 });
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  // The reader closed the pipe, as `head` does.
  process.stdout.once("error", () => stopping.abort());
  const wanted = { signal: stopping.signal, ...(types && { types }) };
  const isFromNow = textOption(options, "after") === undefined;
  let last = after;
  let count = 0;
  for await (const event of isFromNow ? client.follow(wanted) : client.events({ ...wanted, after })) {
    process.stdout.write(`${options["json"] === true ? JSON.stringify(event) : cellText(eventLine(event))}\n`);
    last = "event_id" in event ? event.event_id : event.last_event_id;
    count++;
  }
  const next = last === 0 ? "" : `; continue with --after ${last}`;
  return { result: { events: count, last_event_id: last }, text: `${count} events${next}` };
}

function eventLine(event: FollowedEvent): string {
  if (!("event_id" in event)) return `too many events were missed to list them; continuing after event ${event.last_event_id}`;
  const { event_id, type, occurred_at, actor, resource } = event;
  return `${event_id}  ${occurred_at}  ${type}  ${resource.type} ${resource.id}  by ${actor}`;
}

async function send({ client, baseUrl, slug, token, options }: ApiCall): Promise<Outcome> {
  const kind = readOneOf(options, "scenario", scenarioKinds);
  if (kind === undefined) throw new UsageFault(`--scenario is required: one of ${scenarioKinds.join(", ")}`);
  const { clickstream_app_id: appKey, allowed_origins: origins } = await client.getTenant();
  const [origin] = origins;
  if (origin === undefined)
    throw new Failure(
      "bad-request",
      `tenant ${slug} allows no origin: run casehound tenant update ${slug} --origin https://shop.example`,
    );
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
  if (tally.problem !== undefined) throw new Failure("bad-gateway", `${tally.refused} requests were rejected: ${tally.problem}`);
  const text = `sent ${tally.events} events of a simulated shop with one ${kind}; cases follow within seconds, see cases list`;
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
      after: { type: "string", describe: "only events after this one (default: from now on)" },
      types: { type: "string", describe: "only these types, separated by commas" },
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
      scenario: { type: "string", describe: scenarioKinds.join(", "), values: scenarioKinds },
      seed: { type: "string", describe: "the same seed gives the same shop (default: a new seed)" },
    },
    wants,
    run: overApi(send),
  },
];
