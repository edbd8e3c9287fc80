import { expect, inject, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { runCli, type Ended } from "./cli.ts";
import { TestTenant, expectProblem, useService, type Options } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

type Settings = {
  allowed_origins: string[];
  ip_policy: string;
  url_parameters: string[];
  retention_days?: number | null;
  time_zone?: string;
};

async function settingsOf(tenant: TestTenant): Promise<Settings> {
  const settings = (await tenant.call("GET", "/tenants")).json.data as Settings;
  const { allowed_origins, ip_policy, url_parameters, retention_days = null, time_zone } = settings;
  expect(settings.retention_days).not.toBeNull();
  return { allowed_origins, ip_policy, url_parameters, retention_days, ...(time_zone !== undefined && { time_zone }) };
}

function updatesOf(tenant: TestTenant) {
  return service.current.database.query<{ actor: string; data: unknown }>(sql`
    select actor, resource_type, resource_id, data
    from events
    where tenant_id = ${tenant.tenantId} and type = 'tenant.updated'
    order by event_id`);
}

const defaults = { allowed_origins: [], ip_policy: "full", url_parameters: [], retention_days: null, time_zone: "UTC" };

test("PUT tenants 200: any setting can be changed, the others stay, and the response equals GET", async () => {
  const tenant = await TestTenant.create(service.current);
  const changes: Partial<Settings>[] = [
    { allowed_origins: ["https://shop.example", "http://localhost:3000", "http://[::1]:8080", "https://xn--bcher-kva.example"] },
    { ip_policy: "truncate" },
    { url_parameters: ["utm_source", "a[b]"] },
    { allowed_origins: [], ip_policy: "hash" },
    { retention_days: 3650 },
    { retention_days: 1 },
    { retention_days: 0 },
    { time_zone: "America/New_York" },
  ];
  let expected: Settings = defaults;
  for (const change of changes) {
    expected = { ...expected, ...change };
    const answer = await tenant.call("PUT", "/tenants", { body: change });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toEqual((await tenant.call("GET", "/tenants")).json);
    expect(await settingsOf(tenant)).toEqual({ ...expected, retention_days: expected.retention_days || null });
  }
  const resource = { actor: tenant.clientId, resource_type: "tenant", resource_id: tenant.tenantId };
  expect(await updatesOf(tenant)).toEqual(changes.map((data) => ({ ...resource, data })));
});

test("PUT tenants 200: an empty change and current values change nothing and add no event", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const body of [{}, { ...defaults, retention_days: 0 }, { ip_policy: "full" }]) {
    expect((await tenant.call("PUT", "/tenants", { body })).status).toBe(200);
  }
  expect(await updatesOf(tenant)).toEqual([]);
});

test("PUT tenants 200: accepts 100 origins and 50 parameters, and keeps two concurrent changes", async () => {
  const tenant = await TestTenant.create(service.current);
  const allowed_origins = Array.from({ length: 100 }, (_, index) => `https://shop-${index}.example`);
  const url_parameters = Array.from({ length: 50 }, (_, index) => `p${index}`);
  const answers = await Promise.all(
    [{ allowed_origins }, { url_parameters }].map((body) => tenant.call("PUT", "/tenants", { body })),
  );
  expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
  expect(await settingsOf(tenant)).toEqual({ ...defaults, allowed_origins, url_parameters });
});

test("PUT tenants 200: no other tenant changes", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await tenant.call("PUT", "/tenants", { body: { allowed_origins: ["https://shop.example"], ip_policy: "hash" } });
  expect(await settingsOf(other)).toEqual(defaults);
});

