import { expect, test } from "vitest";
import type { Webhook } from "../src/domain/webhook.ts";
import { runCli } from "./cli.ts";
import { TestTenant } from "./harness.ts";
import { close, deliveriesOf, until, useWebhooks } from "./webhook-rig.ts";

const { service, databaseUrl, make } = useWebhooks("cli_webhooks");

test("cli: webhook commands show pending order, truncated output and that a disabled webhook sends nothing", async () => {
  const made = await make();
  const { tenant, receiver, webhook } = made;
  const env = { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url };
  const say = async (command: string, ...args: string[]) =>
    (await runCli(["webhooks", command, webhook.webhook_id, ...args, "--tenant", tenant.slug], env)).out;
  receiver.answer = (_received, response) => void response.writeHead(500).end();
  const { case_id } = await tenant.openCase();
  await close(tenant, case_id);
  await until(async () => expect(await deliveriesOf(made)).toHaveLength(3));
  const [closed, opened] = await deliveriesOf(made);
  expect(await say("deliveries")).toMatch(new RegExp(`^ *${closed?.event_id} .* after event ${opened?.event_id} `, "m"));
  expect(await say("deliveries")).not.toContain("--limit");
  expect(await say("deliveries", "--limit", "2")).toMatch(/\n\.\.\. and more: raise --limit, up to 1000, to see them\n$/);
  expect(await say("resend", "--event", String(opened?.event_id))).toBe("1 delivery will be resent\n");
  await say("set", "--enabled", "false");
  expect(await say("deliveries", "--limit", "1")).toContain(" after event ");
  expect(await say("deliveries")).toContain(" when enabled ");
  expect(await say("resend", "--event", String(opened?.event_id))).toBe(
    `1 delivery will be resent once the webhook is enabled: webhooks set ${webhook.webhook_id} --enabled true\n`,
  );
});

test("cli: webhooks for Slack and Teams are created with a format, details and a view, and changed except for the format", async () => {
  const tenant = await TestTenant.create(service.current);
  const env = { DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url };
  const run = (...args: string[]) => runCli([...args, "--tenant", tenant.slug], env);
  expect((await run("views", "save", "Open ones", "--shared", "--status", "OPEN")).code).toBe(0);
  const url = "http://127.0.0.1:9/hook";
  const options = ["--format", "slack", "--details", "ids", "--view", "Open ones"];
  const created = await run("webhooks", "create", url, ...options, "--json");
  expect(created.code, created.err).toBe(0);
  const { webhook } = JSON.parse(created.out) as { webhook: Webhook };
  expect(webhook).toMatchObject({ format: "slack", details: "ids", view_id: expect.any(String) });
  expect((await run("webhooks", "list")).out).toMatch(/ slack /);
  const changed = await run("webhooks", "set", webhook.webhook_id, "--details", "none", "--view", "");
  expect(changed.code, changed.err).toBe(0);
  const { view_id: _view, ...plain } = webhook;
  const shown = (await tenant.call("GET", `/webhooks/${webhook.webhook_id}`)).json.data;
  expect(shown).toEqual({ ...plain, details: "none", updated_at: expect.any(String) });
  expect(await run("webhooks", "create", url, "--format", "irc")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--format must be one of standard, slack, teams"),
  });
  const refused = await run("webhooks", "create", url, "--view", "Open ones");
  expect(refused.err).toContain("view_id must be absent, unless the format is slack or teams");
});

test("cli: webhooks set says that the types stay unchanged if none are given", async () => {
  expect((await runCli(["webhooks", "set", "--help"], {})).out).toContain("default unchanged");
  expect((await runCli(["webhooks", "create", "--help"], {})).out).toContain("(default all)");
});
