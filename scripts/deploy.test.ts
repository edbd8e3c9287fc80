import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { readConfig } from "../service/src/config.ts";
import { TestTenant, send, useService } from "../service/test/harness.ts";
import { freePort } from "../service/test/launch.ts";
import { configMapOf, containersOf, environments, manifests, queries, readDeployed, strayOnes, type Query } from "./deployed.ts";

const metricsPort = await freePort();
const service = useService({ metricsPort, rateLimits: { client: 1_000, tenant: 2_000, collector: 1_000 } });
const root = join(import.meta.dirname, "..");

test("deploy: the service, PostgreSQL or Node reads every variable that is set", () => {
  const source = readFileSync(join(root, "service/src/config.ts"), "utf8");
  const read = new Set([...source.matchAll(/"([A-Z][A-Z_]{2,})"/g)].map(([, name]) => name));
  expect(read.size).toBeGreaterThan(20);
  const others = new Set(["POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB", "COPY_FROM", "PGPASSWORD", "NODE_ENV"]);
  const set = environments().flatMap(({ where, values }) => Object.keys(values).map((name) => ({ where, name })));
  expect(set.length).toBeGreaterThan(15);
  expect(set.filter(({ name }) => !read.has(name) && !others.has(name))).toEqual([]);
});

test.each(environments())("deploy: the service accepts the settings of $where", ({ values }) => {
  expect(() => readConfig(values)).not.toThrow();
});

test("deploy: containers, unit and npm start the service with the same flags", () => {
  const { scripts }: { scripts: { start: string } } = JSON.parse(readDeployed("../package.json"));
  const wanted = scripts.start.match(/--[a-z][a-z-]*=\d+/g);
  expect(wanted?.length).toBeGreaterThan(0);
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(readDeployed("Dockerfile"))?.[1] ?? "null";
  expect(JSON.parse(entry)).toEqual(["node", ...(wanted ?? []), "service/src/main.ts"]);
  const unit = /^ExecStart=(.*)$/m.exec(readDeployed("casehound.service"))?.[1];
  expect(unit).toBe(`/opt/casehound/node_modules/.bin/node ${wanted?.join(" ")} service/src/main.ts`);
});

test("deploy: the image has all folders that the service reads, and .dockerignore admits them", () => {
  const [dockerfile, ignored] = [readDeployed("Dockerfile"), readDeployed("../.dockerignore")];
  const folders = ["service/src", "service/migrations", "client/src", "tag/src", "simulator/src", "site/src", "docs/guide"];
  for (const folder of folders) {
    expect(dockerfile).toContain(`\nCOPY ${folder} ${folder}\n`);
    expect(ignored).toContain(`\n!${folder}\n`);
  }
});

test("deploy: the files that the compose files mount and run exist", () => {
  const mounted = new Map<string, string>();
  for (const file of ["compose.yaml", "compose.standby.yaml", "compose.citus.yaml"]) {
    const text = readDeployed(file);
    for (const [, from = "", to = ""] of text.matchAll(/^ *- (\.\/[^:\s]+):([^:\s]+)/gm)) mounted.set(to, from);
    for (const [, folder = "", name = ""] of text.matchAll(/(\/casehound)\/([\w.]+)/g))
      mounted.set(`${folder}/${name}`, `${mounted.get(folder)}/${name}`);
  }
  expect(mounted.size).toBeGreaterThan(4);
  const missing = [...mounted.values()].filter((path) => !existsSync(join(root, "deploy", path)));
  expect(missing).toEqual([]);
});

test("deploy: no secret has a value, and containers have no more rights than they need", () => {
  const all = [
    "compose.yaml",
    "compose.standby.yaml",
    "compose.citus.yaml",
    "kubernetes/secret.yaml.example",
    "casehound.service",
  ]
    .map(readDeployed)
    .join("\n");
  const given = [...all.matchAll(/^\s*\w*(?:PASSWORD|SECRET)\w*: *"?([^"\n]+)/gm)].map(([, value = ""]) => value);
  expect(given.length).toBeGreaterThan(0);
  expect(given.filter((value) => !/^\$\{\w+:(\?.+|-)\}$/.test(value))).toEqual([]);
  const containers = containersOf();
  expect(containers.length).toBe(15);
  for (const { where, isReadOnly, dropped } of containers)
    expect({ where, isReadOnly, dropped }).toEqual({ where, isReadOnly: true, dropped: ["ALL"] });
});

