import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "@casehound/simulator/random";
import { freePort, type Credentials, type Environment, type ServiceProcess } from "../../service/test/launch.ts";
import { send } from "../../service/test/send.ts";
import { check, type Verdict } from "./checker.ts";
import { Client, type ApiConnection } from "./client.ts";
import { drain, readFinalCase, readLog } from "./ending.ts";
import type { FinalCase, History } from "./history.ts";
import type { Recorder } from "./recorder.ts";
import { Door, Wire } from "./wire.ts";
import { World } from "./world.ts";
import type { Findings, Proof, Scale } from "../part.ts";
import type { Stand } from "../stand.ts";

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
export type Setting = { stand: Stand; tenant: Tenant };

const baseOf = ({ tenant }: Setting) => `/v2/${tenant.tenant}`;

// All services use one public URL, so one token is valid for all of them.
export async function startService(stand: Stand, env: Environment = {}, command?: string[]): Promise<ServiceProcess> {
  return stand.start({ PORT: String(await freePort()), PUBLIC_URL: "http://histories.test", ...env }, command);
}

export async function takeToken(port: number, { client_id, client_secret }: Omit<Credentials, "tenant">): Promise<string> {
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
  const response = await fetch(`http://127.0.0.1:${port}/v2/oauth/token`, { method: "POST", body });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${response.status}`);
  return token;
}

// Every client has its own client id, so the log shows who made a change.
async function makeIdentity(setting: Setting, [first, second]: Doors, adminToken: string) {
  const base = baseOf(setting);
  const { status, json, text } = await send(first.port, "POST", `${base}/clients`, { token: adminToken, body: { scopes } });
  if (status !== 201) throw new Error(`no client: ${text}`);
  const { client, client_secret } = json.data as { client: { client_id: string }; client_secret: string };
  const token = await takeToken(second.port, { client_id: client.client_id, client_secret });
  const lines: [ApiConnection, ApiConnection] = [
    { wire: new Wire(first), token },
    { wire: new Wire(second), token },
  ];
  return { actor: client.client_id, base, lines };
}

export type Doors = [Door, Door];
export type Crew = { clients: Client[]; wires: Wire[]; world: World };

export async function gatherCrew(setting: Setting, doors: Doors, { recorder, random, scale }: Mission): Promise<Crew> {
  const count = random.whole(8, clientsMax[scale]);
  const token = await takeToken(doors[0].port, setting.tenant);
  const world = new World(random.fork("world"), accounts);
  const identities = await Promise.all(Array.from({ length: count }, () => makeIdentity(setting, doors, token)));
  const clients = identities.map((identity, index) => {
    const name = `client-${index}`;
    return new Client({ name, ...identity }, random.fork(name), world, recorder);
  });
  return { clients, world, wires: identities.flatMap(({ lines }) => lines.map(({ wire }) => wire)) };
}

export type Mission = { recorder: Recorder; random: Random; scale: Scale };

export async function work(
  { clients, wires }: Crew,
  recorder: Recorder,
  progress: Proof["progress"],
  wanted: number,
): Promise<void> {
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
  const { stand, tenant } = setting;
  const base = baseOf(setting);
  const { port } = await startService(stand);
  const door = new Door(port);
  await drain(stand.database, tenant.tenant_id);
  const token = await takeToken(port, tenant);
  const lines: [ApiConnection, ApiConnection] = [
    { wire: new Wire(door), token },
    { wire: new Wire(door), token },
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

// Reads the final state, and checks that it explains everything that the clients saw.
export async function conclude(setting: Setting, crew: Crew, mission: Mission, seconds: number): Promise<Findings> {
  const { recorder } = mission;
  const { log, cases } = await readEnding(setting, crew.world.everyAccount, mission);
  const verdict = check({ calls: recorder.calls, log, cases });
  const violations = [...recorder.faults, ...verdict.violations];
  const kept = violations.length > 0 ? [`the history is in ${keepHistory({ calls: recorder.calls, log, cases })}`] : [];
  return { figures: figuresOf(recorder, crew, cases.size, seconds, verdict), violations: [...kept, ...violations] };
}
