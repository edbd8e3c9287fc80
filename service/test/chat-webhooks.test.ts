import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { listChatsDue } from "../src/db/chat-deliveries.ts";
import { fanOut, listWebhooksBehind } from "../src/db/deliveries.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { chatTypes, webhookTypes, type WebhookFormat } from "../src/domain/webhook.ts";
import { sendChat } from "../src/engine/chat-webhooks.ts";
import { openLog } from "../src/log.ts";
import { startService, type Service } from "../src/service.ts";
import { expectProblem, newDatabase, TestTenant, testConfig } from "./harness.ts";
import { consoleUrl, copyCase, makeAttack, makeView, writeNote } from "./notified.ts";
import { Browser } from "./people.ts";
import { Receiver } from "./webhook-receiver.ts";
import { close } from "./webhook-rig.ts";

// The service opens cases. The tests hold its own messages back, and send them at times of their own.
const service: { current: Service } = { current: undefined as never };
beforeAll(async () => {
  const config = testConfig({ databaseUrl: await newDatabase(), hasPrivateWebhooks: true });
  service.current = await startService(config);
});
afterAll(() => service.current.stop());

const receivers: Receiver[] = [];
afterEach(() => {
  for (const receiver of receivers.splice(0)) receiver.stop();
});

type Made = { tenant: TestTenant; receiver: Receiver; key: { tenant_id: string; webhook_id: string } };

// Far in the future for the service's own worker, so that only the test sends.
const held = new Date(Date.now() + 30 * 86_400_000).toISOString();

async function make(format: WebhookFormat, more: Record<string, unknown> = {}, owner?: TestTenant): Promise<Made> {
  const tenant = owner ?? (await TestTenant.create(service.current));
  const receiver = await Receiver.start();
  receivers.push(receiver);
  const answer = await tenant.call("POST", "/webhooks", { body: { url: receiver.url, format, ...more } });
  expect(answer.status, answer.text).toBe(201);
  const { webhook } = answer.json.data as { webhook: { webhook_id: string } };
  const key = { tenant_id: tenant.tenantId, webhook_id: webhook.webhook_id };
  const text = "update webhooks set chat_next_at = $3 where tenant_id = $1 and webhook_id = $2";
  await service.current.database.query(statement(text, [key.tenant_id, key.webhook_id, held]));
  return { tenant, receiver, key };
}

// Sends what waits, as the engine would `later` milliseconds after the last message.
async function send({ key }: Made, later = 1_000): Promise<void> {
  const { database } = service.current;
  for (const behind of await listWebhooksBehind(database)) {
    const limits = { types: webhookTypes, chatTypes, eventsMax: 500, waitingMax: 10_000, now: clock.now() };
    for (let turn = 0; turn < 10; turn++) await database.transaction((tx) => fanOut(tx, behind, limits));
  }
  const now = () => new Date(Date.parse(held) + later).toISOString();
  const options = { database, clock: { now }, log: openLog("silent"), post: { isPrivateAllowed: true }, publicUrl: consoleUrl };
  const due = await listChatsDue(database, now());
  if (due.some(({ webhook_id }) => webhook_id === key.webhook_id)) await sendChat(options, key);
}

type Slack = {
  text: string;
  blocks: { type: string; text?: { type: string; text: string }; fields?: { type: string; text: string }[] }[];
};

function slackOf(receiver: Receiver, place = 0): Slack {
  const message = JSON.parse(receiver.at(place).text) as Slack;
  expect(Object.keys(message).toSorted()).toEqual(["blocks", "text"]);
  expect(message.blocks.length).toBeLessThanOrEqual(50);
  expect(message.blocks[0]).toMatchObject({ type: "header", text: { type: "plain_text" } });
  for (const { type, text } of message.blocks.filter((block) => block.type === "section")) {
    expect(type).toBe("section");
    expect(text?.type).toBe("mrkdwn");
    expect(text?.text.length).toBeLessThanOrEqual(3_000);
  }
  return message;
}

test("slack: a new case is one message with its score and a link, and names neither the account nor the reason", async () => {
  const made = await make("slack");
  const account = `account-${randomUUID()}`;
  const found = await made.tenant.openCase(account);
  await send(made);
  const { text, blocks } = slackOf(made.receiver);
  expect(text).toBe("1 new case");
  const { overall_risk_score: score, primary_fraud_label: label } = found.details;
  expect(blocks[1]?.text?.text).toBe(`<${consoleUrl}/cases/${found.case_id}|Opened: score ${score}, ${label}>`);
  for (const outside of [account, found.current_state.reason]) expect(made.receiver.at(0).text).not.toContain(outside);
});

