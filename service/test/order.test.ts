import { expect, test } from "vitest";
import { operations } from "../src/api/operations.ts";
import type { Schema } from "../src/api/http/validate.ts";
import { isSecretKept, misses } from "./fault-answers.ts";
import { createWorld, useWorld } from "./fault-world.ts";
import { draftOf, faultsOf, sendDraft, snapshot, spoil } from "./faults.ts";
import { expectProblem, useService } from "./harness.ts";

const service = useService();
const world = useWorld(service);

const table = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

test.each(table)("%s: each fault alone gets its own response and changes nothing", async (_at, operation) => {
  const alone = faultsOf(operation).map((fault) => [fault]);
  expect(await misses(world.current, operation, alone)).toEqual([]);
  expect(await isSecretKept(world.current)).toBe(true);
});

test("operations: every operation succeeds without a fault, so the rejections come from the faults", async () => {
  const own = await createWorld(service.current);
  for (const operation of operations) {
    const answer = await sendDraft(service.current, draftOf(operation, own));
    // Clients cannot request approval.
    const wanted = operation.id === "requestApproval" ? 403 : operation.success.status;
    expect(answer.status, `${operation.id}: ${answer.text}`).toBe(wanted);
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

const optionalEntries: Record<string, unknown[]> = {
  list_entries: [{ list: "stolen_devices", value: "device-1" }],
  cases: [{ case_id: "a case", case_version: 1 }],
  role_groups: [{ group: "leads", role: "lead" }],
};

type Spot = { field: string; schema: Schema; set: (body: Record<string, unknown>, value: unknown) => void };

// Every member of a body, of its objects and of the first entries of its arrays.
function spotsOf(schema: Schema, field: string, reach: (body: Record<string, unknown>) => Record<string, unknown>): Spot[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]): Spot[] => {
    const path = field === "" ? name : `${field}.${name}`;
    const here: Spot = { field: path, schema: member, set: (body, value) => (reach(body)[name] = value) };
    // The example has an entry in each of its arrays of objects, except for optional ones.
    const entries = (body: Record<string, unknown>) =>
      (reach(body)[name] ??= structuredClone(optionalEntries[name])) as Record<string, unknown>[];
    const inner = member.items?.properties ? spotsOf(member.items, `${path}[0]`, (body) => entries(body)[0] ?? {}) : [];
    const entry: Spot[] = member.items
      ? [{ field: `${path}[0]`, schema: member.items, set: (body, value) => Object.assign(reach(body), { [name]: [value] }) }]
      : [];
    return [here, ...entry, ...inner];
  });
}

// What directories send is not checked by a schema.
const withBody = table.filter(([, operation]) => operation.body !== undefined && operation.isScim !== true);

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