const many = (count: number, text: (index: number) => string) => Array.from({ length: count }, (_, index) => text(index));
const wrongOrigins = [
  "",
  "*",
  "null",
  "shop.example",
  "https://",
  "https://shop.example/",
  "https://shop.example/path",
  "https://shop.example?x",
  "https://shop.example:443",
  "http://shop.example:80",
  "https://shop.example:99999",
  "https://SHOP.example",
  "https://user@shop.example",
  "https://*.shop.example",
  "https://bücher.example",
  "ftp://shop.example",
  "https://shop.example, https://other.example",
  " https://shop.example",
];
const refusals: [string, Options, string[]][] = [
  ...wrongOrigins.map((origin): [string, Options, string[]] => [
    `the origin '${origin}'`,
    { body: { allowed_origins: ["https://good.example", origin] } },
    ["allowed_origins"],
  ]),
  ["a duplicate origin", { body: { allowed_origins: ["https://a.example", "https://a.example"] } }, ["allowed_origins"]],
  ["101 origins", { body: { allowed_origins: many(101, (index) => `https://a${index}.example`) } }, ["allowed_origins"]],
  ["51 parameters", { body: { url_parameters: many(51, (index) => `p${index}`) } }, ["url_parameters"]],
  ["a duplicate parameter", { body: { url_parameters: ["a", "a"] } }, ["url_parameters"]],
  ["an invalid parameter", { body: { url_parameters: ["a", "b&c"] } }, ["url_parameters[1]"]],
  ["a negative retention", { body: { retention_days: -1 } }, ["retention_days"]],
  ["null as the retention", { body: { retention_days: null } }, ["retention_days"]],
  ["a retention of more than ten years", { body: { retention_days: 3651 } }, ["retention_days"]],
  ["a retention in a string", { body: { retention_days: "30" } }, ["retention_days"]],
  ["a fractional retention", { body: { retention_days: 1.5 } }, ["retention_days"]],
  ["an unknown time zone", { body: { time_zone: "Europe/Nowhere" } }, ["time_zone"]],
  ["an offset as the time zone", { body: { time_zone: "+02:00" } }, ["time_zone"]],
  ["a time zone that is too long", { body: { time_zone: "E".repeat(65) } }, ["time_zone"]],
  ["an unknown policy", { body: { ip_policy: "none" } }, ["ip_policy"]],
  ["members that cannot be set", { body: { tenant_name: "other", app_key: "x", ip_policy: "hash" } }, ["tenant_name", "app_key"]],
  ["null as origins and policy", { body: { allowed_origins: null, ip_policy: null } }, ["allowed_origins", "ip_policy"]],
];

// One tenant for all rejections, because they change nothing.
let refused: TestTenant | undefined;

test.for(refusals)("PUT tenants 422: %s, and nothing changes", async ([, options, fields]) => {
  const tenant = (refused ??= await TestTenant.create(service.current));
  const problem = expectProblem(await tenant.call("PUT", "/tenants", options), 422, "validation-error");
  expect(problem.errors?.map(({ field }) => field)).toEqual(fields);
  expect(await settingsOf(tenant)).toEqual(defaults);
  expect(await updatesOf(tenant)).toEqual([]);
});

test("GET snippet 200: returns the tag for a page and the SDK's settings, with the tenant's own key and URL", async () => {
  const tenant = await TestTenant.create(service.current);
  const { url } = service.current;
  const { clickstream_app_id: key } = (await tenant.call("GET", "/tenants")).json.data as { clickstream_app_id: string };
  const answer = await tenant.call("GET", "/snippet");
  expect(answer.json).toEqual({
    data: {
      snippets: [
        { framework: "HTML", snippet: `<script async src="${url}/tag.js" data-app-key="${key}"></script>` },
        { framework: "Clickstream SDK", snippet: expect.stringContaining(`"endpoint": "${url}/collect/${key}"`) },
      ],
      tenant_name: tenant.slug,
      app_id: key,
      tenant_id: tenant.tenantId,
    },
  });
});

function runTenantCli(args: string[]): Promise<Ended> {
  return runCli(args, { DATABASE_URL: inject("databaseUrl") });
}

