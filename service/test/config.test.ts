import { randomUUID } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { ConfigFault, readConfig } from "../src/config.ts";
import { changeUrl, connectTo, createDatabase, freePort, type Environment } from "./launch.ts";
import { useProcesses } from "./process.ts";

vi.setConfig({ testTimeout: 60_000 });

const processes = useProcesses();

const issuer = {
  issuer: "https://id.example",
  audience: "cases",
  jwks_uri: "https://id.example/keys",
  tenant_claim: "org",
  tenants: ["acme", "shop-2"],
};
const goodSecret = "a-secret-of-24-characters";
const bootstrap = { BOOTSTRAP_TENANT: "acme", BOOTSTRAP_CLIENT_ID: "acme-1", BOOTSTRAP_CLIENT_SECRET: goodSecret };

const quotaNames = ["QUOTA_ADDRESS_EVENTS", "QUOTA_ADDRESS_NAMES", "QUOTA_KEY_EVENTS", "QUOTA_KEY_NAMES"];
const rateNames = ["RATE_LIMIT_CLIENT", "RATE_LIMIT_TENANT", "RATE_LIMIT_COLLECTOR", ...quotaNames];

// The variable that the error must name, and invalid environments.
const bad: [string, ...Environment[]][] = [
  ["PORT", ...["-1", "65536", "80a", "8 0", "0x50", "1e3", "80.5", "http", "80\n90"].map((PORT) => ({ PORT }))],
  ["METRICS_PORT", ...["on", "none", "OFF", "-1", "65536", "9464 "].map((METRICS_PORT) => ({ METRICS_PORT }))],
  ["DATABASE_URL", ...["mysql://h/d", "localhost", "postgres:/h/d", "POSTGRES//"].map((DATABASE_URL) => ({ DATABASE_URL }))],
  ["PUBLIC_URL", ...["cases.example", "ftp://cases.example", "http://", "//cases.example"].map((PUBLIC_URL) => ({ PUBLIC_URL }))],
  ["PUBLIC_URL", ...["http://cases.example/?a=b", "http://cases.example/#a"].map((PUBLIC_URL) => ({ PUBLIC_URL }))],
  ["DEMO", ...["yes", "true", "1", "ON", "on\noff"].map((DEMO) => ({ DEMO }))],
  ["STRICT_HOST", ...["yes", "true", "1", "ON"].map((STRICT_HOST) => ({ STRICT_HOST }))],
  ...rateNames.map((name): [string, ...Environment[]] => [
    name,
    ...["0", "-1", "1.5", "none", "OFF", "1000001", "1e3", " 5"].map((value) => ({ [name]: value })),
  ]),
  ["ROW_SECURITY", ...["yes", "true", "1", "ON"].map((ROW_SECURITY) => ({ ROW_SECURITY }))],
  ["LOG_LEVEL", ...["loud", "INFO", "10"].map((LOG_LEVEL) => ({ LOG_LEVEL }))],
  ["ROLES", ...["all", "api;engine", ",", "api,", "api,database", "API", "api,\nx"].map((ROLES) => ({ ROLES }))],
  [
    "BOOTSTRAP_TENANT",
    ...["ab", "Acme", "a--b", "-abc", "a.b.c", "oauth", "a".repeat(101), "é".repeat(3)].map((slug) => ({
      ...bootstrap,
      BOOTSTRAP_TENANT: slug,
    })),
  ],
  ["BOOTSTRAP_TENANT", { BOOTSTRAP_CLIENT_ID: "acme-1", BOOTSTRAP_CLIENT_SECRET: goodSecret }],
  ["BOOTSTRAP_CLIENT_ID", ...["a b", "é", "a".repeat(129), "a\nb"].map((id) => ({ ...bootstrap, BOOTSTRAP_CLIENT_ID: id }))],
  ["BOOTSTRAP_CLIENT_ID", { ...bootstrap, BOOTSTRAP_CLIENT_ID: "" }],
  [
    "BOOTSTRAP_CLIENT_SECRET",
    ...["short", "twenty-three-characters", "é".repeat(24), "a".repeat(257), `${goodSecret}\nx`].map((secret) => ({
      ...bootstrap,
      BOOTSTRAP_CLIENT_SECRET: secret,
    })),
  ],
  ["BOOTSTRAP_CLIENT_SECRET", { BOOTSTRAP_TENANT: "acme", BOOTSTRAP_CLIENT_ID: "acme-1" }],
  ["TRUSTED_ISSUERS", ...["{}", "[", "null", "x", "[null]", "[1]", "[{}]"].map((TRUSTED_ISSUERS) => ({ TRUSTED_ISSUERS }))],
  ...["issuer", "audience", "jwks_uri", "tenant_claim"].map((member): [string, Environment] => [
    `TRUSTED_ISSUERS[1].${member}`,
    { TRUSTED_ISSUERS: JSON.stringify([issuer, { ...issuer, [member]: "" }]) },
  ]),
  ["TRUSTED_ISSUERS[0].jwks_uri", { TRUSTED_ISSUERS: JSON.stringify([{ ...issuer, jwks_uri: "file:///keys" }]) }],
  ["TRUSTED_ISSUERS[0].issuer", { TRUSTED_ISSUERS: JSON.stringify([{ ...issuer, issuer: "https://id.example system" }]) }],
  ["TRUSTED_ISSUERS[1].issuer", { TRUSTED_ISSUERS: JSON.stringify([issuer, { ...issuer, tenants: ["other"] }]) }],
  [
    "TRUSTED_ISSUERS[0].tenants",
    ...[undefined, null, "", "acme", [], [7], ["Acme"], ["*"], ["acme", "*"], [""], {}].map((tenants) => ({
      TRUSTED_ISSUERS: JSON.stringify([{ ...issuer, tenants }]),
    })),
  ],
  ["TRUSTED_ISSUERS[0].scope_claim", { TRUSTED_ISSUERS: JSON.stringify([{ ...issuer, scope_claim: 7 }]) }],
];

