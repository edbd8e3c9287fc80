import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { scenarioKinds } from "@casehound/simulator/scenario";
import { launchCli, runCli, type Ended } from "./cli.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { entriesOf, makeList } from "./lists-lab.ts";
import { Receiver } from "./webhook-receiver.ts";

// Uses its own database, because services of other tests would not deliver to this machine.
const databaseUrl = useOwnDatabase("cli_api");
const service = useService({ databaseUrl, hasPrivateWebhooks: true });
const envOf = () => ({ DATABASE_URL: databaseUrl, PUBLIC_URL: service.current.url });
const folder = mkdtempSync(join(tmpdir(), "casehound-cli-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return runCli(args, { ...envOf(), ...env });
}

async function json(args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await run([...args, "--json"]);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

test("cli: views can be saved, listed with their count, used and deleted", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const { case_id } = await tenant.openCase("user-1");
  await json(["views", "save", "Risky", "--min-score", "4", ...of]);
  expect((await run(["views", ...of])).out).toMatch(/Risky +1 +no .*min_score=4/);
  expect((await run(["cases", "list", "--view", "Risky", ...of])).out).toContain(case_id);
  expect((await run(["views", "delete", "Risky", ...of])).out).toContain("deleted");
});

test("cli: cases can be listed, shown and closed", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const opened = await tenant.openCase("some\u001b[31mone");
  const { out } = await run(["cases", "list", "--status", "OPEN", ...of]);
  expect(out).toMatch(/^case +status +version +score/);
  expect(out).toContain(opened.case_id);
  expect(out).not.toContain("\u001b");
  expect((await run(["cases", "show", opened.case_id, ...of])).out).toContain(opened.details.summary);
  const late = await run(["cases", "close", opened.case_id, "--version", "7", ...of]);
  expect(late).toMatchObject({ code: 1, out: "" });
  expect(late.err).toMatch(/version/);
  await makeList(tenant, { name: "phones", type: "device", kind: "watch" });
  expect((await run(["cases", "close", opened.case_id, "--list", "phones", ...of])).err).toContain(
    "--list must be <name>=<value>",
  );
  const outcome = ["--disposition", "FALSE_POSITIVE", "--reason", "known", "--list", "phones=a=b"];
  const closed = await json(["cases", "close", opened.case_id, ...outcome, ...of]);
  expect(await entriesOf(tenant, "phones")).toMatchObject([{ value: "a=b", from_case_id: opened.case_id }]);
  expect(closed).toMatchObject({
    status: "CLOSED",
    case_version: 2,
    current_state: { disposition: "FALSE_POSITIVE", reason: "known" },
  });
  expect((await run(["cases", "close", opened.case_id, ...of])).out).toContain("was already closed, version 2");
});

test("cli: search finds by a part, and says so if there is nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const opened = await tenant.openCase("anna.smith\u001b[31m@example.com");
  const { out } = await run(["search", "smith", ...of]);
  expect(out).toMatch(/^kind +id +found by\naccount +anna\.smith/);
  expect(out).not.toContain("\u001b");
  expect(await json(["search", opened.case_id, ...of])).toMatchObject({
    cases: [{ case_id: opened.case_id, matched: "case_id" }],
  });
  expect((await run(["search", "nobody", ...of])).out).toBe("nothing found\n");
  expect((await run(["search", "a", "--limit", "21", ...of])).code).toBe(2);
});

test("cli: cases export writes the list as filtered, never over a file, and leaves nothing after a refusal", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const opened = await tenant.openCase("user-1");
  await tenant.openCase("user-2");
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1 });
  const file = join(folder, "cases.csv");
  expect(await json(["cases", "export", file, "--status", "CLOSED", ...of])).toEqual({ file, cases: 1 });
  const text = readFileSync(file, "utf8");
  expect(text.split("\r\n")).toHaveLength(3);
  expect(text).toContain(opened.case_id);
  const again = await run(["cases", "export", file, ...of]);
  expect(again).toMatchObject({ code: 2, out: "" });
  expect(again.err).toContain("exists already");
  const other = join(folder, "other.csv");
  const refused = await run(["cases", "export", other, "--min-score", "nine", ...of]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain("min_score");
  expect([other, `${other}.part`].filter((path) => existsSync(path))).toEqual([]);
});