test("deploy: probes request existing paths, and budgets and services select existing pods", async () => {
  const paths = [...manifests("kubernetes/web.yaml").matchAll(/"path":"([^"]+)"/g)].map(([, path = ""]) => path);
  expect(new Set(paths)).toEqual(new Set(["/livez", "/readyz"]));
  for (const path of paths) expect((await send(service.current.port, "GET", path)).status).toBe(200);
  expect(strayOnes()).toEqual([]);
  const { METRICS_PORT } = configMapOf("kubernetes/config.yaml");
  for (const file of ["kubernetes/web.yaml", "kubernetes/engine.yaml"]) {
    const named = /"prometheus\.io\/port":"(\d+)".*\{"name":"metrics","containerPort":(\d+)\}/.exec(manifests(file))?.slice(1);
    expect(named).toEqual([METRICS_PORT, METRICS_PORT]);
  }
});

test("deploy: the Kubernetes example trusts no proxy until one is configured", () => {
  expect(readConfig(configMapOf("kubernetes/config.yaml")).trustedProxies.rules).toEqual([]);
});

let told: { types: Map<string, string>; labels: Map<string, Set<string>> };

// Trigger once everything that only appears in the metrics after it has happened.
beforeAll(async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase();
  await tenant.call("GET", "/cases/none");
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const labels = new Map<string, Set<string>>();
  for (const [, name = "", inside = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(name) ?? new Set<string>();
    for (const [, label = ""] of inside.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }
  told = { types: new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type = ""]) => [name, type])), labels };
});

// Only a service of several workers exports these. The test of workers reads them there.
const ofWorkers = new Map([["casehound_worker_deaths_total", new Set(["worker"])]]);
// Prometheus adds these itself.
const targetLabels = new Set(["job", "instance"]);

function faultsOf({ names, labels }: Query): string[] {
  return names.flatMap((name) => {
    if (name === "up") return [];
    const base = name.replace(/_(bucket|sum|count)$/, "");
    const isThere = told.types.has(name) || ofWorkers.has(name) || told.types.get(base) === "histogram";
    if (!isThere) return [`there is no metric ${name}`];
    const known = told.labels.get(name) ?? ofWorkers.get(name);
    // A metric that has not been counted yet has no labels to compare.
    if (!known) return [];
    return labels.flatMap((label) => (known.has(label) || targetLabels.has(label) ? [] : [`${name} has no label ${label}`]));
  });
}

test.each(queries())("monitoring: $where queries metrics that a running service exports", (query) => {
  expect(query.names, query.text).not.toEqual([]);
  expect(faultsOf(query), query.text).toEqual([]);
});

test("monitoring: detects a metric or label that is not exported", () => {
  expect(faultsOf({ where: "", text: "", names: ["casehound_invented_total"], labels: [] })).toHaveLength(1);
  expect(faultsOf({ where: "", text: "", names: ["casehound_http_request_seconds_count"], labels: ["tenant"] })).toHaveLength(1);
});

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function checkedWith(env: Record<string, string>): Promise<unknown> {
  const child = spawn(process.execPath, [join(root, "deploy/healthcheck.mjs")], { env, stdio: "ignore" });
  children.push(child);
  const [code] = await once(child, "exit");
  return code;
}

test("healthcheck: exits with 0 if the service is ready or its engine polls for work, and with 1 if nothing answers", async () => {
  const nobody = String(await freePort());
  expect(await checkedWith({ PORT: String(service.current.port) })).toBe(0);
  expect(await checkedWith({ PORT: nobody, METRICS_PORT: String(metricsPort), ROLES: "engine" })).toBe(0);
  for (const METRICS_HOST of ["0.0.0.0", "::", "localhost"])
    expect(await checkedWith({ METRICS_HOST, METRICS_PORT: String(metricsPort), ROLES: "engine" })).toBe(0);
  expect(await checkedWith({ METRICS_HOST: "::1", METRICS_PORT: String(metricsPort), ROLES: "engine" })).toBe(1);
  expect(await checkedWith({ PORT: nobody })).toBe(1);
  expect(await checkedWith({ PORT: String(service.current.port), METRICS_PORT: nobody, ROLES: "engine" })).toBe(1);
});
