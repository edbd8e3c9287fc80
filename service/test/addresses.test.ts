import { inject, expect, onTestFinished, test, vi } from "vitest";
import { decodeJwt } from "jose";
import { Metrics } from "../src/api/metrics.ts";
import { MetricsServer } from "../src/api/metrics-server.ts";
import { localUrl, readConfig } from "../src/config.ts";
import { within } from "./backup-lab.ts";
import { sendRaw } from "./harness.ts";
import { connectPlain, createDatabase, freePort, listenersOf, readDemo } from "./launch.ts";
import { Caller, cleanExit, useProcesses } from "./process.ts";

// The addresses the service listens on, the host names it accepts, and the URL it uses for itself.
vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();

async function openMetrics(host: string): Promise<number> {
  const metrics = new Metrics();
  const server = new MetricsServer(() => metrics.text());
  const port = await freePort();
  await server.listen(host, port);
  onTestFinished(() => server.stop());
  return port;
}

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, "0");
const scrape = (port: number, host: string) => sendRaw(port, `GET /metrics HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);

test.each(["127.0.0.1:9464", "127.0.0.1", "10.1.2.3:9464", "[::1]:9464", "[fd00::7]:9464", "localhost:9464", "LocalHost"])(
  "GET metrics 200: accepts the host %s",
  async (host) => {
    const { status, text } = await scrape(await openMetrics("127.0.0.1"), `Host: ${host}\r\n`);
    expect({ status, isMetrics: text.includes("casehound_process_") }).toEqual({ status: 200, isMetrics: true });
  },
);

test("GET metrics 200: accepts the name in METRICS_HOST as the host", async () => {
  expect(await scrape(await openMetrics("localhost"), "Host: LOCALHOST:9464\r\n")).toMatchObject({ status: 200 });
});

// A web page can resolve its own name to 127.0.0.1 and could then read the metrics as same-origin.
test.each([
  "Host: rebound.example\r\n",
  "Host: 127.0.0.1.rebound.example:9464\r\n",
  "Host: localhost.rebound.example\r\n",
  "Host: \r\n",
])("GET metrics 403: the host %j is rejected, and no metrics are returned", async (host) => {
  const { status, text } = await scrape(await openMetrics("127.0.0.1"), host);
  expect({ status, isMetrics: text.includes("casehound_") }).toEqual({ status: 403, isMetrics: false });
  expect(text).toContain('"type":"access-denied"');
});

test("metrics: an idle connection does not delay a stop", async () => {
  const metrics = new Metrics();
  const server = new MetricsServer(() => metrics.text());
  const port = await freePort();
  await server.listen("127.0.0.1", port);
  const silent = await connectPlain(port, "GET /metrics HTTP/1.1\r\n");
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await server.stop();
  await closed;
  await expect(connectPlain(port)).rejects.toThrow("ECONNREFUSED");
});

test("METRICS_HOST: the metrics listen on loopback by default, and on its address if it is set", async () => {
  expect(readConfig({}).metricsHost).toBe("127.0.0.1");
  const [port, metricsPort] = [await freePort(), await freePort()];
  const service = await processes.start({
    DATABASE_URL: await createDatabase(inject("databaseUrl")),
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    METRICS_HOST: "0.0.0.0",
  });
  expect(listenersOf(service.pid).toSorted()).toEqual([`00000000:${hex(metricsPort)}`, `0100007F:${hex(port)}`]);
  expect(await service.stop()).toEqual(cleanExit);
});

const everywhere = ["0.0.0.0", "::", "0", "0:0:0:0:0:0:0:0", "::ffff:0.0.0.0"];

test.each(everywhere)("config: a service on HOST=%s can be reached at 127.0.0.1", (host) => {
  expect(localUrl({ host, port: 8080 })).toBe("http://127.0.0.1:8080");
});

test.each(["0.0.0.0", "::"])("start, exit 2: HOST=%s with DATABASE_URL and without PUBLIC_URL creates nothing", async (HOST) => {
  const url = await createDatabase(inject("databaseUrl"));
  const line = await processes.launch({ DATABASE_URL: url, HOST }).refusal();
  expect(line).toContain("PUBLIC_URL must be set");
  const tables = await within(url, (client) => client.query("select 1 from pg_tables where schemaname = 'public'"));
  expect(tables.rows).toEqual([]);
});

test("start: with the embedded database, HOST=0.0.0.0 works without PUBLIC_URL, logs a warning, and uses 127.0.0.1 as its URL", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir, HOST: "0.0.0.0" });
  const caller = await Caller.signIn(service.port, readDemo(dataDir));
  expect(decodeJwt(caller.token).iss).toBe(`http://127.0.0.1:${service.port}`);
  expect((await caller.call("GET", "/cases")).status).toBe(200);
  expect(service.log.filter(({ msg }) => /PUBLIC_URL/.test(String(msg)))).toMatchObject([{ level: "warn" }]);
  expect(await service.stop()).toEqual(cleanExit);
});

test("start: an engine issues no tokens, and needs no PUBLIC_URL on any HOST", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const engine = await processes.start({ DATABASE_URL: url, HOST: "0.0.0.0", ROLES: "engine" });
  expect(await engine.stop()).toEqual(cleanExit);
});