test("cli: control characters from a service do not reach the terminal, and a wrong URL gives a one-line error", async () => {
  const tenant = await TestTenant.create(service.current);
  const hostile = createHttpServer((request, response) => {
    const words = "\u001b]0;owned\u0007";
    const problem = { type: "item-not-found", title: words, status: 404, detail: words, errors: null };
    const secret = { webhook: { previous_secret_expires_at: words }, secret: words };
    if (request.url?.includes("/cases/") === true) response.writeHead(404).end(JSON.stringify(problem));
    else response.end(request.method === "POST" ? JSON.stringify({ data: secret }) : "<html>");
  });
  await new Promise<void>((resolve) => hostile.listen(0, "127.0.0.1", () => resolve()));
  const of = ["--tenant", tenant.slug, "--url", `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`];
  const refused = await run(["cases", "show", "a-case", ...of]);
  expect(refused).toMatchObject({ code: 1, err: "casehound: �]0;owned�\n" });
  expect((await run(["webhooks", "rotate", "a-webhook", ...of])).out).not.toContain("\u001b");
  expect((await run(["rules", "list", ...of])).err).toMatch(/^casehound: \S+ did not return JSON.*\n$/);
  hostile.close();
});

test("cli: an argument that starts with a dash or is only dots is reported as a usage error", async () => {
  expect(await run(["accounts", "show", "-someone"])).toMatchObject({ code: 2, err: expect.stringContaining("after --") });
  const dots = await run(["accounts", "show", "..", "--tenant", (await TestTenant.create(service.current)).slug]);
  expect(dots).toMatchObject({ code: 2, err: expect.stringContaining("must not be ..") });
});

test("cli: cases can be claimed, released and taken one after the other", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const [first, second] = [await tenant.openCase("ann"), await tenant.openCase("bob")];
  expect(await json(["cases", "next", ...of])).toMatchObject({ case_id: second.case_id });
  expect(await json(["cases", "claim", first.case_id, ...of])).toMatchObject({ claim: { claimed_by: tenant.clientId } });
  expect((await run(["cases", "next", ...of])).out).toBe("no unclaimed case\n");
  expect((await run(["cases", "claim", first.case_id, "--release", ...of])).out).toBe(`${first.case_id} is released\n`);
  expect((await run(["cases", "list", "--claimed-by", "me", ...of])).out).not.toContain(first.case_id);
  expect((await run(["cases", "claim", first.case_id, "--take-over", ...of])).out).toContain("is claimed until");
  expect(await json(["cases", "note", first.case_id, "Called the bank.", ...of])).toMatchObject({ text: "Called the bank." });
  expect((await run(["cases", "list", "--claimed-by", "none", ...of])).out).toBe("no cases\n");
  const handed = ["cases", "hand-over", first.case_id, "lead", "Please decide.", ...of];
  expect((await run(handed)).out).toBe(`${first.case_id} is handed over to lead, version 3\n`);
  expect((await run(["cases", "list", "--handed-to", "lead", ...of])).out).toContain(first.case_id);
  expect(await run([...handed, "--version", "2"])).toMatchObject({ code: 1, err: expect.stringContaining("version") });
});

test("cli: accounts can be listed, shown and changed", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  await tenant.openCase("someone");
  expect(await json(["accounts", "set", "someone", "--blocked", "true", "--crm", "C-1", ...of])).toMatchObject({
    is_blocked: true,
    crm_account_id: "C-1",
  });
  expect((await run(["accounts", "list", "--blocked", "true", ...of])).out).toMatch(/someone +blocked +C-1/);
  expect((await run(["accounts", "list", "--blocked", "false", ...of])).out).toBe("no accounts\n");
  expect(await json(["accounts", "set", "someone", "--crm", "", "--blocked", "false", ...of])).not.toHaveProperty(
    "crm_account_id",
  );
  expect((await run(["accounts", "show", "someone", ...of])).out).toMatch(/flags +none/);
  expect(await run(["accounts", "set", "someone", ...of])).toMatchObject({ code: 2 });
});

test("cli: a rule can be tested without a database and backtested on past activity", async () => {
  const nowhere = { DATABASE_URL: "", DATA_DIR: join(folder, "none") };
  const { code, out } = await run(["rules", "test", 'event.type == "login"'], nowhere);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("event.type") });
  const wrong = await run(["rules", "test", "event.nothing > 1"], nowhere);
  expect(wrong).toMatchObject({ code: 1, out: "" });
  expect(wrong.err).toContain("the expression is not a rule");
  const file = join(folder, "rule.json");
  writeFileSync(file, JSON.stringify({ expression: 'event.type == "fraud_report"' }));
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("someone");
  const done = await json(["rules", "backtest", `@${file}`, "--days", "2", "--tenant", tenant.slug]);
  expect(done).toMatchObject({ status: "DONE", result: { hits: 1 } });
  const { out: figures } = await run(["rules", "backtest", `@${file}`, "--days", "2", "--tenant", tenant.slug]);
  expect(figures).toMatch(/^hits +1$/m);
  expect(figures).not.toMatch(/\.\d{6}/);
  expect((await run(["rules", "list", "--tenant", tenant.slug])).out).toMatch(/^rule +state +version/);
  expect(await run(["rules", "test", "@/nowhere/at/all"], nowhere)).toMatchObject({ code: 2 });
});

