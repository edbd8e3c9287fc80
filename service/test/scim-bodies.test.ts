import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { newEmail } from "./people.ts";
import { Directory, expectScimError } from "./scim-lab.ts";

// Bodies and filters that nobody should send.
const service = useService({ roles: new Set(["api"]) });
let tenant: TestTenant;
let directory: Directory;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  directory = await Directory.connect(tenant);
});

// Everything that a request could have changed.
async function state(): Promise<string> {
  const paths = ["/users", "/scim", "/scim/v2/Users", "/scim/v2/Groups"];
  const answers = await Promise.all(paths.map((path) => tenant.call("GET", path)));
  return answers.map(({ text }) => text).join("\n");
}

const hostile: [string, unknown, number, string?][] = [
  ["__proto__", JSON.parse('{"__proto__": {"userName": "x@shop.example"}}'), 400, "invalidValue"],
  ["constructor", { constructor: { prototype: { active: false } } }, 400, "invalidValue"],
  ["no user name", {}, 400, "invalidValue"],
  ["a user name that is a number", { userName: 7 }, 400, "invalidValue"],
  ["a user name with U+0000", { userName: "a\0@shop.example" }, 400, "invalidValue"],
  ["a lone surrogate", { userName: "a\ud800@shop.example" }, 400, "invalidValue"],
  ["a user name without an address", { userName: "just-a-name" }, 400, "invalidValue"],
  ["a long user name", { userName: `${"a".repeat(300)}@shop.example` }, 400, "invalidValue"],
  ["an address with a bracket", { userName: "a<b@shop.example" }, 400, "invalidValue"],
  ["active as a number", { userName: "a@shop.example", active: 1 }, 400, "invalidValue"],
  ["active as a list", { userName: "a@shop.example", active: [true] }, 400, "invalidValue"],
  ["a name that is a text", { userName: "a@shop.example", name: "Ada" }, 400, "invalidValue"],
  ["emails of numbers", { userName: "a@shop.example", emails: [{ value: 1 }] }, 400, "invalidValue"],
];

test.each(hostile)("POST Users %s: refused, and nothing changes", async (_what, body, status, scimType) => {
  const before = await state();
  expectScimError(await directory.ask("POST", "/Users", body), status, "bad-request", scimType);
  expect(await state()).toBe(before);
  expect(Object.prototype).not.toHaveProperty("userName");
});

const patches: [string, unknown, string][] = [
  ["no operations", {}, "invalidSyntax"],
  ["an empty list", { Operations: [] }, "invalidSyntax"],
  ["operations that are no list", { Operations: { op: "add" } }, "invalidSyntax"],
  ["an operation that is null", { Operations: [null] }, "invalidSyntax"],
  ["an unknown operation", { Operations: [{ op: "move", path: "active" }] }, "invalidSyntax"],
  ["a thousand operations and one", { Operations: Array.from({ length: 1_001 }, () => ({ op: "add", path: "x" })) }, "tooMany"],
  ["a path that is a number", { Operations: [{ op: "add", path: 7 }] }, "invalidPath"],
  ["a broken path", { Operations: [{ op: "add", path: 'emails[type eq "work"' }] }, "invalidPath"],
  ["a path with text after it", { Operations: [{ op: "add", path: "active active" }] }, "invalidPath"],
  ["a long path", { Operations: [{ op: "add", path: "a".repeat(2_001) }] }, "invalidPath"],
  ["removal without a path", { Operations: [{ op: "remove" }] }, "noTarget"],
  ["a value without a path", { Operations: [{ op: "replace", value: "x" }] }, "invalidValue"],
  ["a removed user name", { Operations: [{ op: "remove", path: "userName" }] }, "invalidValue"],
  ["a removed active", { Operations: [{ op: "remove", path: "active" }] }, "invalidValue"],
  [
    "half of it wrong",
    {
      Operations: [
        { op: "replace", path: "displayName", value: "Eve" },
        { op: "replace", path: "active", value: "no" },
      ],
    },
    "invalidValue",
  ],
];

test.each(patches)("PATCH Users %s: refused, and nothing changes", async (_what, body, scimType) => {
  const id = await directory.create(newEmail());
  const before = await state();
  expectScimError(await directory.ask("PATCH", `/Users/${id}`, body), 400, "bad-request", scimType);
  expect(await state()).toBe(before);
});

