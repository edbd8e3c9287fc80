import { createServer, type AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { badInput } from "./bad-input.ts";
import { faultOfAnswer, readAnswers, type Answer } from "./bad-input/answer.ts";
import { changedTables, type Digest } from "./bad-input/digest.ts";
import { rulesOf, readDocument } from "./bad-input/document.ts";
import { shrink } from "./bad-input/raw-bytes.ts";
import { refusalFault } from "./bad-input/schema-rules.ts";
import { Lines, sendBytes } from "./bad-input/wire.ts";
import { proveShort } from "./prove.ts";

test(
  "bad input: in the short form there is no 5xx, every response is JSON, and nothing is applied",
  { timeout: 300_000 },
  async () => {
    const figures = await proveShort(badInput);
    expect(figures["requests"]).toBeGreaterThan(3_000);
    expect(figures["rules broken"]).toBeGreaterThan(800);
    expect(figures["cursors"]).toBeGreaterThan(100);
    expect(figures["changes reported as applied"]).toBeGreaterThan(0);
    expect(figures["activities accepted from changed requests"]).toBeGreaterThan(0);
    expect(figures["events accepted from mutated captures"]).toBeGreaterThan(0);
    expect(figures["entries in quarantine"]).toBeGreaterThan(20);
  },
);

const problem = { type: "bad-request", title: "Bad request", status: 400, detail: "The parameter limit is wrong.", errors: null };

function digest(content: string): Digest {
  return new Map([["cases", { rows: 1, content }]]);
}

function bytesOfAnswer(status: number, body: string): string {
  return `HTTP/1.1 ${status} X\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function answerOf(status: number, body: unknown, type = "application/problem+json"): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: new Map([["content-type", type]]), text };
}

describe("bad input: the judge detects", () => {
  test.each([
    ["a 500, even as a problem", answerOf(500, { ...problem, status: 500 })],
    ["a 503", answerOf(503, { ...problem, status: 503 })],
    ["a page", answerOf(400, "<html>", "text/html")],
    ["a problem with the media type of plain JSON", answerOf(400, problem, "application/json")],
    ["a truncated body", answerOf(400, '{"type":')],
    ["another status in the body", answerOf(404, problem)],
    ["a problem without the errors that it must have", answerOf(422, { ...problem, status: 422 })],
    ["errors in a problem that must have none", answerOf(400, { ...problem, errors: [{ field: "a", message: "b" }] })],
    ["a success that is not JSON", answerOf(200, "ok", "application/json")],
    ["no status at all", answerOf(Number.NaN, problem)],
  ])("%s", (_name, answer) => expect(faultOfAnswer(answer)).not.toBeNull());

  test("no fault in a correct response", () => {
    expect(faultOfAnswer(answerOf(400, problem))).toBeNull();
    expect(faultOfAnswer(answerOf(200, {}, "application/json"))).toBeNull();
    expect(faultOfAnswer(answerOf(204, ""))).toBeNull();
  });

  test("a rejection of another kind, of another field, of more fields, or none at all", () => {
    const refusal = { status: 422, type: "validation-error", field: "a" };
    const invalid = (...fields: string[]) =>
      answerOf(422, {
        ...problem,
        status: 422,
        type: "validation-error",
        errors: fields.map((field) => ({ field, message: "" })),
      });
    expect(refusalFault(invalid("a"), refusal)).toBeNull();
    for (const other of [invalid("b"), invalid("a", "b"), answerOf(400, problem), answerOf(200, {})]) {
      expect(refusalFault(other, refusal)).not.toBeNull();
    }
    expect(refusalFault(answerOf(400, problem), { status: 400, type: "bad-request", inDetail: "cursor" })).not.toBeNull();
  });

  test("a changed row and an added row", () => {
    expect(changedTables(digest("a"), digest("a"))).toEqual([]);
    expect(changedTables(digest("a"), digest("b"))).toEqual(["cases"]);
  });
});

test("bad input: every keyword of a schema is a rule at any depth, and an unknown keyword counts too", () => {
  const inner = {
    type: "object",
    required: ["b"],
    properties: { b: { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }] } },
  };
  const body = {
    type: "object",
    properties: { a: { type: "array", items: inner, uniqueItems: true } },
    additionalProperties: false,
  };
  const described = {
    operationId: "change",
    requestBody: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Body" } } } },
    responses: { 200: {} },
  };
  const document = { paths: { "/v2/{tenant_slug}/x": { put: described } }, components: { schemas: { Body: body } } };
  const rules = readDocument(JSON.stringify(document)).flatMap(rulesOf);
  expect(rules.map(({ path, keyword }) => `${path.join(".")} ${keyword}`.trim()).toSorted()).toEqual(
    [
      "body",
      "type",
      "additionalProperties",
      "a type",
      "a uniqueItems",
      "a.0 type",
      "a.0.b required",
      "a.0.b anyOf",
      "a.0.b maxLength",
      "a.0.b storable",
    ].toSorted(),
  );
});

test("bad input: a failing request is shrunk to its bad part", async () => {
  const bytes = Buffer.from(`${"x".repeat(200)}BAD${"y".repeat(100)}`);
  expect((await shrink(bytes, async (less) => less.includes("BAD"))).toString()).toBe("BAD");
});

describe("bad input: on the wire", () => {
  const servers: (() => void)[] = [];
  afterEach(() => servers.splice(0).forEach((close) => close()));

  async function serve(reply: string): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(reply));
    });
    servers.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  test("an incomplete response is left over, and no response counts as none", async () => {
    const half = "HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\n{";
    expect((await sendBytes(await serve(half), Buffer.from("GET"))).left.toString()).toBe(half);
    expect(await sendBytes(await serve(""), Buffer.from("GET"))).toMatchObject({ answers: [], isSilent: false });
    const lines = new Lines(await serve(half), 1);
    expect(await lines.ask(Buffer.from("GET"))).toBeNull();
    expect(lines.losses).toEqual(["the service closed it, requests waiting: 1"]);
    lines.close();
  });

  test("pipelined responses are separated, and an interim response does not count", () => {
    const { answers, rest } = readAnswers(
      Buffer.from(`${bytesOfAnswer(200, "{}")}HTTP/1.1 100 Continue\r\n\r\n${bytesOfAnswer(404, '{"a":1}')}HTTP`),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, "{}"],
      [404, '{"a":1}'],
    ]);
    expect(rest.toString()).toBe("HTTP");
  });
});