const oidc = {
  OIDC_ISSUER: "https://id.example/realms/a",
  OIDC_CLIENT_ID: "console",
  OIDC_CLIENT_SECRET: "secret",
  OIDC_TENANT: "acme",
};
bad.push(
  ...Object.keys(oidc).map((name): [string, Environment] => [name, { ...oidc, [name]: "" }]),
  ["OIDC_ISSUER", ...["id.example", "ftp://id.example", "http://id.example"].map((OIDC_ISSUER) => ({ ...oidc, OIDC_ISSUER }))],
  ["OIDC_TENANT", ...["a", "Acme", "oauth"].map((OIDC_TENANT) => ({ ...oidc, OIDC_TENANT }))],
);

const cases = bad.flatMap(([name, ...environments]) =>
  environments.map((environment) => ({ name, environment, shown: JSON.stringify(environment).slice(0, 120) })),
);

function faultOf(environment: Environment): unknown {
  try {
    return readConfig(environment);
  } catch (error) {
    return error;
  }
}

test.each(cases)("config: $shown is a one-line error that names $name", ({ name, environment }) => {
  const fault = faultOf(environment);
  expect(fault).toBeInstanceOf(ConfigFault);
  const message = fault instanceof Error ? fault.message : "";
  expect(message).toContain(name);
  expect(message).not.toContain("\n");
  expect(message).not.toContain(environment["BOOTSTRAP_CLIENT_SECRET"] ?? "\n");
});

test("config: unset and empty variables give the try-out on port 8080", () => {
  const names = [
    "HOST",
    "PORT",
    "PUBLIC_URL",
    "DATABASE_URL",
    "DATA_DIR",
    "DEMO",
    "ROLES",
    "METRICS_HOST",
    "METRICS_PORT",
    "LOG_LEVEL",
    "STRICT_HOST",
    ...rateNames,
    "ROW_SECURITY",
  ];
  const empty = Object.fromEntries([...names, ...Object.keys(bootstrap), "TRUSTED_ISSUERS"].map((name) => [name, ""]));
  expect(readConfig({})).toMatchObject({
    host: "127.0.0.1",
    port: 8080,
    metricsPort: 9464,
    databaseUrl: null,
    hasDemo: true,
    bootstrap: null,
  });
  expect(readConfig(empty)).toEqual(readConfig({}));
  expect(readConfig({}).collectorQuotas).toEqual({ address: { events: 500, names: 50 }, key: { events: 5_000, names: 2_000 } });
});

test("config: every variable is read", () => {
  const limits = { RATE_LIMIT_CLIENT: "off", RATE_LIMIT_TENANT: "1000000", RATE_LIMIT_COLLECTOR: "1" };
  const switches = { METRICS_PORT: "off", DEMO: "off", STRICT_HOST: "on" };
  const quotas = {
    QUOTA_ADDRESS_EVENTS: "off",
    QUOTA_ADDRESS_NAMES: "1",
    QUOTA_KEY_EVENTS: "1000000",
    QUOTA_KEY_NAMES: "off",
  };
  const environment = { ...bootstrap, ...limits, ...quotas, ...switches, PORT: "65535", ROLES: "engine, api" };
  expect(readConfig(environment)).toMatchObject({
    rateLimits: { client: null, tenant: 1_000_000, collector: 1 },
    collectorQuotas: { address: { events: null, names: 1 }, key: { events: 1_000_000, names: null } },
    port: 65535,
    metricsPort: null,
    hasDemo: false,
    roles: new Set(["api", "engine"]),
    isStrictHost: true,
  });
  expect(readConfig(environment).bootstrap).toEqual({ tenant: "acme", clientId: "acme-1", clientSecret: goodSecret });
  // Some issuers select their keys by a query parameter.
  const entra = { ...issuer, jwks_uri: "https://id.example/keys?appid=7" };
  expect(readConfig({ TRUSTED_ISSUERS: JSON.stringify([entra]) }).trustedIssuers).toEqual([{ ...entra, scope_claim: "scope" }]);
  const all = { ...entra, tenants: "*" };
  expect(readConfig({ TRUSTED_ISSUERS: JSON.stringify([all]) }).trustedIssuers).toEqual([{ ...all, scope_claim: "scope" }]);
});

test.each([
  "https://cases.example/base",
  "https://cases.example/base//",
  "https://cases.example/base/?",
  "https://cases.example/base#",
  " https://cases.example/base ",
])("config: PUBLIC_URL '%s' is normalized so that paths can be appended", (PUBLIC_URL) => {
  expect(readConfig({ PUBLIC_URL }).publicUrl).toBe("https://cases.example/base");
});

// Start the real process with one invalid value of each variable: every error must give one line and exit code 2.
const firstOfEach = cases.filter(
  ({ name }, index) => /^\w+$/.test(name) && cases.findIndex((each) => each.name === name) === index,
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

test("config: the OIDC issuer needs all four of its variables, and plain http is accepted only on this machine", () => {
  expect(readConfig({}).oidc).toBeNull();
  expect(readConfig(oidc).oidc).toEqual({
    issuer: oidc.OIDC_ISSUER,
    clientId: "console",
    clientSecret: "secret",
    tenant: "acme",
  });
  for (const OIDC_ISSUER of ["http://127.0.0.1:9000", "http://localhost/x", "http://[::1]:9000"]) {
    expect(readConfig({ ...oidc, OIDC_ISSUER }).oidc).toMatchObject({ issuer: OIDC_ISSUER });
  }
});