test.each([
  "userName",
  "userName eq",
  'userName eq "a',
  'userName eq "\\x"',
  "userName eq a",
  'userName is "a"',
  '(userName eq "a"',
  'userName eq "a")',
  'userName eq "a" or',
  "not userName pr",
  'emails[type eq "work"',
  'userName eq "a"; drop table users; --',
  "' or 1=1 --",
  `${"(".repeat(40)}userName pr${")".repeat(40)}`,
  Array(101).fill("id pr").join(" or "),
  "\u0001",
])("filter %s: refused as an invalid filter", async (filter) => {
  for (const path of ["/Users", "/Groups"]) {
    const answer = await directory.ask("GET", `${path}?filter=${encodeURIComponent(filter)}`);
    expect(expectScimError(answer, 400, "bad-request", "invalidFilter").detail).toMatch(/^The filter /);
  }
});

test("filter: texts of SQL and names of prototypes are only texts", async () => {
  for (const filter of [
    `userName eq "' or '1'='1"`,
    'userName eq "%"',
    'userName co "_\\" or active eq true or userName eq \\""',
    'constructor eq "Object"',
    "__proto__ pr",
    "emails.constructor pr",
    'toString eq "x"',
  ])
    expect((await directory.find(filter)).json.totalResults, filter).toBe(0);
  const long = await directory.find(`userName eq "${"a".repeat(2_000)}"`);
  expectScimError(long, 400, "bad-request");
});

test("bodies: too deep, too large, no object, broken", async () => {
  const before = await state();
  const ask = (rawBody: string, path = "/Users") => directory.ask("POST", path, undefined, { rawBody });
  const deep = `{"userName":"a@shop.example","x":${"[".repeat(100)}${"]".repeat(100)}}`;
  expectScimError(await ask(deep), 400, "bad-request");
  expectScimError(await ask(`{"userName":"${"a".repeat(70_000)}"}`), 413, "payload-too-large");
  expectScimError(await ask(`{"displayName":"${"a".repeat(300_000)}"}`, "/Groups"), 413, "payload-too-large");
  expectScimError(await ask("[]"), 422, "validation-error", "invalidValue");
  expectScimError(await ask("{"), 400, "bad-request");
  expectScimError(await ask('{"userName":"a","userName":"b"}'), 400, "bad-request");
  const text = await directory.ask("POST", "/Users", undefined, { rawBody: "{}", headers: { "content-type": "text/plain" } });
  expectScimError(text, 415, "unsupported-media-type");
  expectScimError(await directory.ask("GET", "/Nothing"), 404, "item-not-found");
  expectScimError(await directory.ask("POST", "/Users/x"), 405, "method-not-allowed");
  expect(await state()).toBe(before);
});

test("groups: members that do not exist, too many members, and filters that would take too long", async () => {
  const id = await directory.create(newEmail());
  const group = (await directory.ask("POST", "/Groups", { displayName: `G ${randomUUID()}`, members: [{ value: id }] })).json.id;
  const before = await state();
  const add = (value: unknown) => directory.patch(`/Groups/${group}`, { op: "add", path: "members", value });
  for (const value of [[{ value: randomUUID() }], [{ value: "x" }], [{ value: "\ud800" }], { value: "' or true" }])
    expectScimError(await add(value), 400, "bad-request", "invalidValue");
  for (const value of [[null], [{}], [[]], 7]) expectScimError(await add(value), 400, "bad-request", "invalidValue");
  expectScimError(await add(Array.from({ length: 1_001 }, () => ({ value: randomUUID() }))), 400, "bad-request", "invalidValue");
  const general = Array.from({ length: 101 }, () => ({ op: "remove", path: 'members[value co "zzzz"]' }));
  expectScimError(await directory.patch(`/Groups/${group}`, ...general), 400, "bad-request", "tooMany");
  const filtered = { op: "add", path: `members[value eq "${id}"]`, value: "x" };
  expectScimError(await directory.patch(`/Groups/${group}`, filtered), 400, "bad-request", "noTarget");
  expect(await state()).toBe(before);
  expect((await directory.patch(`/Groups/${group}`, { op: "remove", path: `members[value eq "${randomUUID()}"]` })).status).toBe(
    204,
  );
});
