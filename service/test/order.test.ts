import { expect, test } from "vitest";
import { operations } from "../src/api/operations.ts";
import type { Operation } from "../src/api/operation.ts";
import type { Schema } from "../src/api/http/validate.ts";
import { createWorld, draftOf, faultsOf, sendDraft, snapshot, spoil, useWorld, type Fault } from "./faults.ts";
import { expectProblem, send, useService, type TestTenant } from "./harness.ts";

const service = useService();
const world = useWorld(service);

const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

// Returns null if the response is that of the earliest fault, and otherwise what it was.
async function miss(operation: Operation, put: Fault[]): Promise<string | null> {
  const wanted = put.toSorted((a, b) => a.check - b.check)[0]?.answer ?? "";
  const draft = draftOf(operation, world.current);
  const answer = await sendDraft(service.current, await spoil(draft, put, world.current, operation));
  const type = answer.status === 204 ? "" : answer.json.type;
  if (`${answer.status} ${type}` !== wanted) return `${namesOf(put)}: ${answer.status} ${type}, not ${wanted}`;
  expectProblem(answer, answer.status, type);
  if (answer.status === 405) expect(answer.headers.get("allow")?.split(", ")).toContain(operation.method);
  return null;
}

function namesOf(put: Fault[]): string {
  return put.map((fault) => fault.name).join(" with ");
}

// Sent together, so that an unexpected change can be traced to one of a few requests.
async function misses(operation: Operation, requests: Fault[][]): Promise<string[]> {
  const before = await snapshot(world.current);
  const answers = await Promise.all(requests.map((put) => miss(operation, put)));
  expect(await snapshot(world.current), requests.map(namesOf).join(", ")).toBe(before);
  return answers.filter((each) => each !== null);
}

// A rotated secret shows only at the token endpoint.
async function isSecretKept(tenant: TestTenant): Promise<boolean> {
  const basic = Buffer.from(`${tenant.clientId}:${tenant.clientSecret}`).toString("base64");
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: `Basic ${basic}` };
  const rawBody = "grant_type=client_credentials";
  return (await send(service.current.port, "POST", "/v2/oauth/token", { rawBody, headers })).status === 200;
}

test.each(table)("%s: each fault alone gets its own response and changes nothing", async (_at, operation) => {
  for (const fault of faultsOf(operation)) expect(await misses(operation, [[fault]])).toEqual([]);
  expect(await isSecretKept(world.current.tenant)).toBe(true);
});

test.each(table)("%s: of two faults the earlier check decides the response, and nothing changes", async (_at, operation) => {
  const all = faultsOf(operation);
  for (const one of all) {
    const pairs = all.filter((two) => one.check < two.check).map((two) => [one, two]);
    expect(await misses(operation, pairs)).toEqual([]);
  }
  expect(await isSecretKept(world.current.tenant)).toBe(true);
});

test("operations: every operation succeeds without a fault, so the rejections come from the faults", async () => {
  const own = await createWorld(service.current);
  for (const operation of operations) {
    const answer = await sendDraft(service.current, draftOf(operation, own));
    expect(answer.status, `${operation.id}: ${answer.text}`).toBe(operation.success.status);
  }
});

test("POST activities: a rejected activity is not stored, so its id is free", async () => {
  const operation = operations.find((each) => each.id === "createActivities");
  if (!operation) throw new Error("createActivities is in the table");
  const own = await createWorld(service.current);
  for (const fault of faultsOf(operation)) {
    await sendDraft(service.current, await spoil(draftOf(operation, own), [fault], own, operation));
  }
  const answer = await sendDraft(service.current, draftOf(operation, own));
  expect(answer.json.data).toEqual({ accepted: 1, duplicates: 0 });
});

const samples: Record<string, unknown> = {
  string: "\t",
  integer: 1,
  number: 1.5,
  boolean: true,
  null: null,
  array: [],
  object: {},
};

function kindsOf(schema: Schema): string[] {
  if (schema.anyOf) return schema.anyOf.flatMap(kindsOf);
  // The sample text is in no enumeration and matches no pattern or format.
  if (schema.enum ?? schema.pattern ?? schema.format) return [];
  return schema.type === "number" ? ["number", "integer"] : [schema.type ?? ""];
}

type Spot = { field: string; schema: Schema; set: (body: Record<string, unknown>, value: unknown) => void };

// Every member of a body, of its objects and of the first entries of its arrays.
function spotsOf(schema: Schema, field: string, reach: (body: Record<string, unknown>) => Record<string, unknown>): Spot[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Spot[] => {
    const path = field === "" ? name : `${field}.${name}`;
    const here: Spot = { field: path, schema: member, set: (body, value) => (reach(body)[name] = value) };
    // The example has an entry in each of its arrays of objects.
    const entries = (body: Record<string, unknown>) => reach(body)[name] as Record<string, unknown>[];
    const inner = member.items?.properties ? spotsOf(member.items, `${path}[0]`, (body) => entries(body)[0] ?? {}) : [];
    const entry: Spot[] = member.items
      ? [{ field: `${path}[0]`, schema: member.items, set: (body, value) => Object.assign(reach(body), { [name]: [value] }) }]
      : [];
    return [here, ...entry, ...inner];
  });
}

const withBody = table.filter(([, operation]) => operation.body !== undefined);

test.each(withBody)(
  "%s 422: no member accepts a value of another type, and only that member is reported",
  async (_at, operation) => {
    const before = await snapshot(world.current);
    // TypeBox schemas are JSON Schemas.
    const whole = operation.body as Schema;
    for (const { field, schema, set } of spotsOf(whole, "", (body) => body)) {
      for (const kind of Object.keys(samples).filter((each) => !kindsOf(schema).includes(each))) {
        const draft = draftOf(operation, world.current);
        // Leave out the optional members, because they may become invalid together with another one.
        const needed = Object.entries(draft.body ?? {}).filter(([name]) => whole.required?.includes(name));
        const body = structuredClone(Object.fromEntries(needed));
        set(body, samples[kind]);
        const answer = await sendDraft(service.current, { ...draft, body });
        const { errors } = expectProblem(answer, 422, "validation-error");
        expect(
          errors?.map((each) => each.field),
          `${field} as ${kind}`,
        ).toEqual([field]);
      }
    }
    expect(await snapshot(world.current)).toBe(before);
  },
);
