import { randomUUID } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { badCases } from "./config-cases.ts";
import { changeUrl, connectTo, createDatabase, freePort } from "./launch.ts";
import { useProcesses } from "./process.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();

// Starts the real process with an invalid value of each variable. Every error must be one line, with exit code 2.
const firstOfEach = badCases.filter(
  ({ name }, index) => /^\w+$/.test(name) && badCases.findIndex((each) => each.name === name) === index,
);

describe("a real start", { concurrent: true }, () => {
  test.each(firstOfEach)("start, exit 2: prints one line that names $name", async ({ name, environment }) => {
    const line = await processes.launch({ DATA_DIR: "/dev/null/never-made", ...environment }).refusal();
    expect(line).toContain(name);
  });

  test.each(["999.1.1.1", "no host", "192.0.2.1"])("start, exit 2: prints one line that names HOST if it is %s", async (HOST) => {
    expect(await processes.launch({ DATABASE_URL: inject("databaseUrl"), HOST, LOG_LEVEL: "error" }).refusal()).toContain("HOST");
  });

  test("start, exit 2: prints one line that names DATA_DIR if it is a file or cannot be created", async () => {
    const folder = processes.folder();
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "unmounted"), join(folder, "link"));
    for (const DATA_DIR of ["file", "file/below", "link", "link/below"].map((name) => join(folder, name))) {
      const line = await processes.launch({ DATA_DIR }).refusal();
      expect(line).toContain("DATA_DIR");
      expect(line).toContain(DATA_DIR);
    }
  });
});

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

// Starts a server that is not PostgreSQL and sends only these words.
async function listenAndSay(words: string | null): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (words !== null) socket.end(words);
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  // A TCP server's address is never a string.
  return (server.address() as { port: number }).port;
}

async function poorUser(): Promise<string> {
  const url = await createDatabase(inject("databaseUrl"));
  const client = await connectTo({ connectionString: url });
  const user = `poor_${randomUUID().replaceAll("-", "")}`;
  await client.query(`create role ${user} login`);
  await client.end();
  return changeUrl(url, { user });
}

const secret = "pass-word-of-the-url";
const tcp = (host: string, port: number) => `postgres://casehound:${secret}@${host}:${port}/cases`;
const unreachable: { name: string; url: () => Promise<string>; says?: string }[] = [
  { name: "to an impossible port", url: async () => tcp("127.0.0.1", 99_999) },
  { name: "nowhere, because its escapes are broken", url: async () => `${tcp("127.0.0.1", 5432)}%zz` },
  { name: "to a port that nobody listens on", url: async () => tcp("127.0.0.1", await freePort()) },
  { name: "to a name with several addresses, none of which listens", url: async () => tcp("localhost", await freePort()) },
  { name: "to a host that is not known", url: async () => tcp("no-such-host.invalid", 5432) },
  { name: "to a server that never responds", url: async () => tcp("127.0.0.1", await listenAndSay(null)) },
  { name: "to a server that closes the connection", url: async () => tcp("127.0.0.1", await listenAndSay("")) },
  { name: "to a server without encryption", url: async () => `${tcp("127.0.0.1", await listenAndSay("N"))}?sslmode=verify-full` },
  {
    name: "to a server without encryption, with sslmode=require",
    url: async () => `${tcp("127.0.0.1", await listenAndSay("N"))}?sslmode=require`,
  },
  {
    name: "to a server that is not PostgreSQL",
    url: async () => tcp("127.0.0.1", await listenAndSay("HTTP/1.1 400 Bad Request\r\n\r\n")),
  },
  {
    name: "to a socket that does not exist",
    url: async () => `postgres://u:${secret}@/d?host=${encodeURIComponent(processes.folder())}`,
  },
  { name: "to a database that does not exist", url: async () => changeUrl(inject("databaseUrl"), { database: "nowhere" }) },
  {
    name: "to a database with a user that does not exist",
    url: async () => changeUrl(inject("databaseUrl"), { user: `nobody:${secret}` }),
  },
  { name: "to a database with a user that may not create tables", url: poorUser },
  {
    name: "to a database in another encoding",
    says: "UTF8",
    url: () => createDatabase(inject("databaseUrl"), "encoding 'SQL_ASCII' locale 'C'"),
  },
];

describe("a real start with a DATABASE_URL", { concurrent: true }, () => {
  test.each(unreachable)(
    "start, exit 2: prints one line, without the password, if DATABASE_URL points $name",
    async ({ url, says }) => {
      const line = await processes.launch({ DATABASE_URL: await url(), LOG_LEVEL: "error" }).refusal();
      expect(line).toContain(says ?? "DATABASE_URL");
      expect(line).not.toContain(secret);
    },
  );
});
