import type { Random } from "../service/src/simulator/random.ts";
import type { Credentials, ServiceProcess } from "../service/test/launch.ts";
import { send } from "../service/test/send.ts";
import { check, type Verdict } from "./histories/checker.ts";
import { Client, type Line } from "./histories/client.ts";
import { drain, readFinalCase, readLog } from "./histories/ending.ts";
import type { FinalCase } from "./histories/history.ts";
import { Recorder } from "./histories/recorder.ts";
import { Wire } from "./histories/wire.ts";
import { World } from "./histories/world.ts";
import type { Findings, Part, Proof } from "./part.ts";
import { Stand } from "./stand.ts";

const callsWanted = { short: 2_000, full: 100_000 };
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

async function takeToken({ port }: ServiceProcess, { client_id, client_secret }: Omit<Credentials, "tenant">): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
  const response = await fetch(`http://127.0.0.1:${port}/v2/oauth/token`, { method: "POST", body });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

// Every one has a client id of its own: the log then says which of them it was.
async function makeIdentity({ tenant, base }: Setting, services: [ServiceProcess, ServiceProcess], token: string) {
  const { status, json, text } = await send(services[0].port, "POST", `${base}/clients`, { token, body: { scopes } });
  if (status !== 201) throw new Error(`no client: ${text}`);
  const { client, client_secret } = json.data as { client: { client_id: string }; client_secret: string };
  const credentials = { tenant: tenant.tenant, client_id: client.client_id, client_secret };
  const line = async (service: ServiceProcess): Promise<Line> => ({
    wire: new Wire(service.port),
    token: await takeToken(service, credentials),
  });
  const lines: [Line, Line] = [await line(services[0]), await line(services[1])];
  return { actor: client.client_id, base, lines };
}

type Crew = { clients: Client[]; wires: Wire[]; world: World };

async function gatherCrew(setting: Setting, recorder: Recorder, random: Random): Promise<Crew & { services: ServiceProcess[] }> {
  const services: [ServiceProcess, ServiceProcess] = [await setting.stand.start(), await setting.stand.start()];
  const token = await takeToken(services[0], setting.tenant);
  const world = new World(random.fork("world"), accounts);
  const crew: Crew = { clients: [], wires: [], world };
  const count = random.whole(8, 32);
  while (crew.clients.length < count) {
    const name = `client-${crew.clients.length}`;
    const identity = { name, ...(await makeIdentity(setting, services, token)) };
    crew.clients.push(new Client(identity, random.fork(name), world, recorder));
    crew.wires.push(...identity.lines.map(({ wire }) => wire));
  }
  return { ...crew, services };
}

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

// After all services were stopped, so that nothing is under way any more, by one that was started anew.
async function readEnding(setting: Setting, recorder: Recorder, random: Random) {
  const { stand, tenant, base } = setting;
  const service = await stand.start();
  await drain(stand.database, tenant.tenant_id);
  const token = await takeToken(service, tenant);
  const lines: [Line, Line] = [
    { wire: new Wire(service.port), token },
    { wire: new Wire(service.port), token },
  ];
  const reader = new Client({ name: "reader", actor: tenant.client_id, base, lines }, random, new World(random, accounts), recorder);
  const cases = new Map<string, FinalCase>();
  for (const account of accounts) {
    for (const id of await reader.listOfAccount(account)) cases.set(...readFinalCase(await reader.readCase(id)));
  }
  for (const { wire } of lines) wire.close();
  return { log: await readLog(service.port, base, token), cases };
}

function figuresOf(recorder: Recorder, crew: Crew, cases: number, seconds: number, verdict: Verdict): Findings["figures"] {
  const reads = recorder.calls.filter(({ deed }) => deed === undefined).length;
  return {
    calls: recorder.calls.length,
    clients: crew.clients.length,
    "services on one database": 2,
    accounts: accounts.length,
    cases,
    "seconds of calls": Math.round(seconds),
    reads,
    ...Object.fromEntries([...recorder.outcomes].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    "versions in the chains": verdict.versions,
    "contents compared": verdict.contentsCompared,
    "replays compared byte for byte": verdict.replaysCompared,
    "changes of the log traced to their calls": verdict.applications,
  };
}

async function run({ scale, random, progress }: Proof): Promise<Findings> {
  const stand = await Stand.open();
  try {
    const tenant = await stand.tenant();
    const setting = { stand, tenant, base: `/v2/${tenant.tenant}` };
    const recorder = new Recorder(callsWanted[scale]);
    const { services, ...crew } = await gatherCrew(setting, recorder, random);
    const began = performance.now();
    await work(crew, recorder, progress, callsWanted[scale]);
    const seconds = (performance.now() - began) / 1000;
    await Promise.all(services.map((service) => service.stop()));
    const { log, cases } = await readEnding(setting, recorder, random.fork("reader"));
    const verdict = check({ calls: recorder.calls, log, cases });
    const figures = figuresOf(recorder, crew, cases.size, seconds, verdict);
    return { figures, violations: [...recorder.faults, ...verdict.violations] };
  } finally {
    await stand.close();
  }
}

export const histories: Part = {
  name: "histories",
  title: "Histories of many clients",
  claim:
    "Clients at two services on one database read, close, reopen, close in bulk, report fraud and set flags on few cases; some calls are cut off and asked for again under the same key. All that they saw is explained by the log of changes, one after the other, in an order that agrees with real time: no version is lost, forked or skipped, no read is stale or ahead, a key is applied once, a replay has the first answer's bytes, and what was refused was not applied.",
  run,
};
