import { expect, test } from "vitest";
import { runCli } from "./cli.ts";
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

test("cli: webhooks set says that the types stay unchanged if none are given", async () => {
  expect((await runCli(["webhooks", "set", "--help"], {})).out).toContain("default unchanged");
  expect((await runCli(["webhooks", "create", "--help"], {})).out).toContain("(default all)");
});
