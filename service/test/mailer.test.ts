import { randomUUID } from "node:crypto";
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Mailer } from "../src/mail/mailer.ts";
import { newDatabase } from "./harness.ts";
import { MailServer, pemFile } from "./mail-server.ts";
import { mailSettings } from "./notified.ts";
import { cliFile } from "./cli.ts";

const login = { user: "casehound", password: "p@ss:w/ord" };
const servers: MailServer[] = [];
let [plain, upgrading, secure, trusting] = [] as unknown as MailServer[];
beforeAll(async () => {
  servers.push(
    ...(await Promise.all([
      MailServer.start(),
      MailServer.start({ login, pem: pemFile, hasStartTls: true }),
      MailServer.start({ login, pem: pemFile }),
      MailServer.start({ login }),
    ])),
  );
  [plain, upgrading, secure, trusting] = servers as [MailServer, MailServer, MailServer, MailServer];
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const mail = () => ({
  id: randomUUID(),
  to: "ada@shop.example",
  subject: "Hällo",
  text: "Grüße",
  settingsUrl: "https://x.example",
});

test("mailer: a server that does not offer STARTTLS gets no mail and no login", async () => {
  const settings = mailSettings(plain?.port ?? 0, { tls: "upgrade", ...login });
  const sent = await new Mailer(settings).send(mail());
  expect(sent).toMatchObject({ isSent: false, isServerFault: true });
  expect(plain?.mails()).toEqual([]);
});

test("mailer: a certificate that is not trusted is refused, with STARTTLS and with TLS", async () => {
  for (const [server, tls] of [[upgrading, "upgrade"] as const, [secure, "start"] as const]) {
    const sent = await new Mailer(mailSettings(server?.port ?? 0, { tls, ...login })).send(mail());
    expect(sent).toMatchObject({ isSent: false, isServerFault: true, error: expect.stringContaining("self-signed") });
    expect(server?.mails()).toEqual([]);
  }
});

test("mailer: a wrong password is a fault of the server's settings, and no error contains it", async () => {
  const password = "wrong-password";
  const mailer = new Mailer(mailSettings(trusting?.port ?? 0, { user: login.user, password }));
  const sent = await mailer.send(mail());
  expect(sent).toMatchObject({ isSent: false, isServerFault: true, isFinal: false });
  for (const text of [JSON.stringify(sent), (await mailer.check()) ?? ""]) {
    expect(text).toContain("535");
    expect(text).not.toContain(password);
    expect(text).not.toContain(Buffer.from(password).toString("base64"));
  }
});

test("mailer: the right password is accepted, and the text arrives as it was written", async () => {
  const mailer = new Mailer(mailSettings(trusting?.port ?? 0, login));
  expect(await mailer.check()).toBeNull();
  expect(await mailer.send(mail())).toEqual({ isSent: true });
  const [arrived] = trusting?.mails() ?? [];
  expect(arrived?.text).toContain("Grüße");
  expect(arrived?.headers.get("from")).toBe("Casehound <alerts@casehound.example>");
});

// A process of its own, because the certificate's authority is given by an environment variable.
async function doctor(server: MailServer | undefined, url: (port: number) => string, more: Record<string, string> = {}) {
  const { PATH = "" } = process.env;
  const mail = { SMTP_URL: url(server?.port ?? 0), MAIL_FROM: "alerts@casehound.example" };
  const env = { PATH, DATABASE_URL: await newDatabase(), ...mail, ...more };
  const { stdout } = spawnSync(process.execPath, [cliFile, "doctor"], { env, encoding: "utf8" });
  return stdout.split("\n").find((line) => line.includes(" e-mail ")) ?? stdout;
}

test("doctor: says whether the mail server accepts the login, over STARTTLS and over TLS", async () => {
  const trust = { NODE_EXTRA_CA_CERTS: pemFile };
  const user = `${login.user}:${encodeURIComponent(login.password)}`;
  const upgrade = (port: number) => `smtp://${user}@127.0.0.1:${port}?tls=required`;
  const start = (port: number) => `smtps://${user}@127.0.0.1:${port}`;
  expect(await doctor(upgrading, upgrade, trust)).toMatch(/^ok +e-mail +127\.0\.0\.1:\d+ accepts the login$/);
  expect(await doctor(secure, start, trust)).toMatch(/^ok +e-mail +127\.0\.0\.1:\d+ accepts the login$/);
  const refused = await doctor(secure, start);
  expect(refused).toMatch(/^FAIL +e-mail .*self-signed/);
  expect(refused).not.toContain(login.password);
});
