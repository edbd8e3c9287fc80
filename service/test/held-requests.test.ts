import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestTenant, useService } from "./harness.ts";
import { Browser, newEmail } from "./people.ts";
import { StreamReader } from "./stream.ts";

const service = useService();

// A person with a role of the tenant's own, so that a test can take its scopes away.
async function joinShift(scopes: string[]): Promise<{ tenant: TestTenant; browser: Browser }> {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/roles", { body: { role: "night-shift", scopes } });
  const made = await tenant.call("POST", "/users", { body: { email: newEmail(), name: "Ada Lovelace", role: "night-shift" } });
  return { tenant, browser: await Browser.take(service.current, (made.json.data as { link: { url: string } }).link.url) };
}

// Sends everything but the last byte. The returned function sends it and resolves to the status.
function hold({ cookie, signedIn }: Browser, method: string, path: string, body: string): () => Promise<number> {
  const headers = {
    cookie,
    "x-csrf-token": signedIn.csrf_token,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "idempotency-key": "held",
  };
  const held = request({ host: "127.0.0.1", port: service.current.port, method, path, headers });
  const answered = new Promise<number>((resolve, reject) => {
    held.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    held.on("error", reject);
  });
  held.write(body.slice(0, -1));
  return () => {
    held.end(body.slice(-1));
    return answered;
  };
}

test("a request whose body is held back acts with the scopes that its sender has when the body is complete", async () => {
  const { tenant, browser } = await joinShift(["read:case", "update:case", "manage:clients"]);
  const found = await tenant.openCase();
  const closing = JSON.stringify({ status: "CLOSED", case_version: found.case_version });
  const path = `/v2/${tenant.slug}/cases/${found.case_id}`;
  const finish = hold(browser, "PUT", path, closing);
  // Also a scope that the operation checks by itself, against the caller.
  const client = JSON.stringify({ scopes: ["update:case"] });
  const finishClient = hold(browser, "POST", `/v2/${tenant.slug}/clients`, client);
  await sleep(1_500);
  await tenant.call("PUT", "/roles/night-shift", { body: { scopes: ["read:case", "manage:clients"] } });
  expect(await finish()).toBe(403);
  expect(await finishClient()).toBe(403);
  expect(await tenant.read(found.case_id)).toEqual(found);
});

test("a request whose body is held back is rejected if its sender is disabled meanwhile", async () => {
  const { tenant, browser } = await joinShift(["read:case", "update:case"]);
  const found = await tenant.openCase();
  const body = JSON.stringify({ status: "CLOSED", case_version: found.case_version });
  const finish = hold(browser, "PUT", `/v2/${tenant.slug}/cases/${found.case_id}`, body);
  await sleep(1_500);
  await tenant.call("PUT", `/users/${browser.signedIn.user.user_id}`, { body: { is_disabled: true } });
  expect(await finish()).toBe(401);
  expect(await tenant.read(found.case_id)).toEqual(found);
});

test("an open event stream ends when any scope of its reader is taken away", async () => {
  const { tenant, browser } = await joinShift(["read:events", "read:case"]);
  const url = `http://127.0.0.1:${service.current.port}/v2/${tenant.slug}/events/stream?types=role.updated`;
  const reader = await StreamReader.open(url, { cookie: browser.cookie });
  await reader.next();
  await tenant.call("PUT", "/roles/night-shift", { body: { scopes: ["read:events"] } });
  // A check is trusted for a second.
  await sleep(1_500);
  await tenant.call("PUT", "/roles/night-shift", { body: { description: "Nobody sees this" } });
  expect((await reader.rest()).filter(({ data }) => data?.includes("Nobody"))).toEqual([]);
  await reader.close();
});
