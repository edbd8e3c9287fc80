import { send } from "../../service/test/send.ts";
import type { Attack, Seen } from "./attack.ts";
import { encode, foreignSign, seal } from "./forge.ts";
import type { Scene, Tenant } from "./scene.ts";

const grants = "RFC 9700 2.1.2, 2.4";
const authentication = "RFC 9700 2.5";
const invalidRequest = "400 bad-request";
const invalidClient = "401 unauthorized";

type Form = [string, string][];

function credentials({ client_id, client_secret }: Tenant): Form {
  return [
    ["client_id", client_id],
    ["client_secret", client_secret],
  ];
}

function basic(client: Tenant): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString("base64")}` };
}

const grant: Form = [["grant_type", "client_credentials"]];

// Valid credentials with a grant type that is not supported.
const wrongGrants: Attack[] = [
  "password",
  "authorization_code",
  "implicit",
  "refresh_token",
  "CLIENT_CREDENTIALS",
  "urn:ietf:params:oauth:grant-type:device_code",
  "urn:ietf:params:oauth:grant-type:token-exchange",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
].map((type) => ({
  name: `grant_type ${type}`,
  source: grants,
  expected: invalidRequest,
  attempt: async (scene) => {
    const more: Form = [
      ["username", scene.session.email],
      ["password", "x"],
      ["code", "x"],
      ["assertion", scene.token],
      ["subject_token", scene.token],
    ];
    return [await scene.askToken([["grant_type", type], ...credentials(scene.tenant), ...more])];
  },
}));

type Ask = (scene: Scene) => Promise<Seen>;
type Row = [name: string, source: string, expected: string, ...asks: Ask[]];

const rows: Row[] = [
  [
    "more scopes than the client has",
    "RFC 9700 2.3",
    invalidRequest,
    (s) => s.askToken([...grant, ...credentials(s.narrow), ["scope", "read:cases update:case"]]),
  ],
  ["scope *", "RFC 9700 2.3", invalidRequest, (s) => s.askToken([...grant, ...credentials(s.narrow), ["scope", "*"]])],
  [
    "credentials in the body and in the header",
    authentication,
    invalidRequest,
    (s) => s.askToken([...grant, ...credentials(s.tenant)], basic(s.tenant)),
  ],
  [
    "another client's id in the body than in the header",
    authentication,
    invalidRequest,
    (s) => s.askToken([...grant, ["client_id", s.other.client_id]], basic(s.tenant)),
  ],
  [
    "client_id twice",
    authentication,
    invalidRequest,
    (s) => s.askToken([...grant, ["client_id", s.other.client_id], ...credentials(s.tenant)]),
  ],
  [
    "client_secret twice",
    authentication,
    invalidRequest,
    (s) => s.askToken([...grant, ...credentials(s.tenant), ["client_secret", "x"]]),
  ],
  ["grant_type twice", authentication, invalidRequest, (s) => s.askToken([...grant, ...grant, ...credentials(s.tenant)])],
  ["no credentials", authentication, invalidRequest, (s) => s.askToken(grant)],
  [
    "a token instead of credentials",
    authentication,
    invalidRequest,
    (s) => s.askToken(grant, { authorization: `Bearer ${s.token}` }),
  ],
  ["only the client id", authentication, invalidClient, (s) => s.askToken([...grant, ["client_id", s.tenant.client_id]])],
  [
    "an empty secret",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: "" })]),
  ],
  [
    "another client's secret",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: s.other.client_secret })]),
  ],
  [
    "the secret in lower case",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: s.tenant.client_secret.toLowerCase() })]),
  ],
  [
    "the secret and a space",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: `${s.tenant.client_secret} ` })]),
  ],
  [
    "the secret and a NUL",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: `${s.tenant.client_secret}\0` })]),
  ],
  [
    "the beginning of the secret",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_secret: s.tenant.client_secret.slice(0, -1) })]),
  ],
  [
    "a client id that is SQL",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_id: "' or '1'='1" })]),
  ],
  [
    "a client id that is a JavaScript property",
    authentication,
    invalidClient,
    (s) => s.askToken([...grant, ...credentials({ ...s.tenant, client_id: "__proto__" })]),
  ],
  [
    "two sets of credentials in one Authorization header",
    authentication,
    invalidRequest,
    (s) => s.askToken(grant, { authorization: `${basic(s.tenant)["authorization"]}, ${basic(s.other)["authorization"]}` }),
  ],
  [
    "credentials in the query",
    "RFC 6749 2.3.1",
    invalidRequest,
    async (s) => {
      const query = new URLSearchParams([...grant, ...credentials(s.tenant)]).toString();
      return send(s.port, "POST", `/v2/oauth/token?${query}`, {
        rawBody: "",
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
    },
  ],
  [
    "credentials as JSON",
    authentication,
    "415 unsupported-media-type",
    (s) => send(s.port, "POST", "/v2/oauth/token", { body: Object.fromEntries([...grant, ...credentials(s.tenant)]) }),
  ],
  [
    "a token by GET",
    authentication,
    "405 method-not-allowed",
    (s) => send(s.port, "GET", `/v2/oauth/token?${new URLSearchParams([...grant, ...credentials(s.tenant)]).toString()}`),
  ],
  ["an assertion instead of the secret", authentication, invalidClient, (s) => s.askToken([...grant, ...assertionOf(s)])],
  [
    "the implicit grant's endpoint",
    "RFC 9700 2.1.2",
    "404 item-not-found",
    (s) => send(s.port, "GET", `/v2/oauth/authorize?response_type=token&client_id=${s.tenant.client_id}`),
    (s) => send(s.port, "GET", "/auth?response_type=token"),
  ],
];

function assertionOf({ tenant, url }: Scene): Form {
  const claims = { iss: tenant.client_id, sub: tenant.client_id, aud: `${url}/v2/oauth/token`, exp: 4_000_000_000, jti: "x" };
  return [
    ["client_id", tenant.client_id],
    ["client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
    ["client_assertion", seal(encode({ alg: "ES256" }), encode(claims), foreignSign)],
  ];
}

export const grantAttacks: Attack[] = [
  ...wrongGrants,
  ...rows.map(([name, source, expected, ...asks]) => ({
    name: `token request: ${name}`,
    source,
    expected,
    attempt: (scene: Scene) => Promise.all(asks.map((ask) => ask(scene))),
  })),
];
