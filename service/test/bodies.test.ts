import { randomInt } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rawRequest, talk } from "./raw.ts";
import { TestTenant, expectProblem, sendRaw, useService, type Answer } from "./harness.ts";

const service = useService();
const kib64 = 64 * 1024;

type Raw = string | Uint8Array<ArrayBuffer>;

async function createAccount() {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a", crm_account_id: "crm" } });
  const read = async () => (await tenant.call("GET", "/enduseraccounts/a")).text;
  const put = (rawBody: Raw, headers: Record<string, string> = {}) =>
    tenant.call("PUT", "/enduseraccounts/a", { rawBody, headers });
  return { tenant, read, put, before: await read() };
}

function expectFields(answer: Answer, fields: string[]): void {
  const { errors } = expectProblem(answer, 422, "validation-error");
  expect(errors?.map((each) => each.field)).toEqual(fields);
  for (const each of errors ?? []) expect(each).toEqual({ field: each.field, message: expect.stringMatching(/./) });
}

const noBooleans = '"true" "false" "" 1 0 1.0 [true] [] {} null'.split(" ");
const noStrings = '1 0 1.5 true false [] ["x"] {}'.split(" ");
const flags = ["is_blocked", "is_quarantined", "is_fraudulent"].map((flag): [string, string[]] => [flag, noBooleans]);

test.each([...flags, ["crm_account_id", noStrings] as const])(
  "PUT account 422: no value is coerced into %s",
  async (field, values) => {
    const { put, read, before } = await createAccount();
    for (const value of values) expectFields(await put(`{"${field}":${value}}`), [field]);
    // A valid member beside an invalid one is not applied either.
    expectFields(await put(`{"${field}":7,"${field === "is_blocked" ? "is_fraudulent" : "is_blocked"}":true}`), [field]);
    expect(await read()).toBe(before);
  },
);

const noIntegers = "1e16 9007199254740993 -9007199254740992 1.5 0.99999999999999999999 1.00000000000000000001 9007199254740991.4";
const wrongOfCase = Object.entries({
  case_version: `"1" "" true null [1] {} 1e400 -1e400 9007199254740992 ${noIntegers}`.split(" "),
  status: '"closed" "Closed" "" "DELETED" 1 true null ["CLOSED"] {}'.split(" "),
  reason: [...noStrings, '""', "null", `"${"x".repeat(1001)}"`, '"a\\u0000"', '"\\ud800"'],
  disposition: '"confirmed_fraud" "OTHER" "" 1 true null ["INCONCLUSIVE"] {}'.split(" "),
});