test("cli: tenant update changes what is given, prints the tenant, and adds an event", { timeout: 60_000 }, async () => {
  const tenant = await TestTenant.create(service.current);
  const update = ["tenant", "update", tenant.slug, "--json"];
  const origins = ["--origin", "https://shop.example", "--origin", "https://www.shop.example"];
  const done = await runTenantCli([
    ...update,
    ...origins,
    "--ip-policy",
    "truncate",
    "--url-parameter",
    "q",
    "--retention-days",
    "30",
    "--time-zone",
    "Europe/Berlin",
  ]);
  expect(done.code, done.err).toBe(0);
  const settings = {
    allowed_origins: ["https://shop.example", "https://www.shop.example"],
    ip_policy: "truncate",
    url_parameters: ["q"],
    retention_days: 30,
    time_zone: "Europe/Berlin",
  };
  expect(JSON.parse(done.out)).toMatchObject({ tenant_name: tenant.slug, ...settings });
  expect(await settingsOf(tenant)).toEqual(settings);
  expect(await updatesOf(tenant)).toMatchObject([{ actor: "command line", data: settings }]);
  expect((await runTenantCli([...update, "--origin", "", "--retention-days", "default"])).code).toBe(0);
  expect(await settingsOf(tenant)).toEqual({ ...settings, allowed_origins: [], retention_days: null });
});

test(
  "cli: tenant identity-secret creates a secret, and tenant update then sets the verification",
  { timeout: 60_000 },
  async () => {
    const tenant = await TestTenant.create(service.current);
    const require = ["tenant", "update", tenant.slug, "--identity-verification", "required", "--json"];
    const early = await runTenantCli(require);
    expect([early.code, early.out], early.err).toEqual([1, ""]);
    const make = async (...more: string[]) => {
      const done = await runTenantCli(["tenant", "identity-secret", tenant.slug, "--json", ...more]);
      expect(done.code, done.err).toBe(0);
      return JSON.parse(done.out) as Record<string, string>;
    };
    expect(await make()).toMatchObject({ secret: expect.stringMatching(/^idsec_/), identity_verification: "observe" });
    expect(await make()).toHaveProperty("previous_secret_expires_at");
    expect(JSON.parse((await runTenantCli(require)).out)).toMatchObject({ identity_verification: "required" });
    expect(await make("--revoke-now")).not.toHaveProperty("previous_secret_expires_at");
    const { secrets } = (await tenant.call("GET", "/tenants/identity")).json.data as { secrets: unknown[] };
    expect(secrets).toHaveLength(1);
    expect(await updatesOf(tenant)).toMatchObject([
      { actor: "command line", data: { identity_verification: "observe" } },
      { actor: "command line", data: { identity_verification: "required" } },
    ]);
  },
);

test("cli: tenant update rejects what PUT rejects with one line, and changes nothing", { timeout: 60_000 }, async () => {
  const tenant = await TestTenant.create(service.current);
  const bad: [string[], number, string][] = [
    [[tenant.slug], 2, "nothing to change"],
    [[tenant.slug, "--origin", "https://shop.example/path"], 2, "is not an origin"],
    [[tenant.slug, "--ip-policy", "none"], 2, "ip_policy"],
    [[tenant.slug, "--url-parameter", "a b"], 2, "url_parameters"],
    [[tenant.slug, "--retention-days", "soon"], 2, "retention_days"],
    [[tenant.slug, "--retention-days", "3651"], 2, "retention_days"],
    [["no-such-tenant", "--ip-policy", "hash"], 1, "not found"],
  ];
  const outcomes = await Promise.all(bad.map(([args]) => runTenantCli(["tenant", "update", ...args])));
  outcomes.forEach(({ code, out, err }, index) => {
    expect([code, out], err).toEqual([bad[index]?.[1], ""]);
    expect(err.split("\n")[0]).toContain(bad[index]?.[2]);
  });
  expect(await settingsOf(tenant)).toEqual(defaults);
});
