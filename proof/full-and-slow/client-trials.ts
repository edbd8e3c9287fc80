import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectPlain } from "../../service/test/launch.ts";
import { dataOf } from "../writers/call.ts";
import type { Figures, House, Trial } from "./house.ts";
import { Sockets } from "./sockets.ts";

const slowWanted = { short: 30, full: 200 };
const idleWanted = { short: 200, full: 1_000 };
const leavingWanted = { short: 8, full: 40 };
const shortMs = 1_500;
export const listPath = "/cases?limit=1000";

// In the short form the test closes the connections. In the full form the service's own limits must close them all.
async function seeThrough(house: House, name: string, sockets: Sockets): Promise<Figures> {
  const began = performance.now();
  if (house.scale === "short") await sleep(shortMs);
  else await house.until(`${name}: the service closes them`, () => sockets.closed === sockets.size, 180_000);
  const byService = sockets.closed;
  sockets.end();
  const seconds = Math.round((performance.now() - began) / 1000);
  return { [`${name}: connections`]: sockets.size, [`${name}: closed by the service`]: `${byService} in ${seconds} s` };
}

// Half of them send a head that never ends, and half send a body one byte at a time.
async function comeSlowly(house: House): Promise<Figures> {
  const half = slowWanted[house.scale] / 2;
  const sockets = new Sockets();
  const begun = house.head("GET", listPath).slice(0, -2);
  const heads = await sockets.open(half, house.port, begun);
  sockets.drip(heads, "x-slow: 1\r\n", 1_000);
  const length = { "content-type": "application/json", "content-length": "60000" };
  const bodies = await sockets.open(half, house.port, house.head("PUT", "/enduseraccounts/slow", length));
  sockets.drip(bodies, " ", 1_000);
  // Read them, so that their end is noticed.
  for (const socket of [...heads, ...bodies]) socket.resume();
  return seeThrough(house, "slow clients", sockets);
}

// Half of them have sent one request and keep their connection, and half have sent nothing.
async function stayIdle(house: House): Promise<Figures> {
  const half = idleWanted[house.scale] / 2;
  const sockets = new Sockets();
  const silent = await sockets.open(half, house.port, "");
  const kept = await sockets.open(half, house.port, `GET /livez HTTP/1.1\r\nhost: 127.0.0.1:${house.port}\r\n\r\n`);
  for (const socket of [...silent, ...kept]) socket.resume();
  return seeThrough(house, "idle connections", sockets);
}

type Held = { case_id: string; case_version: number; status: string };

// Closes and reopens a separate case with requests whose sender disconnects before the response.
async function leaveWhileWaiting(house: House, times: number): Promise<number> {
  const { probe, ledger, admin, tenant } = house;
  const found = await probe.call({ method: "GET", path: "/cases?website_account_id=listed-0" });
  let held = (dataOf(found ?? { status: 0, text: "{}", isReplay: false }) as { cases: Held[] }).cases[0];
  if (!held) throw new Error("no case to work on");
  let replays = 0;
  for (let index = 0; index < times; index++) {
    const key = randomUUID();
    const path = `/cases/${held.case_id}`;
    const wanted: number = held.case_version + 1;
    const body = { status: held.status === "OPEN" ? "CLOSED" : "OPEN", case_version: held.case_version, reason: key };
    const text = JSON.stringify(body);
    const isHeld = index % 2 === 0;
    // Lock the case for a moment, so the sender surely disconnects before the outcome.
    if (isHeld) {
      await admin.query("begin");
      await admin.query("select 1 from cases where tenant_id = $1 and case_id = $2 for update", [tenant.tenant_id, held.case_id]);
    }
    const more = { "content-type": "application/json", "content-length": String(text.length), "idempotency-key": key };
    const socket = await connectPlain(house.port, house.head("PUT", path, more) + text);
    await sleep(house.random.between(0, 40));
    socket.destroy();
    if (isHeld) await admin.query("rollback");
    const answer = await untilSettled(house, () => probe.call({ method: "PUT", path, body, key }));
    const now = answer.status === 200 ? (dataOf(answer) as Held) : null;
    if (now?.case_version !== wanted)
      ledger.violate(`${key}: its sender disconnected, and the same key returned ${answer.status} ${answer.text.slice(0, 200)}`);
    if (answer.isReplay) replays++;
    held = now ?? held;
    ledger.changes.set(key, { case_id: held.case_id, case_version: wanted });
  }
  return replays;
}

async function untilSettled(
  { ledger }: House,
  ask: () => ReturnType<House["probe"]["call"]>,
): Promise<{ status: number; text: string; isReplay: boolean }> {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const answer = await ask();
    if (answer !== null && !answer.text.includes("transaction-contended")) return answer;
    await sleep(20);
  }
  ledger.violate("a key was contended a hundred times, although nobody else used the case");
  return { status: 0, text: "", isReplay: false };
}

// Disconnects at every stage of a request.
async function leave(house: House): Promise<Figures> {
  const times = leavingWanted[house.scale];
  const length = { "content-type": "application/json", "content-length": "100" };
  const stages: Record<string, string> = {
    "in the head": house.head("GET", listPath).slice(0, -20),
    "in the body": `${house.head("PUT", "/enduseraccounts/listed-1", length)}{"is_blocked": true`,
    "in the response": house.head("GET", listPath).repeat(3),
    "in a stream": house.head("GET", "/events/stream?after=0"),
    "in a long wait": house.head("GET", "/events?after=999999999&wait=2"),
  };
  for (const [stage, bytes] of Object.entries(stages)) {
    for (let index = 0; index < times; index++) {
      const socket = await connectPlain(house.port, bytes);
      const isAnswered = stage === "in the response" || stage === "in a stream";
      if (isAnswered) await new Promise((resolve) => socket.once("data", resolve));
      else await sleep(house.random.between(0, 10));
      if (house.random.chance(0.5)) socket.resetAndDestroy();
      else socket.destroy();
    }
  }
  const replays = await leaveWhileWaiting(house, times);
  // The stream slots must be free again.
  const stream = await connectPlain(house.port, house.head("GET", "/events/stream"));
  const first = await new Promise<Buffer>((resolve) => stream.once("data", resolve));
  stream.destroy();
  if (!first.toString().startsWith("HTTP/1.1 200"))
    house.ledger.violate(`after ${times} readers left their streams, a new one gets ${first.toString().slice(0, 12)}`);
  return {
    "clients that disconnect": times * (Object.keys(stages).length + 1),
    "clients that disconnect: their writes, found by a replay": replays,
  };
}

// Run concurrently, because they mostly wait.
async function disturbWithClients(house: House): Promise<Figures> {
  const figures = await Promise.all([comeSlowly(house), stayIdle(house), leave(house)]);
  return Object.assign({}, ...figures);
}

export const clientTrials: Trial[] = [
  {
    name: "slow, idle and disconnecting clients",
    isShort: true,
    run: (house) => house.crew.goUnharmed("slow, idle and disconnecting clients", () => disturbWithClients(house)),
  },
];
