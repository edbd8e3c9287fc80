import { createHash } from "node:crypto";
import { connect } from "node:net";
import { once } from "node:events";
import { tagScript } from "@casehound/tag";
import { expect, onTestFinished, test } from "vitest";
import type { Config } from "../src/config.ts";
import { startService, type Service } from "../src/service.ts";
import { expectProblem, newDatabase, send, sendRaw, testConfig } from "./harness.ts";
import { Site, browserEvent, shop, useCollector } from "./site.ts";

const both = useCollector();

async function start(overrides: Partial<Config>): Promise<Service> {
  const service = await startService(testConfig(overrides));
  onTestFinished(() => service.stop());
  return service;
}

test("roles: a collector serves browsers and its health checks, and nothing else", async () => {
  const databaseUrl = await newDatabase();
  const api = await start({ databaseUrl, roles: new Set(["api"]) });
  const collector = await start({ databaseUrl, roles: new Set(["collector"]) });
  const site = await Site.create(api);
  const { port } = collector;
  const headers = { origin: shop };
  const rawBody = JSON.stringify([browserEvent()]);
  expect((await send(port, "OPTIONS", `/collect/${site.key}`, { headers })).status).toBe(204);
  expect((await send(port, "POST", `/collect/${site.key}`, { rawBody, headers })).status).toBe(200);
  await site.storedOne();
  expect((await fetch(`http://127.0.0.1:${port}/tag.js`)).status).toBe(200);
  for (const path of ["/livez", "/readyz"]) expect((await send(port, "GET", path)).status).toBe(200);
  for (const path of [
    "/docs",
    "/docs/api",
    "/openapi.json",
    "/.well-known/jwks.json",
    `/v2/${site.tenant.slug}/cases`,
    `/v2/${site.tenant.slug}/tenants`,
  ]) {
    expectProblem(await send(port, "GET", path, { token: site.tenant.token }), 404, "item-not-found");
  }
  expectProblem(await send(port, "POST", "/v2/oauth/token", { rawBody: "" }), 404, "item-not-found");
  // The collector's URL is not the API's: links and tokens keep using the API's.
  const answer = await site.tenant.call("GET", "/snippet");
  expect(answer.text).toContain(`${api.url}/tag.js`);
});

test("roles: an API without the collector role accepts nothing from browsers", async () => {
  const api = await start({ roles: new Set(["api"]) });
  const site = await Site.create(api);
  for (const method of ["OPTIONS", "POST"]) {
    const answer = await send(api.port, method, `/collect/${site.key}`, { headers: { origin: shop } });
    expectProblem(answer, 404, "item-not-found");
    expect(answer.status).toBe(404);
  }
});

test("stop: a request in progress is stored and answered, and its connection is closed", async () => {
  const databaseUrl = await newDatabase();
  const api = await start({ databaseUrl, roles: new Set(["api"]) });
  const collector = await startService(testConfig({ databaseUrl, roles: new Set(["collector"]) }));
  const site = await Site.create(api);
  const body = JSON.stringify([browserEvent()]);
  const socket = connect(collector.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const lines = [
    `POST /collect/${site.key} HTTP/1.1`,
    "Host: localhost",
    `Content-Length: ${body.length}`,
    "Expect: 100-continue",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [told] = (await once(socket, "data")) as [Buffer];
  expect(told.toString()).toContain("100 Continue");
  const stopped = collector.stop();
  socket.write(body);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  await stopped;
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\nconnection: close\r\n.*\{\}$/is);
  await site.storedOne();
});

test("GET tag.js 200: returns the tag's script to any page, with an ETag and a lifetime of an hour", async () => {
  const address = `http://127.0.0.1:${both.current.port}/tag.js`;
  const answer = await fetch(address);
  const text = await answer.text();
  expect(text).toBe(tagScript());
  const headers = Object.fromEntries(answer.headers);
  expect(headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=3600",
    "access-control-allow-origin": "*",
    etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`,
  });
  expect(headers["set-cookie"]).toBeUndefined();
});

function tagRequest(encoding: string): string {
  return `GET /tag.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
}

test("GET tag.js 200: compressed to under 6 kB for clients that accept it, and plain for others", async () => {
  const { port } = both.current;
  const packed = await sendRaw(port, tagRequest("br, gzip"));
  expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
  expect(Number(packed.headers["content-length"])).toBeLessThan(6_000);
  for (const encoding of ["br", "identity", "gzip;q=0"]) {
    const plain = await sendRaw(port, tagRequest(encoding));
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.text).toBe(await (await fetch(`http://127.0.0.1:${port}/tag.js`)).text());
  }
});

test("GET tag.js 304: a browser that has the current script gets no body; any other gets the script", async () => {
  const address = `http://127.0.0.1:${both.current.port}/tag.js`;
  const etag = (await fetch(address)).headers.get("etag") ?? "";
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const answer = await fetch(address, { headers: { "if-none-match": known } });
    expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", etag]);
  }
  expect((await fetch(address, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
});
