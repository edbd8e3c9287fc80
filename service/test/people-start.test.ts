import { expect, test, vi } from "vitest";
import { runCli, type Ended } from "./cli.ts";
import { expectProblem } from "./harness.ts";
import { Browser, goodPassword, newEmail, readLink, signIn } from "./people.ts";
import { type ServiceProcess } from "./launch.ts";
import { useProcesses } from "./process.ts";

const processes = useProcesses();
// These tests start many processes, one after the other.
vi.setConfig({ testTimeout: 120_000 });

function setUpLinkOf({ stdout }: ServiceProcess): string | undefined {
  return /^ {2}(http\S+\/link#\S+)$/m.exec(stdout)?.[1];
}

// The part of a service that a browser needs, for another process.
function at(service: ServiceProcess) {
  return { port: service.port } as never;
}

function run(dataDir: string, args: string[]): Promise<Ended> {
  return runCli(args, { DATA_DIR: dataDir });
}

async function json(dataDir: string, args: string[]): Promise<Record<string, string>> {
  const { code, out, err } = await run(dataDir, [...args, "--json"]);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, string>;
}

test("start: until somebody signs up, each start prints a new set-up link for the admin of demo; no secret is logged", async () => {
  const dataDir = processes.folder();
  const first = await processes.start({ DATA_DIR: dataDir });
  const older = setUpLinkOf(first) ?? "";
  expect(older).toContain(`http://127.0.0.1:${first.port}/link#`);
  await first.stop();
  const second = await processes.start({ DATA_DIR: dataDir });
  const link = setUpLinkOf(second) ?? "";
  expectProblem(await readLink(at(second), older), 404, "item-not-found");
  const email = newEmail();
  const admin = await Browser.take(at(second), link, { email, name: "Ada Lovelace" });
  expect(admin.signedIn).toMatchObject({ tenant: { slug: "demo" }, user: { role: "admin" } });
  const wrong = "a wrong password of mine";
  expect((await signIn(at(second), { email, password: wrong })).status).toBe(401);
  const again = await Browser.signIn(at(second), email);
  expect((await again.ask("POST", "/auth/sign-out")).status).toBe(204);
  expect((await admin.call("PUT", `/users/${admin.signedIn.user.user_id}`, { body: { name: "Ada King" } })).status).toBe(200);
  await second.stop();
  const told = second.log.filter((line) => line["msg"] === "audit").map((line) => line["audit"]);
  expect(told).toEqual(["signed in", "sign-in failed", "signed in", "signed out", "user changed"]);
  const secrets = [goodPassword, wrong, admin.cookie, again.cookie, admin.signedIn.csrf_token, link, older];
  for (const secret of secrets.map((each) => each.split(/[=#]/).at(-1) ?? "")) {
    expect(first.stderr + second.stderr).not.toContain(secret.split(".").at(-1));
  }
  const third = await processes.start({ DATA_DIR: dataDir });
  expect(setUpLinkOf(third)).toBeUndefined();
  await third.stop();
});

test("cli: user set-up prints the first admin's link, user create prints a one-time link, user list shows the users, and user disable ends the session at once", async () => {
  const dataDir = processes.folder();
  const service = await processes.start({ DATA_DIR: dataDir });
  expect((await run(dataDir, ["user", "list"])).out).toBe("no users\n");
  const setUp = await json(dataDir, ["user", "set-up"]);
  expect(setUp).toMatchObject({ tenant: "demo", link: expect.stringMatching(/\/link#/) });
  const email = newEmail();
  const made = await json(dataDir, [
    "user",
    "create",
    email.toUpperCase(),
    "--tenant",
    "demo",
    "--role",
    "lead",
    "--name",
    "Ada",
  ]);
  expect(made).toMatchObject({ tenant: "demo", email, role: "lead" });
  expect((await run(dataDir, ["user", "list"])).out).toMatch(/^email +role +state +name\n\S+ +lead +invited +Ada\n$/);
  const browser = await Browser.take(at(service), made["link"] ?? "");
  expect((await browser.call("GET", "/cases")).status).toBe(200);
  expect((await run(dataDir, ["user", "list"])).out).toContain("active");
  const disabled = await run(dataDir, ["user", "disable", email]);
  expect(disabled).toMatchObject({ code: 0, out: `${email} is disabled and signed out everywhere\n` });
  expectProblem(await browser.call("GET", "/cases"), 401, "unauthorized");
  const refused: [string[], number, string][] = [
    [["user", "create", email, "--role", "lead"], 1, "already exists"],
    [["user", "create", newEmail()], 2, "--role must be one of investigator, lead, admin"],
    [["user", "create", newEmail(), "--role", "root"], 1, "is not a role of this tenant"],
    [["user", "create", "nobody", "--role", "lead"], 2, "nobody is not an e-mail address"],
    [["user", "create", newEmail(), "--role", "lead", "--tenant", "no-such"], 1, "there is no tenant no-such"],
    [["user", "disable", newEmail()], 1, "has no user"],
    [["user", "set-up"], 1, "tenant demo already has users"],
  ];
  for (const [args, code, text] of refused) {
    const outcome = await run(dataDir, args);
    expect(outcome).toMatchObject({ code, out: "" });
    expect(outcome.err).toContain(text);
  }
  await service.stop();
});