test.each(wrongOfCase)("PUT case 422: no value is coerced into %s", async (field, values) => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const good: Record<string, string> = { status: '"CLOSED"', case_version: "1" };
  for (const value of values) {
    const members = Object.entries({ ...good, [field]: value }).map(([name, text]) => `"${name}":${text}`);
    expectFields(await tenant.put(case_id, undefined, undefined, { rawBody: `{${members.join(",")}}` }), [field]);
  }
  expect(await tenant.read(case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
});

test("PUT case: every notation of a number is read as the same number", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const put = (version: string) =>
    tenant.put(case_id, undefined, undefined, { rawBody: `{"status":"OPEN","case_version":${version}}` });
  for (const one of ["1", "1.0", "1.000", "1e0", "1E+0", "10e-1", "0.1e1"]) expect((await put(one)).status, one).toBe(200);
  for (const other of ["0", "-0", "-0.0", "2", "3.0", "-1", "9007199254740991", "-9007199254740991", "1e15"]) {
    expect(expectProblem(await put(other), 409, "item-version-conflict").current_version, other).toBe(1);
  }
  expect(await tenant.read(case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
});

describe("read-only and unknown members", () => {
  test.each([
    [
      "read-only members",
      '{"tenant_id":"x","website_account_id":"a","last_session_updated_on":"2026-01-01T00:00:00.000Z","created_at":1,"updated_at":null}',
      ["tenant_id", "website_account_id", "last_session_updated_on", "created_at", "updated_at"],
    ],
    [
      "unknown members next to valid and invalid ones",
      '{"zeta":1,"is_blocked":"yes","alpha":{},"is_quarantined":true,"crm_account_id":7,"":null}',
      ["zeta", "is_blocked", "alpha", "crm_account_id", ""],
    ],
    [
      "known members in another letter case",
      '{"IS_BLOCKED":true,"isBlocked":true,"is_blocked ":true}',
      ["IS_BLOCKED", "isBlocked", "is_blocked "],
    ],
    ["members whose names are numbers", '{"b":1,"2":1,"a":1,"1":1}', ["b", "2", "a", "1"]],
    [
      "names that every object inherits",
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1,"hasOwnProperty":1}',
      ["__proto__", "constructor", "toString", "hasOwnProperty"],
    ],
    ["names that look the same", '{"\u00e9":1,"e\u0301":1}', ["\u00e9", "e\u0301"]],
    ["escaped names", '{"\\u0061bc":1}', ["abc"]],
    ["names that are not valid text", '{"\\u0000":1,"\\ud800":1}', ["\0", "\ufffd"]],
  ])("PUT account 422: %s get one entry each, in body order", async (_name, body, fields) => {
    const { put, read, before } = await createAccount();
    expectFields(await put(body), fields);
    expect(await read()).toBe(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}).not.toHaveProperty("polluted");
  });

  test("PUT account 422: a long member name from the caller is truncated in the response", async () => {
    const { put } = await createAccount();
    const { errors } = expectProblem(await put(`{"${"\u{1f600}".repeat(5000)}":1}`), 422, "validation-error");
    expect(errors?.map((each) => each.field)).toEqual([expect.stringMatching(/^\u{1f600}{100,500}$/u)]);
  });

  test("PUT case 422: missing members are listed after invalid ones", async () => {
    const tenant = await TestTenant.create(service.current);
    const { case_id } = await tenant.openCase();
    expectFields(await tenant.put(case_id, { extra: 1, case_version: "1" }), ["extra", "case_version", "status"]);
    expectFields(await tenant.put(case_id, { case_version: 1, details: {} }), ["details", "status"]);
    expect(await tenant.read(case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
  });
});

const brokenJson = String.raw`{ } {"is_blocked":true {"is_blocked":true,} {is_blocked:true} {'is_blocked':true} {"is_blocked":True}
  {"is_blocked":} {"is_blocked"true} {,"is_blocked":true} undefined NaN {"x":Infinity} {"x":01} {"x":+1} {"x":.5} {"x":1.} {"x":0x1}
  {"x":"\u12"} {"x":"\x41"} {}/**/ {}// [1,] {"x":1}]`;
const repeatedNames = String.raw`{"is_blocked":true,"is_blocked":true} {"is_blocked":true,"is_blocked":false}
  {"is_blocked":true,"\u0069s_blocked":true} {"x":{"a":1,"a":2}} {"x":[{"a":1,"\u0061":1}]} [{"a":1,"a":1}] {"":1,"":2}
  {"😀":1,"\ud83d\ude00":1} {"__proto__":1,"__proto__":1} {"a/b":1,"a\/b":1} {"a":"}","a":"{"} {"\"":1,"\u0022":1}`;
const noDocuments = Object.entries({
  "an empty body, or one without content": ["", " ", "\n", "\ufeff"],
  "broken JSON": [...brokenJson.split(/\s+/), '{"x":"\n"}', "{}\0", "\u00a0{}", "\ufeff\ufeff{}"],
  "two documents": ["{}{}", '{"is_blocked":true} {"is_blocked":true}', "{}\n{}", '{"is_blocked":true}x', "[][]", "{} ,", "1 2"],
  "names that repeat": [...repeatedNames.split(/\s+/), '{"a" \n:1,"a"\t :1}'],
});

test.each(noDocuments)("PUT account 400: rejects %s", async (_name, bodies) => {
  const { put, read, before } = await createAccount();
  for (const body of bodies) expectProblem(await put(Buffer.from(body)), 400, "bad-request");
  expect(await read()).toBe(before);
});

test("PUT account 400: bytes that are not UTF-8 are rejected", async () => {
  const { put, read, before } = await createAccount();
  const bad = ["ff", "80", "c3", "c080", "e080af", "eda080", "edb080", "eda0bdedb880", "f4908080", "f888808080", "e282", "e9"];
  for (const hex of bad) {
    const body = Buffer.concat([Buffer.from('{"crm_account_id":"'), Buffer.from(hex, "hex"), Buffer.from('"}')]);
    expectProblem(await put(body), 400, "bad-request");
  }
  expectProblem(await put(Buffer.from('{"is_blocked":true}', "utf16le")), 400, "bad-request");
  expect(await read()).toBe(before);
});

test("PUT account 422: a body that is not an object gets the single entry body", async () => {
  const { put, read, before } = await createAccount();
  for (const body of ["[]", '"x"', "7", "null", "true", '[{"is_blocked":true}]', '""']) expectFields(await put(body), ["body"]);
  expect(await read()).toBe(before);
});

test("PUT account 200: an empty object, a byte order mark, white space and repeated names on different levels are accepted", async () => {
  const { put, read, before } = await createAccount();
  expect((await put("{}")).text).toBe(await read());
  expect(await read()).toBe(before);
  expect((await put('\ufeff \r\n\t{ "is_blocked" : true }\n')).json.data).toMatchObject({ is_blocked: true });
  expect((await put('{"crm_account_id":"\\",\\"crm_account_id\\":{"}')).json.data).toMatchObject({
    crm_account_id: '","crm_account_id":{',
  });
});

const nested = (depth: number) => `{"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;

test("PUT account: nesting depth is limited, and deeper bodies get at most a 400 or 422", async () => {
  const { put, read, before } = await createAccount();
  expectFields(await put(nested(60)), ["x"]);
  for (const body of [nested(65), nested(32_000), "[".repeat(kib64), '{"x":'.repeat(10_000)])
    expectProblem(await put(body), 400, "bad-request");
  expect(await read()).toBe(before);
});

const fourBytes = () => String.fromCodePoint(...Array.from({ length: 1024 }, () => randomInt(0x10000, 0x110000)));

describe("strings", () => {
  const kept: [string, string][] = [
    ["the empty string", ""],
    ["composed and decomposed letters", "\u00e9 e\u0301 \ufb01 \u212b \u{1d400}"],
    ["right-to-left text", "\u05e9\u05dc\u05d5\u05dd \u200f\u202e\u0639\u0631\u0628\u064a\u202c"],
    ["joined emoji", "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u{1f3fd} \u{1f1e9}\u{1f1ea}"],
    ["surrounding white space", " \t\r\n x \u00a0\u2003\u2028\u2029\ufeff"],
    ["control characters", Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join("") + "\u007f\u0085"],
    ["noncharacters and the last code point", "\ufffe\uffff\ufdd0\ufffd\u{10ffff}"],
    ["text with a meaning in other languages", `'; drop table accounts; -- $1 %s \\0 {"a":[]} <b> &amp; ../ \${x} null`],
    ["1,024 equal four-byte characters", "\u{1f600}".repeat(1024)],
    ["1,024 random four-byte characters", fourBytes()],
  ];

  test.each(kept)("PUT account 200: %s is returned as sent", async (_name, text) => {
    const { put, read } = await createAccount();
    const expected = { crm_account_id: text };
    expect((await put(JSON.stringify({ crm_account_id: text }))).json.data).toMatchObject(expected);
    expect(JSON.parse(await read())).toMatchObject({ data: expected });
    const escaped = [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`);
    expect((await put(`{"crm_account_id":"${escaped.join("")}"}`)).json.data).toMatchObject(expected);
  });

  test("PUT account 422: 1,025 characters, U+0000 and lone surrogates are rejected", async () => {
    const { put, read, before } = await createAccount();
    const long = [JSON.stringify(`${fourBytes()}x`), JSON.stringify(" ".repeat(1025))];
    const lone = ['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00"', '"\\udc00\\ud800"', '"\\ud83dx"', '"x\\ud83d"'];
    for (const text of [...long, ...lone]) expectFields(await put(`{"crm_account_id":${text}}`), ["crm_account_id"]);
    expect(await read()).toBe(before);
  });

  test("PUT account 200: null removes the CRM id and nothing else", async () => {
    const { put, read } = await createAccount();
    const answer = await put('{"crm_account_id":null}');
    expect(answer.status).toBe(200);
    expect(answer.json.data).not.toHaveProperty("crm_account_id");
    expect(await read()).toBe(answer.text);
  });
});

const padded = (length: number) => '{"is_blocked":true}'.padEnd(length);
const chunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
describe("size", () => {
  const inChunks = ["Transfer-Encoding: chunked"];
  const expecting = ["Expect: 100-continue"];

  test.each([
    ["with a Content-Length", [], padded(kib64)],
    ["in chunks", inChunks, chunks(padded(kib64))],
    ["after 100 Continue", expecting, padded(kib64)],
  ])("PUT account 200: a body of exactly 64 KiB is accepted, %s", async (_name, headers, body) => {
    const { tenant } = await createAccount();
    const answer = await sendRaw(service.current.port, rawRequest(tenant, { path: "/enduseraccounts/a", headers, body }));
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"is_blocked":true');
  });

  test.each([
    ["one byte too many, with a Content-Length", [], padded(kib64 + 1)],
    ["one byte too many, in chunks", inChunks, chunks(padded(kib64 + 1))],
    ["one byte too many, without waiting for 100 Continue", expecting, padded(kib64 + 1)],
    ["megabytes, with a Content-Length", [], padded(80 * kib64)],
    ["megabytes, in chunks", inChunks, chunks(padded(80 * kib64))],
    ["megabytes in chunks, after 100 Continue", [...inChunks, ...expecting], chunks(padded(80 * kib64))],
    ["megabytes, without waiting for 100 Continue", expecting, padded(80 * kib64)],
  ])("PUT account 413: rejects %s", async (_name, headers, body) => {
    const { tenant, read, before } = await createAccount();
    const request = rawRequest(tenant, { path: "/enduseraccounts/a", headers, body });
    const { answers, isOpen } = await talk(service.current.port, request);
    expect(answers).toHaveLength(1);
    if (answers[0]) expectProblem(answers[0], 413, "payload-too-large");
    expect(isOpen).toBe(false);
    expect(await read()).toBe(before);
  });

  test("PUT account 413: a client that waits for 100 Continue is rejected before it sends a byte", async () => {
    const { tenant, read, before } = await createAccount();
    const request = rawRequest(tenant, { path: "/enduseraccounts/a", headers: expecting, body: padded(kib64 + 1) });
    const { answers, interim } = await talk(service.current.port, request.subarray(0, request.indexOf("\r\n\r\n") + 4));
    expect(answers.map((answer) => answer.status)).toEqual([413]);
    expect(interim).toBe(0);
    expect(await read()).toBe(before);
  });
});

describe("media types", () => {
  const good = ["application/json", "APPLICATION/Json", "application/json; charset=utf-8", "application/json;charset=UTF-8"];
  const bad =
    "text/plain text/json application/jsonx application/json5 application/problem+json application/x-www-form-urlencoded json */*".split(
      " ",
    );
  const charsets = ["latin1", "utf-16", "us-ascii", ""].map((charset) => `application/json; charset=${charset}`);

  test("PUT account 200: accepts application/json in any letter case, in UTF-8 or without a charset", async () => {
    const { put } = await createAccount();
    for (const type of [...good, 'application/json ; charset="utf-8"', "application/json;"]) {
      expect((await put('{"is_blocked":true}', { "content-type": type })).status, type).toBe(200);
    }
  });

  test("PUT account 415: any other type or charset is rejected", async () => {
    const { put, read, before } = await createAccount();
    for (const type of [...bad, ...charsets, "application/json, text/plain", "multipart/form-data; boundary=x", ""]) {
      expectProblem(await put('{"is_blocked":true}', { "content-type": type }), 415, "unsupported-media-type");
    }
    expect(await read()).toBe(before);
  });

  test("PUT account 415: a missing Content-Type and any Content-Encoding other than identity are rejected", async () => {
    const { tenant, put, read, before } = await createAccount();
    const request = rawRequest(tenant, { path: "/enduseraccounts/a", body: '{"is_blocked":true}' }).toString("latin1");
    const untyped = await sendRaw(service.current.port, request.replace("Content-Type: application/json\r\n", ""));
    expectProblem(untyped, 415, "unsupported-media-type");
    const zipped = Uint8Array.from(gzipSync('{"is_blocked":true}'));
    for (const encoding of ["gzip", "GZIP", "br", "deflate", "zstd", "gzip, identity", "utf-8"]) {
      expectProblem(await put(zipped, { "content-encoding": encoding }), 415, "unsupported-media-type");
    }
    expect(await read()).toBe(before);
    for (const encoding of ["identity", "Identity"]) expect((await put("{}", { "content-encoding": encoding })).status).toBe(200);
  });
});
