import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "@casehound/simulator/random";
import { freePort, type Credentials, type Environment, type ServiceProcess } from "../service/test/launch.ts";
import { send } from "../service/test/send.ts";
import { check, type Verdict } from "./histories/checker.ts";
import { Client, type ApiConnection } from "./histories/client.ts";
import { drain, readFinalCase, readLog } from "./histories/ending.ts";
import type { FinalCase, History } from "./histories/history.ts";
import { Recorder } from "./histories/recorder.ts";
import { Wire } from "./histories/wire.ts";
import { World } from "./histories/world.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const callsWanted = { short: 2_000, full: 100_000 };
const clientsMax = { short: 12, full: 32 };
const accounts = ["account-a", "account-b", "account-c"];
const scopes = [
  "read:cases",
  "read:case",
  "update:case",
  "read:enduseraccount",
  "update:enduseraccount",
  "create:enduseraccount",
  "create:activities",
];

type Tenant = Credentials & { tenant_id: string };
type Setting = { stand: Stand; tenant: Tenant; base: string };

// All services use one public URL, so one token is valid for all of them.
async function startService(stand: Stand, env: Environment = {}): Promise<ServiceProcess> {
  return stand.start({ PORT: String(await freePort()), PUBLIC_URL: "http://histories.test", ...env });
}

async function takeToken(port: number, { client_id, client_secret }: Omit<Credentials, "tenant">): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
  const response = await fetch(`http://127.0.0.1:${port}/v2/oauth/token`, { method: "POST", body });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

// Every client has its own client id, so the log shows who made a change.
async function makeIdentity({ base }: Setting, [first, second]: [number, number], adminToken: string) {
  const { status, json, text } = await send(first, "POST", `${base}/clients`, { token: adminToken, body: { scopes } });
  if (status !== 201) throw new Error(`no client: ${text}`);
  const { client, client_secret } = json.data as { client: { client_id: string }; client_secret: string };
  const token = await takeToken(second, { client_id: client.client_id, client_secret });
  const lines: [ApiConnection, ApiConnection] = [
    { wire: new Wire(first), token },
    { wire: new Wire(second), token },
  ];
  return { actor: client.client_id, base, lines };
}

type Crew = { clients: Client[]; wires: Wire[]; world: World };

async function gatherCrew(setting: Setting, ports: [number, number], { recorder, random, count }: Mission): Promise<Crew> {
  const token = await takeToken(ports[0], setting.tenant);
  const world = new World(random.fork("world"), accounts);
  const identities = await Promise.all(Array.from({ length: count }, () => makeIdentity(setting, ports, token)));
  const clients = identities.map((identity, index) => {
    const name = `client-${index}`;
    return new Client({ name, ...identity }, random.fork(name), world, recorder);
  });
  return { clients, world, wires: identities.flatMap(({ lines }) => lines.map(({ wire }) => wire)) };
}

type Mission = { recorder: Recorder; random: Random; count: number };

async function work({ clients, wires }: Crew, recorder: Recorder, progress: Proof["progress"], wanted: number): Promise<void> {
  const [first] = clients;
  for (const account of accounts) {
    await first?.makeAccount(account);
    await first?.report(account);
  }
  const ticking = setInterval(() => progress(recorder.calls.length, wanted, "calls"), 500);
  await Promise.all(clients.map((client) => client.work())).finally(() => clearInterval(ticking));
  for (const wire of wires) wire.close();
}

// Reads the final state after all services have stopped, so nothing is in progress, through a newly started one.
async function readEnding(setting: Setting, everyAccount: string[], { recorder, random }: Mission) {
  const { stand, tenant, base } = setting;
  const { port } = await startService(stand);
  await drain(stand.database, tenant.tenant_id);
  const token = await takeToken(port, tenant);
  const lines: [ApiConnection, ApiConnection] = [
    { wire: new Wire(port), token },
    { wire: new Wire(port), token },
  ];
  const reader = new Client(
    { name: "reader", actor: tenant.client_id, base, lines },
    random,
    new World(random, accounts),
    recorder,
  );
  const cases = new Map<string, FinalCase>();
  for (const account of everyAccount) {
    for (const id of await reader.listOfAccount(account)) cases.set(...readFinalCase(await reader.readCase(id)));
  }
  for (const { wire } of lines) wire.close();
  return { log: await readLog(port, base, token), cases };
}

