import type { Webhook, WebhookDelivery } from "@casehound/client";
import { deliveryStates, webhookDetails, webhookFormats } from "../domain/webhook.ts";
import { apiOptions, overApi, readFlag, readOneOf, readWhole, wants, type ApiCall } from "./api.ts";
import { UsageFault, textOption, type Command, type Outcome } from "./command.ts";
import { cellText, listText, table } from "./table.ts";
import { findView } from "./views.ts";

// What both `create` and `set` accept.
async function readSettings({ client, options }: ApiCall) {
  const [types, view] = [textOption(options, "types"), textOption(options, "view")];
  const details = readOneOf(options, "details", webhookDetails);
  return {
    ...(types !== undefined && { types: types.split(",").filter((type) => type !== "") }),
    ...(details !== undefined && { details }),
    ...(view !== undefined && { view_id: view === "" ? null : (await findView(client, view)).view_id }),
  };
}

function webhookTable(webhooks: Webhook[]): string {
  const lines = webhooks.map((each) => [
    each.webhook_id,
    each.is_enabled ? "on" : `off${each.disabled_reason === undefined ? "" : `: ${each.disabled_reason}`}`,
    each.waiting,
    each.dead,
    each.format,
    each.types.length === 0 ? "all" : each.types.join(","),
    each.url,
  ]);
  return table(["webhook", "state", "waiting", "abandoned", "format", "types", "url"], lines);
}

const idOf = ({ positionals }: ApiCall) => positionals[0] ?? "";

async function list({ client }: ApiCall): Promise<Outcome> {
  const result = await client.listWebhooks();
  return { result, text: result.webhooks.length === 0 ? "no webhooks" : webhookTable(result.webhooks) };
}

// If a type is wrong, the service's error lists the valid ones.
async function create(call: ApiCall): Promise<Outcome> {
  const format = readOneOf(call.options, "format", webhookFormats);
  const body = { url: idOf(call), ...(format !== undefined && { format }), ...(await readSettings(call)) } as Parameters<
    typeof call.client.createWebhook
  >[0];
  const result = await call.client.createWebhook(body);
  return { result, text: `${webhookTable([result.webhook])}\n\nsecret  ${result.secret}\nThe secret is shown only once.` };
}

async function set(call: ApiCall): Promise<Outcome> {
  const [url, isEnabled] = [textOption(call.options, "to"), readFlag(call.options, "enabled")];
  const change = {
    ...(url !== undefined && { url }),
    ...(isEnabled !== undefined && { is_enabled: isEnabled }),
    ...(await readSettings(call)),
  };
  if (Object.keys(change).length === 0)
    throw new UsageFault("nothing to set: give --to, --types, --details, --view or --enabled");
  const result = await call.client.updateWebhook(idOf(call), change as Parameters<typeof call.client.updateWebhook>[1]);
  return { result, text: webhookTable([result]) };
}

async function test(call: ApiCall): Promise<Outcome> {
  const result = await call.client.testWebhook(idOf(call));
  const { delivered, status, error, milliseconds } = result;
  const words = delivered ? `delivered: the receiver returned ${status}` : `not delivered: ${cellText(error)}`;
  return { result, text: `${words} (${milliseconds} ms)`, isFailure: !delivered };
}

async function rotate(call: ApiCall): Promise<Outcome> {
  const result = await call.client.rotateWebhookSecret(idOf(call));
  const until = result.webhook.previous_secret_expires_at;
  return {
    result,
    text: `secret  ${result.secret}\nThe secret is shown only once. Until ${until}, messages are also signed with the old one.`,
  };
}

async function remove(call: ApiCall): Promise<Outcome> {
  await call.client.deleteWebhook(idOf(call));
  return { result: { webhook_id: idOf(call) }, text: `${idOf(call)} is deleted` };
}

async function deliveries(call: ApiCall): Promise<Outcome> {
  const state = readOneOf(call.options, "state", deliveryStates);
  const limit = readWhole(call.options, "limit", { least: 1, most: 1000, fallback: 20 });
  const result = await call.client.listWebhookDeliveries(idOf(call), { limit, ...(state !== undefined && { state }) });
  const lines = result.deliveries.map((each) => [
    each.event_id,
    each.state,
    each.attempts,
    each.type,
    `${each.resource.type} ${each.resource.id}`,
    whenOf(each),
    each.last_error ?? each.last_status,
  ]);
  const columns = ["event", "state", "attempts", "type", "about", "next or last", "response"];
  return { result, text: lines.length === 0 ? "no deliveries" : listText(table(columns, lines), result) };
}

