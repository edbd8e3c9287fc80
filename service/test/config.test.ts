import { expect, test } from "vitest";
import { ConfigFault, readConfig } from "../src/config.ts";
import { badCases, bootstrap, goodSecret, issuer, oidc, rateNames } from "./config-cases.ts";
import type { Environment } from "./launch.ts";

function faultOf(environment: Environment): unknown {
  try {
    return readConfig(environment);
  } catch (error) {
    return error;
  }
}

test.each(badCases)("config: $shown is a one-line error that names $name", ({ name, environment }) => {
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
    "WORKERS",
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
