import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { talk } from "./raw.ts";
import { expectProblem, send, type Answer } from "./harness.ts";
import { Site, browserEvent, shop, useCollector } from "./site.ts";

const service = useCollector();
const bodyBytesMax = 2 * 1024 * 1024;

function preflight(key: string, headers: Record<string, string>): Promise<Answer> {
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "content-type,user-agent" };
  return send(service.current.port, "OPTIONS", `/collect/${key}?platform=Web`, { headers: { ...asked, ...headers } });
}

// Returns the CORS headers, and checks that no cookie or redirect is set.
function corsOf({ headers }: Answer): Record<string, string> {
  expect([headers.get("set-cookie"), headers.get("location")]).toEqual([null, null]);
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"));
}

const readable = { "access-control-allow-origin": shop, "access-control-allow-credentials": "true", vary: "Origin" };

test("OPTIONS collect 204: a page of an allowed origin may post JSON with credentials", async () => {
  const site = await Site.create(service.current);
  const answer = await preflight(site.key, { origin: shop });
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect(corsOf(answer)).toEqual({
    ...readable,
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type, user-agent",
  });
});

test("OPTIONS collect 204: each of several origins is echoed back as soon as it is allowed", async () => {
  const site = await Site.create(service.current, { allowed_origins: [] });
  const origins = [shop, "http://localhost:3000"];
  for (const origin of origins) expect((await preflight(site.key, { origin })).status).toBe(403);
  await site.tenant.call("PUT", "/tenants", { body: { allowed_origins: origins } });
  for (const origin of origins) {
    const answer = await preflight(site.key, { origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  }
});

const foreignOrigins = [
  "https://other.example",
  "http://shop.example",
  "https://shop.example:8443",
  "https://shop.example/",
  "https://SHOP.example",
  "https://shop.example.evil.example",
  "https://www.shop.example",
  "https://shop.example, https://evil.example",
  "null",
  "*",
];

test.each(foreignOrigins)("OPTIONS and POST collect 403: pages of %s are rejected, and nothing is stored", async (origin) => {
  const site = await Site.create(service.current);
  const answers = [
    await preflight(site.key, { origin }),
    await site.collect(JSON.stringify([browserEvent()]), { headers: { origin } }),
  ];
  for (const answer of answers) {
    expectProblem(answer, 403, "access-denied");
    expect(corsOf(answer)).toEqual({ vary: "Origin" });
  }
  expect(await site.stored()).toEqual([]);
  expect((await site.quarantined()).counts).toEqual([]);
});

test("OPTIONS and POST collect 403: an unknown key and a foreign origin get the same response", async () => {
  const site = await Site.create(service.current);
  const body = JSON.stringify([browserEvent()]);
  const foreign = { origin: "https://other.example" };
  const texts = [
    await preflight(site.key, foreign),
    await preflight("no-such-key", { origin: shop }),
    await preflight(`${site.key}0`, { origin: shop }),
    await preflight(site.key.toUpperCase(), { origin: shop }),
    await preflight("%zz", { origin: shop }),
    await site.collect(body, { headers: foreign }),
    await site.collect(body, { key: randomUUID() }),
    await site.collect(body, { key: site.tenant.slug }),
    await site.collect(body, { key: site.tenant.tenantId }),
  ].map((answer) => {
    expect(corsOf(answer)).toEqual({ vary: "Origin" });
    return expectProblem(answer, 403, "access-denied").detail;
  });
  expect(new Set(texts).size).toBe(1);
  expect(await site.stored()).toEqual([]);
});

test("OPTIONS collect 403: a request without an origin is not a preflight", async () => {
  const site = await Site.create(service.current);
  const answer = await preflight(site.key, {});
  expectProblem(answer, 403, "access-denied");
  expect(corsOf(answer)).toEqual({ vary: "Origin" });
});

test("POST collect 200: returns an empty object once the events are durable, readable by the page", async () => {
  const site = await Site.create(service.current);
  const events = [browserEvent(), browserEvent()];
  const answer = await site.collect(JSON.stringify(events));
  expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([200, "{}", "application/json"]);
  expect(corsOf(answer)).toEqual(readable);
  const ids = (await site.stored()).map((each) => each.activity_id);
  expect(ids.toSorted()).toEqual(events.map((each) => each.event_id).toSorted());
});

test("POST collect 200: a request without an origin is not from a page, and is accepted", async () => {
  const site = await Site.create(service.current, { allowed_origins: [] });
  const body = JSON.stringify([browserEvent()]);
  const answer = await send(service.current.port, "POST", `/collect/${site.key}`, { rawBody: body });
  expect([answer.status, answer.text]).toEqual([200, "{}"]);
  expect(corsOf(answer)).toEqual({ vary: "Origin" });
  await site.storedOne();
});

test.each(["application/json; charset=utf-8", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "image/png", ""])(
  "POST collect 200: JSON is accepted with the media type '%s'",
  async (type) => {
    const site = await Site.create(service.current);
    const event = browserEvent();
    await site.post([event], { headers: { "content-type": type } });
    expect((await site.storedOne()).activity_id).toBe(event.event_id);
  },
);

test("POST collect 200: an empty batch stores and quarantines nothing", async () => {
  const site = await Site.create(service.current);
  await site.post([]);
  expect(await site.stored()).toEqual([]);
  expect((await site.quarantined()).counts).toEqual([]);
});

test("POST collect 200: an odd query string does not affect the events", async () => {
  const site = await Site.create(service.current);
  const body = JSON.stringify([browserEvent()]);
  for (const query of [
    "%zz=%zz",
    "hashCode=",
    "upload_timestamp=soon&upload_timestamp=1",
    "compression=brotli",
    "=&&?=",
    "a".repeat(4000),
  ]) {
    const answer = await send(service.current.port, "POST", `/collect/${site.key}?${query}`, {
      rawBody: body,
      headers: { origin: shop },
    });
    expect([query, answer.status]).toEqual([query, 200]);
  }
  await site.storedOne();
  expect(await site.counts()).toEqual({});
});

function rawPost(key: string, body: string, framing: string): string {
  return `POST /collect/${key} HTTP/1.1\r\nHost: localhost\r\nOrigin: ${shop}\r\n${framing}\r\n\r\n${body}`;
}

test("POST collect 413: over 2 MiB in any framing, the connection is closed and nothing is stored", async () => {
  const site = await Site.create(service.current);
  const body = JSON.stringify([browserEvent()]).padEnd(bodyBytesMax + 1, " ");
  const framings = [
    [`Content-Length: ${body.length}`, body],
    ["Transfer-Encoding: chunked", `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
  ];
  for (const [framing = "", sent = ""] of framings) {
    const { answers, isOpen } = await talk(service.current.port, rawPost(site.key, sent, framing));
    const [answer] = answers;
    if (!answer) throw new Error("there was no answer");
    expectProblem(answer, 413, "payload-too-large");
    expect(answer.headers).toMatchObject({ ...readable, connection: "close" });
    expect(isOpen).toBe(false);
  }
  expect(await site.stored()).toEqual([]);
});

test("POST collect 200: accepts exactly 2 MiB", async () => {
  const site = await Site.create(service.current);
  expect((await site.collect(JSON.stringify([browserEvent()]).padEnd(bodyBytesMax, " "))).status).toBe(200);
  await site.storedOne();
});

test("collect 405 and 404: other methods get an Allow header, other paths do not exist, and nothing redirects", async () => {
  const site = await Site.create(service.current);
  const { port } = service.current;
  for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
    const answer = await send(port, method, `/collect/${site.key}`, { headers: { origin: shop } });
    expectProblem(answer, 405, "method-not-allowed");
    expect(answer.headers.get("allow")).toBe("OPTIONS, POST");
    expect(corsOf(answer)).toEqual(readable);
  }
  for (const path of ["/collect", "/collect/", `/collect/${site.key}/`, `/collect/${site.key}/x`, `//collect/${site.key}`]) {
    const answer = await send(port, "POST", path, { rawBody: "[]" });
    expectProblem(answer, 404, "item-not-found");
    corsOf(answer);
  }
});

function valueOf(text: string, series: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.split(" ")[1] ?? 0);
}

test("POST collect: the audit trail records nothing, and the counters show what became of the events", async () => {
  const site = await Site.create(service.current);
  const before = await service.current.metrics.text();
  const known = browserEvent();
  await site.post([known, browserEvent(), { event_id: "x" }]);
  await site.post([known], { query: { hashCode: "00000000" } });
  const after = await service.current.metrics.text();
  const grown = (series: string) => valueOf(after, series) - valueOf(before, series);
  expect(
    ["accepted", "duplicate", "quarantined"].map((result) => grown(`casehound_collector_events_total{result="${result}"}`)),
  ).toEqual([2, 1, 1]);
  expect(["no-event-type", "wrong-hash"].map((reason) => grown(`casehound_quarantined_total{reason="${reason}"}`))).toEqual([
    1, 1,
  ]);
  const events = await service.current.database.query<{ type: string }>(sql`
    select type from events where tenant_id = ${site.tenant.tenantId}`);
  expect(events).toEqual([{ type: "tenant.updated" }]);
});
