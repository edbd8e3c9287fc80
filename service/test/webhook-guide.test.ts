import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Webhook as Verifier } from "standardwebhooks";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { WebhookMessage, webhookTypes } from "../src/domain/webhook.ts";
import { signatureHeaders } from "../src/webhook/signature.ts";
import { blocksOf, repository } from "./guide.ts";
import { freePort, readDemo } from "./launch.ts";
import { Caller, eventually, useProcesses } from "./process.ts";

const processes = useProcesses();

// An empty folder, with an npm that installs from the repository instead of the network.
function emptyFolder(): { folder: string; PATH: string } {
  const folder = processes.folder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const npm = `#!/bin/sh\n[ "$1" = install ] && mkdir -p node_modules && ln -s "${repository}/node_modules/$2" node_modules/\n`;
  writeFileSync(join(bin, "npm"), npm, { mode: 0o755 });
  return { folder, PATH: [bin, dirname(process.execPath), process.env["PATH"]].join(delimiter) };
}

test("webhooks guide: its receiver accepts a test message and an opened case, and rejects what is not signed", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, WEBHOOK_ADDRESSES: "any" });
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  const [code = ""] = blocksOf("webhooks", "js");
  const commands = blocksOf("webhooks", "console");
  const [setUp = "", start = ""] = ["receiver/", "node receiver.mjs"].map((part) => commands.find((each) => each.includes(part)));
  const { folder, PATH } = emptyFolder();
  execFileSync("sh", ["-ec", setUp], { cwd: folder, env: { PATH } });
  writeFileSync(join(folder, "receiver", "receiver.mjs"), code);
  const port = await freePort();
  const made = await caller.call("POST", "/webhooks", { body: { url: `http://127.0.0.1:${port}/`, types: ["case.opened"] } });
  const { webhook, secret } = made.json.data as { webhook: { webhook_id: string }; secret: string };
  const script = start.replace("whsec_...", secret);
  expect(script).not.toBe(start);
  const env = { PATH, RECEIVER_PORT: String(port) };
  const receiver = spawn("sh", ["-ec", `exec env ${script}`], { cwd: join(folder, "receiver"), env });
  let printed = "";
  for (const stream of [receiver.stdout, receiver.stderr]) stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  try {
    await eventually(() => expect(printed).toContain("listening"));
    const tried = await caller.call("POST", `/webhooks/${webhook.webhook_id}/test`);
    expect(tried.json.data).toMatchObject({ delivered: true, status: 204 });
    const { case_id } = await caller.openCase("user-42");
    await eventually(() => expect(printed).toMatch(new RegExp(`^\\d+ case\\.opened ${case_id} OPEN$`, "m")));
    const forged = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
    expect(forged.status).toBe(401);
  } finally {
    receiver.kill("SIGKILL");
  }
});

test("webhooks guide: its test vector matches our signature and that of the Standard Webhooks library", () => {
  const vector = blocksOf("webhooks", "text").find((block) => block.includes("whsec_")) ?? "";
  const read = (name: string) => new RegExp(`^${name} +(.+)$`, "m").exec(vector)?.[1] ?? "";
  const [secret, id, body] = [read("secret"), read("webhook-id"), read("body")];
  const timestamp = Number(read("webhook-timestamp"));
  expect(signatureHeaders({ id, timestamp, body }, [secret])["webhook-signature"]).toBe(read("webhook-signature"));
  expect(new Verifier(secret).sign(id, new Date(timestamp * 1000), body)).toBe(read("webhook-signature"));
});

test("webhooks guide: it shows a message of every type, in the documented form", () => {
  const messages = blocksOf("webhooks", "json").map((block) => JSON.parse(block) as WebhookMessage);
  for (const message of messages) expect(Value.Errors(WebhookMessage, message)).toEqual([]);
  expect(messages.map(({ type }) => type).toSorted()).toEqual([...webhookTypes, "webhook.test"].toSorted());
});