test("slack: with details, ids are plain text, so that they mention nobody, link nowhere and hide nothing", async () => {
  const made = await make("slack", { details: "ids" });
  const account = "<!channel> & <https://evil.example|click> \u202e*b*";
  await made.tenant.openCase(account);
  await send(made);
  const { text, blocks } = slackOf(made.receiver);
  expect(text).toBe("1 new case");
  expect(blocks[1]?.fields).toEqual([
    { type: "plain_text", emoji: false, text: "&lt;!channel&gt; &amp; &lt;https[:]//evil[.]example|click&gt; \\u{202e}*b*" },
  ]);
  expect(made.receiver.at(0).text).not.toContain("<!");
});

test("teams: a message is an adaptive card, in which ids are text runs without Markdown", async () => {
  const made = await make("teams", { details: "ids" });
  const account = "[click](https://evil.example) <at>all</at>";
  const { case_id } = await made.tenant.openCase(account);
  await send(made);
  const message = JSON.parse(made.receiver.at(0).text);
  expect(message).toMatchObject({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: { $schema: "http://adaptivecards.io/schemas/adaptive-card.json", type: "AdaptiveCard", version: "1.4" },
      },
    ],
  });
  const { body, actions } = message.attachments[0].content;
  expect(body[0]).toMatchObject({ type: "TextBlock", text: "1 new case", wrap: true });
  expect(body[1].type).toBe("RichTextBlock");
  expect(body[1].inlines[0]).toMatchObject({
    type: "TextRun",
    selectAction: { type: "Action.OpenUrl", url: `${consoleUrl}/cases/${case_id}` },
  });
  expect(body[1].inlines[1]).toEqual({ type: "TextRun", text: " ([click](https[:]//evil[.]example) <at>all</at>)" });
  expect(actions).toEqual([{ type: "Action.OpenUrl", title: "Open Casehound", url: `${consoleUrl}/` }]);
  expect(JSON.stringify(body.filter(({ type }: { type: string }) => type === "TextBlock"))).not.toContain("evil");
});

test.each(["slack", "teams"] as const)(
  "%s: an attack that opens 2,000 cases is one message, and its later cases are another one a minute later",
  async (format) => {
    const made = await make(format);
    const attack = await made.tenant.openCase();
    await makeAttack(made.tenant, attack, 2_001);
    await copyCase(made.tenant, await made.tenant.openCase(), { count: 2_000, attack });
    await send(made);
    expect(made.receiver.received).toHaveLength(1);
    expect(made.receiver.at(0).text).toContain("1 attack, 1 new case");
    await copyCase(made.tenant, await made.tenant.openCase(), { count: 12, attack });
    await send(made, 30_000);
    expect(made.receiver.received).toHaveLength(1);
    await send(made, 62_000);
    expect(made.receiver.received).toHaveLength(2);
    expect(made.receiver.at(1).text).toContain("Ongoing attack, 2,001 accounts so far");
    expect(made.receiver.at(1).text.length).toBeLessThan(5_000);
  },
);

test("slack: closes, mentions and reopenings are sent; notes without a mention, and texts of notes, are not", async () => {
  const made = await make("slack");
  const { tenant } = made;
  const ada = await Browser.join(tenant, "lead");
  const found = await tenant.openCase();
  await writeNote(tenant, found, "Only for those who read the case.");
  await writeNote(tenant, found, `A secret for @${ada.signedIn.user.email}`);
  await close(tenant, found.case_id, 3);
  await send(made);
  expect(slackOf(made.receiver).text).toBe("1 new case, 1 note with a mention, 1 case closed");
  expect(made.receiver.at(0).text).not.toMatch(/secret|@/);
});

test("slack: a view limits the cases, and nothing is sent once the view is no longer shared", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "lead");
  const account = `account-${randomUUID()}`;
  const view = await makeView(ada, { is_shared: true, filter: { website_account_id: account } });
  const made = await make("slack", { view_id: view.view_id }, tenant);
  await tenant.openCase();
  await tenant.openCase(account);
  await send(made);
  expect(slackOf(made.receiver).text).toBe("1 new case");
  await ada.call("PUT", `/views/${view.view_id}`, { body: { view_version: view.view_version, is_shared: false } });
  await copyCase(tenant, await tenant.openCase(account), { count: 3 });
  await send(made, 100_000);
  expect(made.receiver.received).toHaveLength(1);
});