function whenOf({ state, waits_for, next_attempt_at, last_attempt_at }: WebhookDelivery): string | undefined {
  if (waits_for !== undefined) return `after event ${waits_for}`;
  if (next_attempt_at === undefined && state === "WAITING") return "when enabled";
  return next_attempt_at ?? last_attempt_at;
}

async function resend(call: ApiCall): Promise<Outcome> {
  const hasOne = textOption(call.options, "event") !== undefined;
  const event_id = readWhole(call.options, "event", { least: 1, most: Number.MAX_SAFE_INTEGER, fallback: 1 });
  const result = await call.client.resendWebhookDeliveries(idOf(call), hasOne ? { event_id } : {});
  const { is_enabled: isOn } = await call.client.getWebhook(idOf(call));
  const condition = isOn ? "" : ` once the webhook is enabled: webhooks set ${idOf(call)} --enabled true`;
  return { result, text: `${result.resent} ${result.resent === 1 ? "delivery" : "deliveries"} will be resent${condition}` };
}

const typesOption = (leftOut: string) => ({ type: "string" as const, describe: `event types, separated by commas (${leftOut})` });
const detailsOption = {
  type: "string" as const,
  describe: "slack and teams: none (scores, labels and links) or ids (also account ids and names)",
  values: webhookDetails,
};
const viewOption = (leftOut: string) => ({
  type: "string" as const,
  describe: `slack and teams: only cases of this shared view (${leftOut})`,
});
const one = { positionals: { min: 1, max: 1 }, wants };

export const webhookCommands: Command[] = [
  {
    name: "webhooks list",
    usage: "webhooks list",
    summary: "lists the tenant's webhooks",
    positionals: { min: 0, max: 0 },
    options: apiOptions,
    wants,
    run: overApi(list),
  },
  {
    ...one,
    name: "webhooks create",
    usage: "webhooks create <url> [--format standard|slack|teams] [--types <types>] [--details none|ids] [--view <name>]",
    summary: "creates a webhook that sends events to a URL, or messages to Slack or Teams, and prints its secret",
    options: {
      ...apiOptions,
      format: {
        type: "string",
        describe: "standard (signed events), slack or teams; cannot be changed later (default standard)",
        values: webhookFormats,
      },
      types: typesOption("default all"),
      details: detailsOption,
      view: viewOption("default all cases"),
    },
    run: overApi(create),
  },
  {
    ...one,
    name: "webhooks set",
    usage: "webhooks set <webhook_id> [--to <url>] [--types <types>] [--details none|ids] [--view <name>] [--enabled true|false]",
    summary: "changes, enables or disables a webhook",
    options: {
      ...apiOptions,
      to: { type: "string", describe: "the new URL" },
      types: typesOption("default unchanged; empty for all"),
      details: detailsOption,
      view: viewOption("default unchanged; empty for all cases"),
      enabled: { type: "string", describe: "true or false" },
    },
    run: overApi(set),
  },
  {
    ...one,
    name: "webhooks test",
    usage: "webhooks test <webhook_id>",
    summary: "sends a test message and prints the result",
    options: apiOptions,
    run: overApi(test),
  },
  {
    ...one,
    name: "webhooks rotate",
    usage: "webhooks rotate <webhook_id>",
    summary: "creates a new secret; for a day, messages are signed with both",
    options: apiOptions,
    run: overApi(rotate),
  },
  {
    ...one,
    name: "webhooks deliveries",
    usage: "webhooks deliveries <webhook_id> [--state WAITING|DELIVERED|DEAD] [--limit <n>]",
    summary: "lists a webhook's deliveries: waiting, delivered or abandoned",
    options: {
      ...apiOptions,
      state: { type: "string", describe: deliveryStates.join(", ") },
      limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
    },
    run: overApi(deliveries),
  },
  {
    ...one,
    name: "webhooks resend",
    usage: "webhooks resend <webhook_id> [--event <event_id>]",
    summary: "resends all waiting and abandoned deliveries, or only one event",
    options: { ...apiOptions, event: { type: "string", describe: "resend only this event" } },
    run: overApi(resend),
  },
  {
    ...one,
    name: "webhooks delete",
    usage: "webhooks delete <webhook_id>",
    summary: "deletes a webhook; waiting deliveries are not sent",
    options: apiOptions,
    run: overApi(remove),
  },
];