function figuresOf(recorder: Recorder, crew: Crew, cases: number, seconds: number, verdict: Verdict): Findings["figures"] {
  const reads = recorder.calls.filter(({ deed }) => deed === undefined).length;
  return {
    calls: recorder.calls.length,
    clients: crew.clients.length,
    accounts: crew.world.everyAccount.length,
    cases,
    "seconds of calls": Math.round(seconds),
    reads,
    ...Object.fromEntries([...recorder.outcomes].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    "versions in the chains": verdict.versions,
    "contents compared": verdict.contentsCompared,
    "replays compared byte for byte": verdict.replaysCompared,
    "logged changes traced to their calls": verdict.applications,
    "no response at first, and applied": verdict.unknownApplied,
    "no response at first, and not applied": verdict.unknownNotApplied,
  };
}

// A violation is hard to understand without everything that happened around it.
function keepHistory({ calls, log, cases }: History): string {
  const file = join(mkdtempSync(join(tmpdir(), "casehound-history-")), "history.json");
  writeFileSync(file, JSON.stringify({ calls, log, cases: [...cases] }));
  return file;
}

type Services = (stand: Stand) => Promise<[ServiceProcess, ServiceProcess]>;

async function run({ scale, random, progress }: Proof, start: Services): Promise<Findings> {
  const stand = await Stand.open();
  try {
    const tenant = await stand.tenant();
    const setting = { stand, tenant, base: `/v2/${tenant.tenant}` };
    const recorder = new Recorder(callsWanted[scale]);
    const services = await start(stand);
    const mission = { recorder, random, count: random.whole(8, clientsMax[scale]) };
    const crew = await gatherCrew(setting, [services[0].port, services[1].port], mission);
    const began = performance.now();
    await work(crew, recorder, progress, callsWanted[scale]);
    const seconds = (performance.now() - began) / 1000;
    await Promise.all([...new Set(services)].map((service) => service.stop()));
    const { log, cases } = await readEnding(setting, crew.world.everyAccount, mission);
    const verdict = check({ calls: recorder.calls, log, cases });
    const counted = figuresOf(recorder, crew, cases.size, seconds, verdict);
    const figures = { ...counted, "services on one database": new Set(services).size };
    const violations = [...recorder.faults, ...verdict.violations];
    const kept = violations.length > 0 ? [`the history is in ${keepHistory({ calls: recorder.calls, log, cases })}`] : [];
    return { figures, violations: [...kept, ...violations] };
  } finally {
    await stand.close();
  }
}

export const histories: Part = {
  name: "histories",
  title: "Histories of many clients",
  claim:
    "The clients of two services on one database read, close, reopen, close in bulk, report fraud and set flags on a few cases. Some calls are cut off and sent again under the same key. The log of changes, read one after the other, explains everything that the clients saw, in an order that agrees with real time: no version is lost, forked or skipped, no read is stale or ahead, a key is applied once, a replay has the bytes of the first response, and rejected changes were not applied.",
  run: (proof) => run(proof, (stand) => Promise.all([startService(stand), startService(stand)])),
};

// A client's two connections usually lead to two workers.
async function startWorkers(stand: Stand): Promise<[ServiceProcess, ServiceProcess]> {
  const service = await startService(stand, { WORKERS: "4" });
  return [service, service];
}

export const workerHistories: Part = {
  name: "workers",
  title: "Histories over four workers",
  claim: "What the histories show of two services is also true of one service with four workers and an engine on one port.",
  run: (proof) => run(proof, startWorkers),
};