test("cli: a webhook can be created, tested, inspected and deleted", async () => {
  const tenant = await TestTenant.create(service.current);
  const of = ["--tenant", tenant.slug];
  const receiver = await Receiver.start();
  try {
    const made = (await json(["webhooks", "create", receiver.url, "--types", "case.opened", ...of])) as {
      webhook: { webhook_id: string };
      secret: string;
    };
    const id = made.webhook.webhook_id;
    expect((await run(["webhooks", "test", id, ...of])).out).toContain("delivered: the receiver returned 204");
    Receiver.verify(receiver.at(0), made.secret);
    await tenant.openCase();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 20_000 });
    await vi.waitFor(async () => expect((await run(["webhooks", "deliveries", id, ...of])).out).toContain("DELIVERED"), {
      timeout: 20_000,
    });
    expect(await json(["webhooks", "resend", id, ...of])).toEqual({ resent: 0 });
    expect((await run(["webhooks", "set", id, "--enabled", "false", ...of])).out).toMatch(/ off /);
    expect(await json(["webhooks", "rotate", id, ...of])).not.toMatchObject({ secret: made.secret });
    receiver.stop();
    expect(await run(["webhooks", "test", id, ...of])).toMatchObject({ code: 1, out: expect.stringContaining("not delivered") });
    await json(["webhooks", "delete", id, ...of]);
    expect((await run(["webhooks", "list", ...of])).out).toBe("no webhooks\n");
  } finally {
    receiver.stop();
  }
});

test("cli: every invalid field is reported", async () => {
  const tenant = await TestTenant.create(service.current);
  const wrong = ["webhooks", "create", "https://shop.example/", "--types", "case.nothing,case.opened,rule.nothing"];
  const { code, out, err } = await run([...wrong, "--tenant", tenant.slug]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  const [first, ...fields] = err.trimEnd().split("\n");
  expect(first).toMatch(/^casehound: The body failed validation/);
  expect(fields).toEqual([
    expect.stringMatching(/^casehound: {3}types\[0\] must be one of/),
    expect.stringMatching(/^casehound: {3}types\[2\] must be one of/),
  ]);
});

test("cli: events tail exits cleanly when its output is closed", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("before");
  const { child, ended } = launchCli(["events", "tail", "--after", "0", "--tenant", tenant.slug], envOf());
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  child.stdout?.destroy();
  await tenant.openCase("after");
  const { code, err } = await ended;
  expect({ code, err }).toEqual({ code: 0, err: "" });
});

test("cli: events tail prints events until it is stopped", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.openCase("before");
  const args = ["events", "tail", "--after", "0", "--types", "case.opened", "--tenant", tenant.slug];
  const { child, ended } = launchCli(args, envOf());
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  await vi.waitFor(() => expect(out.split("\n").filter((line) => line.includes("case.opened"))).toHaveLength(1), {
    timeout: 30_000,
  });
  await tenant.openCase("after");
  await vi.waitFor(() => expect(out.split("\n").filter((line) => line.includes("case.opened"))).toHaveLength(2), {
    timeout: 30_000,
  });
  child.kill("SIGINT");
  expect((await ended).code).toBe(0);
  expect(out).toMatch(/2 events; continue with --after \d+\n$/);
});

test("cli: events tail without --after starts with the next event", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase("before");
  const { child, ended } = launchCli(["events", "tail", "--types", "case.opened", "--tenant", tenant.slug], envOf());
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  // The test cannot see when the tail starts, so open cases until one appears. Those opened earlier are not shown.
  await vi.waitFor(
    async () => {
      await tenant.openCase();
      expect(out).toContain("case.opened");
    },
    { timeout: 30_000, interval: 200 },
  );
  child.kill("SIGINT");
  expect((await ended).code).toBe(0);
  expect(out).not.toContain(before.case_id);
});

test("cli: events send plays a scenario that opens a case", async () => {
  const made = await json(["tenant", "create", `scenario-${Date.now()}`, "--origin", "https://shop.example"]);
  const of = ["--tenant", String(made["tenant"])];
  const sent = await json(["events", "send", "--scenario", "stuffing_burst", "--seed", "one", ...of]);
  expect(sent).toMatchObject({ scenario: "stuffing_burst", refused: 0, dropped: 0 });
  await vi.waitFor(async () => expect((await run(["cases", "list", ...of])).out).toContain("OPEN"), {
    timeout: 60_000,
    interval: 500,
  });
  const wrong = await run(["events", "send", "--scenario", "nothing", ...of]);
  expect(wrong.code).toBe(2);
  for (const kind of scenarioKinds) expect(wrong.err).toContain(kind);
});
