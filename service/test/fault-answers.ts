import { expect } from "vitest";
import type { Operation } from "../src/api/operation.ts";
import { type World } from "./fault-world.ts";
import { draftOf, sendDraft, snapshot, spoil, type Fault } from "./faults.ts";
import { expectProblem, send } from "./harness.ts";

// Returns null if the response reports the earliest fault, and otherwise what it reported.
async function miss(world: World, operation: Operation, put: Fault[]): Promise<string | null> {
  const wanted = put.toSorted((a, b) => a.check - b.check)[0]?.answer ?? "";
  const draft = draftOf(operation, world);
  const answer = await sendDraft(world.tenant.service, await spoil(draft, put, world, operation));
  const type = answer.status === 204 ? "" : answer.json.type;
  if (`${answer.status} ${type}` !== wanted) return `${namesOf(put)}: ${answer.status} ${type}, not ${wanted}`;
  expectProblem(answer, answer.status, type);
  if (answer.status === 405) expect(answer.headers.get("allow")?.split(", ")).toContain(operation.method);
  return null;
}

function namesOf(put: Fault[]): string {
  return put.map((fault) => fault.name).join(" with ");
}

const concurrentMax = 20;

// Sends all requests, some at the same time. If they change something, they are sent again one by one to find the one that does.
export async function misses(world: World, operation: Operation, requests: Fault[][]): Promise<string[]> {
  const before = await snapshot(world);
  const answers: (string | null)[] = [];
  for (let first = 0; first < requests.length; first += concurrentMax) {
    const some = requests.slice(first, first + concurrentMax);
    answers.push(...(await Promise.all(some.map((put) => miss(world, operation, put)))));
  }
  const after = await snapshot(world);
  if (after !== before) answers.push(`changes something: ${await findChange(world, operation, requests)}`);
  return answers.filter((each) => each !== null);
}

async function findChange(world: World, operation: Operation, requests: Fault[][]): Promise<string> {
  for (const put of requests) {
    const before = await snapshot(world);
    await miss(world, operation, put);
    if ((await snapshot(world)) !== before) return namesOf(put);
  }
  return `one of ${requests.map(namesOf).join(", ")}`;
}

// Only the token endpoint shows whether a secret was rotated.
export async function isSecretKept({ tenant }: World): Promise<boolean> {
  const basic = Buffer.from(`${tenant.clientId}:${tenant.clientSecret}`).toString("base64");
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: `Basic ${basic}` };
  const rawBody = "grant_type=client_credentials";
  return (await send(tenant.service.port, "POST", "/v2/oauth/token", { rawBody, headers })).status === 200;
}
