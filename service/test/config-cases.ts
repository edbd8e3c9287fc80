import type { Environment } from "./launch.ts";

export const issuer = {
  issuer: "https://id.example",
  audience: "cases",
  jwks_uri: "https://id.example/keys",
  tenant_claim: "org",
  tenants: ["acme", "shop-2"],
};
export const goodSecret = "a-secret-of-24-characters";
export const bootstrap = { BOOTSTRAP_TENANT: "acme", BOOTSTRAP_CLIENT_ID: "acme-1", BOOTSTRAP_CLIENT_SECRET: goodSecret };

const quotaNames = ["QUOTA_ADDRESS_EVENTS", "QUOTA_ADDRESS_NAMES", "QUOTA_KEY_EVENTS", "QUOTA_KEY_NAMES"];
export const rateNames = ["RATE_LIMIT_CLIENT", "RATE_LIMIT_TENANT", "RATE_LIMIT_COLLECTOR", ...quotaNames];

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
  [
    "SMTP_URL",
    ...["mail.example", "http://mail.example", "smtp://", "smtp://u@h", "smtp://u:%@h", "smtp://h/x", "smtp://h?tls=maybe"].map(
      (SMTP_URL) => ({ SMTP_URL, MAIL_FROM: "a@b.example" }),
    ),
    { SMTP_URL: "smtp://u:p@mail.example?tls=off", MAIL_FROM: "a@b.example" },
    { SMTP_URL: "smtps://mail.example?tls=off", MAIL_FROM: "a@b.example" },
  ],
  [
    "MAIL_FROM",
    ...["", "a", "a@b, c@d", "A <a@b> c", "A\r\nBcc: <x@y>", "A\u2028<a@b>"].map((MAIL_FROM) => ({
      SMTP_URL: "smtp://h",
      MAIL_FROM,
    })),
    { MAIL_FROM: "a@b.example" },
  ],
  ["ROW_SECURITY", ...["yes", "true", "1", "ON"].map((ROW_SECURITY) => ({ ROW_SECURITY }))],
  ["LOG_LEVEL", ...["loud", "INFO", "10"].map((LOG_LEVEL) => ({ LOG_LEVEL }))],
  ["WORKERS", ...["0", "-1", "65", "100", "1.5", "2 ", "two", "AUTO", "all", "02", "1e1"].map((WORKERS) => ({ WORKERS }))],
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

export const oidc = {
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

export const badCases = bad.flatMap(([name, ...environments]) =>
  environments.map((environment) => ({ name, environment, shown: JSON.stringify(environment).slice(0, 120) })),
);
