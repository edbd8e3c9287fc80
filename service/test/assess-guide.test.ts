import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Value } from "typebox/value";
import { afterAll, expect, test } from "vitest";
import { Assessment } from "../src/domain/assessment.ts";
import { blocksOf, repository } from "./guide.ts";
import { TestTenant, useService } from "./harness.ts";
import { freePort } from "./launch.ts";
import { findExpress, findNginx } from "./outside.ts";
import { eventually, useProcesses } from "./process.ts";

const page = "decide-at-log-in";
const service = useService();
const processes = useProcesses();
const stops: (() => void)[] = [];
afterAll(() => {
  for (const stop of stops) stop();
});

// The packages that the examples import.
const inRepository = (name: string) => join(repository, "node_modules", name);
const packages: Record<string, () => string> = {
  "@casehound/client": () => inRepository("@casehound/client"),
  fastify: () => inRepository("fastify"),
  express: findExpress,
};

// Saves an example of the guide under the name in its first line, and starts it.
async function startExample(tenant: TestTenant, name: string): Promise<number> {
  const code = blocksOf(page, "js").find((block) => block.startsWith(`// ${name}\n`)) ?? "";
  const folder = processes.folder();
  mkdirSync(join(folder, "node_modules/@casehound"), { recursive: true });
  for (const [each, find] of Object.entries(packages)) {
    if (code.includes(`from "${each}"`)) symlinkSync(find(), join(folder, "node_modules", each));
  }
  writeFileSync(join(folder, name), code);
  const port = await freePort();
  const env = {
    PORT: String(port),
    CASEHOUND_URL: service.current.url,
    CASEHOUND_TENANT: tenant.slug,
    CASEHOUND_CLIENT_ID: tenant.clientId,
    CASEHOUND_CLIENT_SECRET: tenant.clientSecret,
  };
  const child = spawn(process.execPath, [name], { cwd: folder, env });
  stops.push(() => child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  await eventually(() => expect(printed).toContain("listening"));
  return port;
}

async function post(port: number, path: string, body: unknown): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function block(tenant: TestTenant, account: string): Promise<void> {
  const body = { website_account_id: account, is_blocked: true };
  expect((await tenant.call("POST", "/enduseraccounts", { body })).status).toBe(201);
}

// On a busy machine, an example may get no verdict in time, and then allows the request. So ask again until it does.
function expectSoon(ask: () => Promise<unknown>, wanted: unknown): Promise<void> {
  return eventually(async () => expect(await ask()).toEqual(wanted));
}

test("guide: the Express log-in lets people in, and answers a blocked account as if the password were wrong", async () => {
  const tenant = await TestTenant.create(service.current);
  const port = await startExample(tenant, "login.mjs");
  const right = { name: "ada", password: "correct horse" };
  const refused = { status: 401, json: { error: "Log-in failed." } };
  expect(await post(port, "/login", { ...right, password: "x" })).toEqual(refused);
  expect(await post(port, "/login", { name: "nobody", password: "x" })).toEqual(refused);
  expect(await post(port, "/login", right)).toEqual({ status: 200, json: { next: "home" } });
  // The account may exist already, because its first activity creates it.
  await eventually(async () => {
    await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ada" } });
    expect((await tenant.call("PUT", "/enduseraccounts/ada", { body: { is_blocked: true } })).status).toBe(200);
  });
  await expectSoon(() => post(port, "/login", right), refused);
});

test("guide: the Fastify checkout accepts payments, and declines those of a blocked account", async () => {
  const tenant = await TestTenant.create(service.current);
  const port = await startExample(tenant, "checkout.mjs");
  const order = { orderId: "1", account: "ada", amount: 20, card: "card-1", placedAt: new Date().toISOString() };
  const paid = { status: 200, json: { state: "paid" } };
  expect(await post(port, "/checkout", order)).toEqual(paid);
  await block(tenant, "bob");
  const blocked = () => post(port, "/checkout", { ...order, account: "bob", orderId: `2-${performance.now()}` });
  await expectSoon(blocked, { status: 402, json: { state: "declined" } });
  // Repeating the order gets the same verdict.
  expect(await post(port, "/checkout", order)).toEqual(paid);
});

// Runs nginx with the guide's example. All accounts have the password `right`.
async function startNginx(gate: number, accounts: string[]): Promise<number> {
  const application = createServer((_request, response) => response.end("the application")).listen(0, "127.0.0.1");
  stops.push(() => application.close());
  const port = await freePort();
  const behind = (application.address() as AddressInfo).port;
  const folder = processes.folder();
  const [server = ""] = blocksOf(page, "nginx");
  const own = server
    .replace("127.0.0.1:8000", `127.0.0.1:${port}`)
    .replace("127.0.0.1:8001", `127.0.0.1:${behind}`)
    .replace("127.0.0.1:3001", `127.0.0.1:${gate}`)
    .replace("/etc/nginx/members.htpasswd", `${folder}/members.htpasswd`);
  writeFileSync(join(folder, "members.htpasswd"), accounts.map((each) => `${each}:{PLAIN}right\n`).join(""), { mode: 0o644 });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`);
  writeFileSync(
    join(folder, "nginx.conf"),
    `${process.getuid?.() === 0 ? "user root; " : ""}daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporary.join(" ")} ${own} }`,
  );
  const nginx = spawn(findNginx(), ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "inherit" });
  stops.push(() => nginx.kill("SIGTERM"));
  return port;
}

test("guide: nginx checks the password, asks the gate, and trusts nothing else that a visitor sends", async () => {
  const tenant = await TestTenant.create(service.current);
  const port = await startNginx(await startExample(tenant, "gate.mjs"), ["ada", "bob"]);
  const ask = async (account: string, password: string, claimed = "") => {
    const authorization = `Basic ${Buffer.from(`${account}:${password}`).toString("base64")}`;
    const headers = { ...(account !== "" && { authorization }), "x-account": claimed, "x-action": "ALLOW" };
    const response = await fetch(`http://127.0.0.1:${port}/account/x`, { headers, redirect: "manual" });
    return [response.status, response.headers.get("location") ?? (await response.text())];
  };
  await block(tenant, "bob");
  await expectSoon(() => ask("ada", "right", "bob"), [200, "the application"]);
  await expectSoon(() => ask("bob", "right", "ada"), [403, "Please contact us.\n"]);
  // Without the right password, the gate is not asked, so nothing counts for the account.
  const strangers = [
    ["", ""],
    ["victim", "right"],
    ["bob", "wrong"],
  ] as const;
  for (const [account, password] of strangers)
    expect(await ask(account, password, "victim")).toEqual([401, expect.stringContaining("401")]);
  const direct = await fetch(`http://127.0.0.1:${port}/gate`, {
    headers: { authorization: `Basic ${Buffer.from("ada:right").toString("base64")}`, "x-account": "victim" },
  });
  expect(direct.status).toBe(404);
  const policy = { mode: "on", policy_version: 1, rows: [{ moments: ["other"], action: "CHALLENGE" }] };
  expect((await tenant.call("PUT", "/policy", { body: policy })).status).toBe(200);
  await expectSoon(() => ask("ada", "right"), [302, expect.stringMatching(/\/second-factor$/)]);
  expect((await tenant.call("GET", "/enduseraccounts/victim")).status).toBe(404);
});

test("guide: the example of an answer matches the schema", () => {
  const [shown = "{}"] = blocksOf(page, "json");
  expect(Value.Errors(Assessment, (JSON.parse(shown) as { data: unknown }).data)).toEqual([]);
});
