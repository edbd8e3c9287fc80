import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { checkWebhooks } from "../src/cli/doctor-checks.ts";
import { runCli } from "./cli.ts";
import { TestTenant, testConfig } from "./harness.ts";
import { createDatabase } from "./launch.ts";
import { useOwnService, useProcesses } from "./process.ts";
import { startService } from "../src/service.ts";

const processes = useProcesses();
const service = useOwnService({});
const opened: Server[] = [];
let databaseUrl = "";

beforeAll(async () => {
  // A database with a tenant. PUBLIC_URL says where its service is.
  databaseUrl = await createDatabase(inject("databaseUrl"));
  const once = await startService(testConfig({ databaseUrl }));
  await TestTenant.create(once);
  await once.stop();
});

afterAll(() => opened.forEach((server) => server.close()));

async function listen(server: Server): Promise<number> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.address() as AddressInfo).port;
}

async function failing(env: Record<string, string>): Promise<string[]> {
  const { code, out } = await runCli(["doctor"], { DATABASE_URL: databaseUrl, PORT: "0", METRICS_PORT: "off", ...env });
  const found = [...out.matchAll(/^FAIL {2}.*\n +what to do: \S.*$/gm)].map(([text]) => text);
  expect(code, out).toBe(found.length === 0 ? 0 : 1);
  return found;
}

async function faultAt(url: string): Promise<string> {
  const found = await failing({ PUBLIC_URL: url });
  expect(found).toHaveLength(1);
  return found.join();
}

test("doctor: reports an https URL whose server does not speak TLS", async () => {
  const fault = await faultAt(`https://127.0.0.1:${service.current.port}`);
  expect(fault).toMatch(/does not use TLS\n.*put a proxy there that terminates TLS/);
});

test("doctor: reports an untrusted certificate", async () => {
  // Self-signed, made for this test only.
  const pem = readFileSync(new URL("untrusted.pem", import.meta.url));
  const server = createTlsServer({ key: pem, cert: pem }, (_request, response) => void response.end());
  expect(await faultAt(`https://127.0.0.1:${await listen(server)}`)).toMatch(/is not trusted here[^]*NODE_EXTRA_CA_CERTS/);
});

test("doctor: reports a URL that redirects, one that hangs, and an unknown host name", async () => {
  const away = createHttpServer((_request, response) => void response.writeHead(301, { location: "https://x.example/" }).end());
  expect(await faultAt(`http://127.0.0.1:${await listen(away)}`)).toMatch(/redirects to https:\/\/x\.example\//);
  const hung = createServer(() => {});
  expect(await faultAt(`http://127.0.0.1:${await listen(hung)}`)).toMatch(/did not respond in time/);
  expect(await faultAt("http://nowhere.invalid")).toMatch(/the name nowhere\.invalid cannot be resolved/);
});

test("doctor: reports a service whose URL differs from the one configured here", async () => {
  const { port, url } = service.current;
  const named = `http://localhost:${port}`;
  const fault = await faultAt(named);
  expect(fault).toMatch(/^FAIL {2}public url/);
  expect(fault).toContain(`PUBLIC_URL is ${url}, but here it is ${named}`);
  expect(await failing({ PUBLIC_URL: url })).toEqual([]);
});

test("doctor: reports ports that are taken before the service starts", async () => {
  const [port, metrics] = [await listen(createServer()), await listen(createServer())];
  const found = await failing({ PUBLIC_URL: "http://127.0.0.1:1", PORT: String(port), METRICS_PORT: String(metrics) });
  expect(found).toHaveLength(3);
  expect(found.join("\n")).toMatch(new RegExp(`PORT ${port} is used[^]*METRICS_PORT ${metrics} is used`));
});

test("doctor: reports missing and invalid address files, and a DATA_DIR that is a file", async () => {
  const file = join(processes.folder(), "some.mmdb");
  const missing = await failing({ PUBLIC_URL: service.current.url, MMDB_FILES: file });
  expect(missing.join()).toMatch(/address data +MMDB_FILES: ENOENT/);
  writeFileSync(file, "not one");
  const wrong = await failing({ PUBLIC_URL: service.current.url, MMDB_FILES: file });
  expect(wrong.join()).toMatch(/address data +MMDB_FILES: /);
  const folder = await failing({ DATABASE_URL: "", DATA_DIR: file });
  expect(folder.join()).toMatch(/data folder +\S+ is a file/);
});

test("doctor: reports disabled webhooks and dead messages, each with its own command", () => {
  const waiting = { unscored: 0, oldest: null, oldestOfServers: null };
  expect(
    checkWebhooks({
      ...waiting,
      deliveries: { waiting: 0, dead: 2 },
      disabledWebhooks: 1,
      limitedRules: 0,
      driftedModels: 0,
      overdueCases: 0,
      mails: { waiting: 0, dead: 0 },
    }),
  ).toMatchObject([
    { detail: "2 messages were abandoned", next: expect.stringContaining("webhooks resend <webhook_id>") },
    {
      detail: expect.stringMatching(/^1 webhook was disabled/),
      next: expect.stringContaining("webhooks set <webhook_id> --enabled true"),
    },
  ]);
  expect(
    checkWebhooks({
      ...waiting,
      deliveries: { waiting: 3, dead: 0 },
      disabledWebhooks: 0,
      limitedRules: 0,
      driftedModels: 0,
      overdueCases: 0,
      mails: { waiting: 0, dead: 0 },
    }),
  ).toMatchObject([{ isOk: true }]);
});