test("slack: a failed message is sent again with what happened since, and an engine beside it sends nothing meanwhile", async () => {
  const made = await make("slack");
  made.receiver.answer = (_received, response, count) => void response.writeHead(count === 1 ? 500 : 200).end("ok");
  await made.tenant.openCase();
  await Promise.all([send(made), send(made)]);
  expect(made.receiver.received).toHaveLength(1);
  await made.tenant.openCase();
  await send(made, 62_000);
  expect(made.receiver.received).toHaveLength(2);
  expect(slackOf(made.receiver, 1).text).toBe("2 new cases");
  await send(made, 200_000);
  expect(made.receiver.received).toHaveLength(2);
});

test("slack: a message that cannot be written counts as failed, so it is not tried for ever", async () => {
  const slack = await make("slack");
  const { case_id } = await slack.tenant.openCase();
  await service.current.database.query(statement("update cases set document = '{' where case_id = $1", [case_id]));
  await send(slack);
  expect(slack.receiver.received).toEqual([]);
  const { json } = await slack.tenant.call("GET", `/webhooks/${slack.key.webhook_id}/deliveries`);
  expect(json.data).toMatchObject({ deliveries: [{ state: "WAITING", last_error: "the message could not be written" }] });
});

test("slack: while a view takes too long to search, the message waits, so an attack that slows the database down is not hidden", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "lead");
  const { view_id } = await makeView(ada, { is_shared: true, filter: { handed_to: "lead" } });
  const slack = await make("slack", { view_id }, tenant);
  await tenant.openCase();
  await service.current.database.transaction(async (tx) => {
    await tx.query(statement("lock table case_handovers in access exclusive mode", []));
    await send(slack);
  });
  const { json } = await tenant.call("GET", `/webhooks/${slack.key.webhook_id}/deliveries`);
  expect(json.data).toMatchObject({ deliveries: [{ state: "WAITING", last_error: "the message could not be written" }] });
});

test("POST webhook test: a chat gets a message in its own format", async () => {
  const made = await make("teams");
  const answer = await made.tenant.call("POST", `/webhooks/${made.key.webhook_id}/test`);
  expect(answer.json.data).toMatchObject({ delivered: true });
  expect(JSON.parse(made.receiver.at(0).text)).toMatchObject({ type: "message", attachments: [{ contentUrl: null }] });
});

test.each([
  ["details of a standard webhook", { details: "ids" }, "details"],
  ["a view of a standard webhook", { view_id: randomUUID() }, "view_id"],
  ["a view that does not exist", { format: "slack", view_id: randomUUID() }, "view_id"],
  ["a view's id that is none", { format: "slack", view_id: "x'::uuid" }, "view_id"],
  ["a type that no chat gets", { format: "teams", types: ["account.updated"] }, "types"],
  ["another format", { format: "discord" }, "format"],
])("POST webhooks 422: %s is rejected, and nothing changes", async (_what, more, field) => {
  const tenant = await TestTenant.create(service.current);
  const body = { url: "https://hooks.example/x", ...more };
  const refused = expectProblem(await tenant.call("POST", "/webhooks", { body }), 422, "validation-error");
  expect(refused.errors?.map((each) => each.field)).toEqual([field]);
  expect((await tenant.call("GET", "/webhooks")).json.data).toEqual({ webhooks: [] });
});

test("PUT webhooks 422: the format decides what a webhook can have, and a private view of somebody is rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "lead");
  const { view_id } = await makeView(ada);
  const slack = await make("slack", {}, tenant);
  const standard = await make("standard", {}, tenant);
  const put = ({ key }: Made, body: unknown) => tenant.call("PUT", `/webhooks/${key.webhook_id}`, { body });
  expectProblem(await put(slack, { types: ["rule.changed"] }), 422, "validation-error");
  expectProblem(await put(slack, { view_id }), 422, "validation-error");
  expectProblem(await put(standard, { details: "ids" }), 422, "validation-error");
  expectProblem(await put(standard, { format: "slack" }), 422, "validation-error");
  expect((await put(slack, { details: "ids" })).json.data).toMatchObject({ details: "ids", format: "slack" });
});

test("webhooks: the log does not have the secret address of a chat", async () => {
  const tenant = await TestTenant.create(service.current);
  const url = "https://hooks.example/services/T0/B0/secret";
  const made = await tenant.call("POST", "/webhooks", { body: { url, format: "slack" } });
  const { webhook } = made.json.data as { webhook: { webhook_id: string } };
  await tenant.call("PUT", `/webhooks/${webhook.webhook_id}`, { body: { url: `${url}2` } });
  const { text } = await tenant.call("GET", "/events");
  expect(text).toContain("https://hooks.example/…");
  expect(text).not.toContain("secret");
});
