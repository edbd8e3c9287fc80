import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { isPrivate, publicLookup } from "../src/webhook/address.ts";
import { post } from "../src/webhook/post.ts";
import { givenUpAfterMs, nextPauseMs } from "../src/domain/webhook.ts";
import { TestTenant, useService } from "./harness.ts";
import { Receiver } from "./webhook-receiver.ts";

const service = useService();

test.each([
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "fe80::1",
  "fc00::1",
  "fd12:3456::1",
  "ff02::1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "2001:db8::1",
  "not an address",
])("webhooks: %s is private", (address) => expect(isPrivate(address)).toBe(true));

// The first and last address of each block in IANA's special-purpose registries, and the metadata addresses of clouds, which
// serve secrets to their machines.
test.each([
  ["Azure's wire server", "168.63.129.16", "::ffff:168.63.129.16"],
  ["Oracle's metadata", "192.0.0.192"],
  ["Alibaba's metadata", "100.100.100.200"],
  ["AWS's metadata", "fd00:ec2::254"],
  ["this network", "0.0.0.0", "0.255.255.255"],
  ["shared address space", "100.64.0.0", "100.127.255.255"],
  ["IETF protocol assignments", "192.0.0.0", "192.0.0.255"],
  ["documentation", "192.0.2.1", "198.51.100.1", "203.0.113.1"],
  [
    "AS112",
    "192.31.196.0",
    "192.31.196.255",
    "192.175.48.0",
    "192.175.48.255",
    "2001:4:112::1",
    "2620:4f:8000::",
    "2620:4f:8000:ffff::",
  ],
  ["AMT", "192.52.193.0", "192.52.193.255", "2001:3::1"],
  ["6to4 relays", "192.88.99.1"],
  ["benchmarking", "198.18.0.0", "198.19.255.255", "2001:2::1"],
  ["multicast and reserved", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255"],
  ["IPv4 within IPv6", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::1"],
  ["Teredo and ORCHID", "2001::1", "2001:10::1", "2001:20::1", "2001:1ff:ffff::1"],
  ["discard-only and dummy", "100::1", "100:0:0:1::1"],
  ["documentation, IPv6", "2001:db8::1", "3fff::1", "3fff:fff:ffff::1"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1", "fdff:ffff::1"],
  ["link-local", "fe80::1", "febf::1", "fe80::1%eth0"],
  ["site-local, deprecated", "fec0::1", "feff::1"],
  ["multicast, IPv6", "ff00::1", "ffff::1"],
])("webhooks: %s is private", (_name, ...addresses) => {
  expect(addresses.filter((address) => !isPrivate(address))).toEqual([]);
});

test.each([
  "168.63.129.15",
  "168.63.129.17",
  "192.31.197.0",
  "192.52.192.255",
  "192.175.49.0",
  "2001:200::1",
  "2001:db7:ffff::1",
  "2003::1",
  "2620:4f:8001::1",
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.128.0.1",
  "172.32.0.1",
  "192.169.0.1",
  "2606:4700::1111",
  "2a00:1450::1",
])("webhooks: %s is public", (address) => expect(isPrivate(address)).toBe(false));

const message = { id: "msg_1", body: "{}", secrets: ["whsec_AAAA"], now: "2026-11-15T09:30:00.000Z" };

test.each([
  "http://127.0.0.1:1/",
  "https://[::1]:1/",
  "http://0x7f000001:1/",
  "http://2130706433:1/",
  "https://[::ffff:127.0.0.1]:1/",
  "http://localhost:1/",
])("webhooks: nothing is sent to %s", async (url) => {
  const posted = await post({ ...message, url }, { isPrivateAllowed: false });
  expect(posted).toEqual({ delivered: false, error: expect.stringContaining("is a private address") });
});

test("webhooks: a name is resolved once, and the connection goes to that address", async () => {
  const receiver = await Receiver.start();
  try {
    const url = receiver.url.replace("127.0.0.1", "localhost");
    expect(await post({ ...message, url }, { isPrivateAllowed: false })).toMatchObject({ delivered: false });
    expect(receiver.received).toEqual([]);
    expect(await post({ ...message, url: receiver.url }, { isPrivateAllowed: true })).toMatchObject({ delivered: true });
  } finally {
    receiver.stop();
  }
  const found = await new Promise((resolve) => publicLookup("localhost", { all: true }, (error) => resolve(error)));
  expect(found).toMatchObject({ name: "PrivateAddress" });
});

test("webhooks: a message to a receiver that never responds ends at the time limit, and a response counts once its status has arrived", async () => {
  const receiver = await Receiver.start();
  receiver.answer = () => {};
  try {
    const posted = await post({ ...message, url: receiver.url }, { isPrivateAllowed: true, timeoutMs: 200 });
    expect(posted).toEqual({ delivered: false, error: "no response within 0.2 s" });
    receiver.answer = (_received, response) => void response.writeHead(200).write("x");
    expect(await post({ ...message, url: receiver.url }, { isPrivateAllowed: true, timeoutMs: 2_000 })).toMatchObject({
      delivered: true,
    });
  } finally {
    receiver.stop();
  }
});

// A name server such as a tenant may have: it returns the address, or never responds.
async function nameServer(address?: number[]): Promise<{ servers: string[]; stop: () => void }> {
  const socket = createSocket("udp4");
  socket.on("message", (asked, { port }) => {
    if (!address) return;
    const end = asked.indexOf(0, 12) + 5;
    const isFour = asked.readUInt16BE(end - 4) === 1;
    const head = Buffer.from([...asked.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isFour ? 1 : 0, 0, 0, 0, 0]);
    const answer = isFour ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address] : [];
    socket.send(Buffer.concat([head, asked.subarray(12, end), Buffer.from(answer)]), port, "127.0.0.1");
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { servers: [`127.0.0.1:${socket.address().port}`], stop: () => socket.close() };
}

type Sought = { error: Error | null; addresses: unknown };

function seek(hostname: string, servers: string[]): Promise<Sought> {
  return new Promise((resolve) =>
    publicLookup(hostname, { all: true, servers }, (error, addresses) => resolve({ error, addresses })),
  );
}

test("webhooks: a name with a private address is rejected, and one with a public address is not", async () => {
  const [inside, outside] = [await nameServer([10, 0, 0, 7]), await nameServer([1, 1, 1, 1])];
  expect((await seek("crm.example", inside.servers)).error).toMatchObject({ name: "PrivateAddress" });
  expect(await seek("crm.example", outside.servers)).toEqual({ error: null, addresses: [{ address: "1.1.1.1", family: 4 }] });
  inside.stop();
  outside.stop();
});

test("webhooks: names that nobody resolves delay no other name", async () => {
  const [silent, prompt] = [await nameServer(), await nameServer([1, 1, 1, 1])];
  const waiting = Array.from({ length: 20 }, (_, place) => seek(`crm${place}.example`, silent.servers));
  let over = 0;
  for (const each of waiting) void each.then(() => over++);
  await lookup("localhost");
  expect((await seek("crm.example", prompt.servers)).error).toBeNull();
  expect(over).toBe(0);
  for (const { error } of await Promise.all(waiting)) expect(error).toBeInstanceOf(Error);
  silent.stop();
  prompt.stop();
});

// For the first, Node reports neither a response nor an error unless asked.
test.each([
  ["HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "the receiver returned 101"],
  ["HTTP/1.1 100 Continue\r\n\r\n", "no response within 0.2 s"],
  ["HTTP/1.1 20", "no response within 0.2 s"],
])("webhooks: a message to a receiver that responds with %j ends in time", async (bytes, error) => {
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.write(bytes)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const posted = await post({ ...message, url }, { isPrivateAllowed: true, timeoutMs: 200 });
  expect(posted).toMatchObject({ delivered: false, error });
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  " https://crm.example/",
  "https://crm\n.example/",
  "https://crm.example/\u001b[31m",
  "https:crm.example",
  "https:///crm",
])("POST webhooks 422: %j would not be the URL that messages are sent to", async (url) => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("POST", "/webhooks", { body: { url } });
  expect(answer.json).toMatchObject({ type: "validation-error", errors: [{ field: "url" }] });
});

test.each([
  "http://crm.example/hook",
  "https://10.0.0.7/hook",
  "https://localhost/hook",
  "https://localhost./",
  "https://[fd00::1]/",
])("POST webhooks 422: %s is not public", async (url) => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("POST", "/webhooks", { body: { url } });
  expect(answer.json).toMatchObject({
    type: "validation-error",
    errors: [{ field: "url", message: expect.stringContaining("WEBHOOK_ADDRESSES=any") }],
  });
});

test("webhooks: the pauses grow, and end after three days", () => {
  const hourMs = 3_600_000;
  let [atMs, attempts] = [0, 0];
  for (;;) {
    const pause = nextPauseMs(++attempts, atMs, 0.5);
    if (pause === null) break;
    expect(pause).toBeGreaterThan(0);
    atMs += pause;
  }
  expect(atMs).toBe(givenUpAfterMs);
  expect(givenUpAfterMs).toBe(72 * hourMs);
  expect(attempts).toBeGreaterThan(10);
  expect(attempts).toBeLessThan(30);
});
