import { generateKeyPairSync } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import type { Attack } from "./attack.ts";
import {
  curveOrder,
  ecdsa,
  encode,
  encodeRaw,
  foreign,
  foreignJwk,
  foreignSign,
  hmac,
  make,
  noSign,
  seal,
  signatureOf,
  twinOf,
  type Recipe,
  type Sign,
} from "./forge.ts";
import type { Scene } from "./scene.ts";

type Forge = (recipe: Recipe, scene: Scene) => string;
type Forgery = [name: string, source: string, forge: Forge];

const algorithms = "RFC 8725 2.1, 3.1";
const keys = "RFC 8725 2.9, 3.10";
const signatures = "RFC 8725 2.1, 3.3, 3.4";
const claimsOf = "RFC 8725 2.7, 3.8, 3.9";
const confusion = "RFC 8725 2.8, 3.11, 3.12";
const encodings = "RFC 8725 2.6, 3.7";

const now = () => Math.floor(Date.now() / 1000);
const fixed =
  (bytes: Buffer): Sign =>
  () =>
    bytes;
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const k256 = generateKeyPairSync("ec", { namedCurve: "secp256k1" });

const otherAlgorithms: Forgery[] = [
  ...["none", "None", "NONE", "nOnE", "none ", ""].map((alg): Forgery => [
    `alg "${alg}" without a signature`,
    algorithms,
    (r) => make(r, { header: { alg }, sign: noSign }),
  ]),
  ["alg none with our own signature", algorithms, (r) => make(r, { header: { alg: "none" } })],
  ["alg left out", algorithms, (r) => make(r, { header: { alg: undefined } })],
  ["alg null", algorithms, (r) => make(r, { header: { alg: null } })],
  ["alg as a list", algorithms, (r) => make(r, { header: { alg: ["ES256"] } })],
  ...["HS256", "HS384", "HS512"].flatMap((alg): Forgery[] => {
    const hash = `sha${alg.slice(2)}`;
    const secrets: [string, (r: Recipe) => string | Buffer][] = [
      ["the public key as PEM", (r) => r.publicKey.export({ type: "spki", format: "pem" })],
      ["the public key as PEM, trimmed", (r) => r.publicKey.export({ type: "spki", format: "pem" }).toString().trim()],
      ["the public key as DER", (r) => r.publicKey.export({ type: "spki", format: "der" })],
      ["the public key as JWK", (r) => JSON.stringify(r.publicKey.export({ format: "jwk" }))],
      ["the public key's x", (r) => Buffer.from(r.publicKey.export({ format: "jwk" }).x ?? "", "base64url")],
      ["nothing", () => ""],
    ];
    return secrets.map(([name, secret]) => [
      `${alg} with ${name} as the secret`,
      algorithms,
      (r) => make(r, { header: { alg }, sign: hmac(secret(r), hash) }),
    ]);
  }),
  ...["ES384", "ES512", "ES256K", "RS256", "PS256", "EdDSA", "es256"].map((alg): Forgery => [
    `alg ${alg} with our own signature`,
    algorithms,
    (r) => make(r, { header: { alg } }),
  ]),
  [
    "another curve, P-384",
    algorithms,
    (r) => make(r, { header: { alg: "ES384" }, sign: ecdsa(p384.privateKey, "ieee-p1363", "sha384") }),
  ],
  ["another curve, secp256k1", algorithms, (r) => make(r, { sign: ecdsa(k256.privateKey) })],
];

const foreignKeys: Forgery[] = [
  ["a foreign key under our kid", keys, (r) => make(r, { sign: foreignSign })],
  ["a foreign key under its own kid", keys, (r) => make(r, { header: { kid: "foreign" }, sign: foreignSign })],
  ["a foreign key without a kid", keys, (r) => make(r, { header: { kid: undefined }, sign: foreignSign })],
  ["our key under an unknown kid", keys, (r) => make(r, { header: { kid: "unknown" } })],
  ...["../../../../dev/null", "/dev/null", "' or '1'='1", "*)(uid=*))(|(uid=*", "$(id)", "__proto__", "constructor", "", "0"].map(
    (kid): Forgery => [`kid ${JSON.stringify(kid)}`, keys, (r) => make(r, { header: { kid, alg: "HS256" }, sign: hmac("") })],
  ),
  ...[null, 0, true, ["x"], { toString: "x" }].map((kid): Forgery => [
    `kid that is ${JSON.stringify(kid)}`,
    keys,
    (r) => make(r, { header: { kid }, sign: foreignSign }),
  ]),
  ...["jku", "x5u"].flatMap((name): Forgery[] => [
    [`${name} with our kid`, keys, (r, s) => make(r, { header: { [name]: s.attackerUrl }, sign: foreignSign })],
    [
      `${name} with its own kid`,
      keys,
      (r, s) => make(r, { header: { [name]: s.attackerUrl, kid: "foreign" }, sign: foreignSign }),
    ],
  ]),
  ["jwk with our kid", keys, (r) => make(r, { header: { jwk: foreignJwk }, sign: foreignSign })],
  ["jwk with its own kid", keys, (r) => make(r, { header: { jwk: foreignJwk, kid: "foreign" }, sign: foreignSign })],
  ["jwk without a kid", keys, (r) => make(r, { header: { jwk: foreignJwk, kid: undefined }, sign: foreignSign })],
  ["x5c of the attacker", keys, (r) => make(r, { header: { x5c: [foreignDer()] }, sign: foreignSign })],
  ["x5c and x5t of the attacker", keys, (r) => make(r, { header: { x5c: [foreignDer()], x5t: "AAAA" }, sign: foreignSign })],
];

function foreignDer(): string {
  return foreign.publicKey.export({ type: "spki", format: "der" }).toString("base64");
}

const badSignatures: Forgery[] = [
  ["no signature", signatures, (r) => make(r, { sign: noSign })],
  ["psychic: r = s = 0", signatures, (r) => make(r, { sign: fixed(signatureOf(0n, 0n)) })],
  ["r = 0, s = 1", signatures, (r) => make(r, { sign: fixed(signatureOf(0n, 1n)) })],
  ["r = s = 1", signatures, (r) => make(r, { sign: fixed(signatureOf(1n, 1n)) })],
  ["r = s = n", signatures, (r) => make(r, { sign: fixed(signatureOf(curveOrder, curveOrder)) })],
  ["DER instead of raw", signatures, (r) => make(r, { sign: ecdsa(r.privateKey, "der") })],
  ["one byte less", signatures, (r) => make(r, { sign: (input) => r.sign(input).subarray(0, 63) })],
  ["half of it", signatures, (r) => make(r, { sign: (input) => r.sign(input).subarray(0, 32) })],
  ["one byte more", signatures, (r) => make(r, { sign: (input) => Buffer.concat([r.sign(input), Buffer.from([0])]) })],
  ["twice in a row", signatures, (r) => make(r, { sign: (input) => Buffer.concat([r.sign(input), r.sign(input)]) })],
  ["r and s exchanged", signatures, (r) => make(r, { sign: (input) => swapped(r.sign(input)) })],
  ["over another hash", signatures, (r) => make(r, { sign: ecdsa(r.privateKey, "ieee-p1363", "sha512") })],
  ["of another token", signatures, (r) => make(r, { sign: () => r.sign("another.token") })],
  ["over only the claims", signatures, (r) => make(r, { sign: (input) => r.sign(input.split(".")[1] ?? "") })],
  ["the twin of a revoked client's token", signatures, (_r, s) => twinOf(s.revokedToken)],
  ["a revoked client's token", "RFC 9700 4.10", (_r, s) => s.revokedToken],
];

function swapped(signature: Buffer): Buffer {
  return Buffer.concat([signature.subarray(32), signature.subarray(0, 32)]);
}

// Signed with the issuer's key, but with claims that must not be accepted.
const badClaims: Forgery[] = [
  ["another iss", claimsOf, (r) => make(r, { claims: { iss: "https://issuer.example" } })],
  ["our iss with a slash", claimsOf, (r) => make(r, { claims: { iss: `${String(r.claims["iss"])}/` } })],
  ["iss as a list", claimsOf, (r) => make(r, { claims: { iss: [r.claims["iss"]] } })],
  ["another aud", claimsOf, (r) => make(r, { claims: { aud: "https://api.example" } })],
  ["only other audiences in aud", claimsOf, (r) => make(r, { claims: { aud: ["a", "b"] } })],
  ["an empty aud", claimsOf, (r) => make(r, { claims: { aud: [] } })],
  ["aud in capitals", claimsOf, (r) => make(r, { claims: { aud: "CASEHOUND" } })],
  ["expired", claimsOf, (r) => make(r, { claims: { exp: now() - 1 } })],
  ["exp as text", claimsOf, (r) => make(r, { claims: { exp: String(now() + 600) } })],
  ["exp as a date", claimsOf, (r) => make(r, { claims: { exp: "2999-01-01T00:00:00Z" } })],
  ["exp null", claimsOf, (r) => make(r, { claims: { exp: null } })],
  ["exp negative", claimsOf, (r) => make(r, { claims: { exp: -1 } })],
  ["a longer lifetime than any token has", claimsOf, (r) => make(r, { claims: { exp: now() + 10 * 365 * 86_400 } })],
  ["exp 1e300", claimsOf, (r) => make(r, { claims: { exp: 1e300 } })],
  ["nbf in the future", claimsOf, (r) => make(r, { claims: { nbf: now() + 600 } })],
  ["iat in the future", claimsOf, (r) => make(r, { claims: { iat: now() + 3600, exp: now() + 7200 } })],
  ["iat as text", claimsOf, (r) => make(r, { claims: { iat: "now" } })],
  ["a sub that is not the client", "RFC 9068 5", (r) => make(r, { claims: { sub: "somebody else" } })],
  ["an unknown client", claimsOf, (r) => make(r, { claims: { client_id: "nobody", sub: "nobody" } })],
  [
    "a client of another tenant",
    claimsOf,
    (r, s) => make(r, { claims: { client_id: s.other.client_id, sub: s.other.client_id } }),
  ],
  ["another tenant's id", claimsOf, (r, s) => make(r, { claims: { tenant_id: s.other.tenant_id } })],
  ["another tenant's slug", claimsOf, (r, s) => make(r, { claims: { tenant_slug: s.other.tenant } })],
  ["a client id that is a number", claimsOf, (r) => make(r, { claims: { client_id: 7 } })],
  ...["iss", "aud", "exp", "iat", "jti", "sub", "client_id", "tenant_id", "tenant_slug"].map((name): Forgery => [
    `no ${name}`,
    claimsOf,
    (r) => make(r, { claims: { [name]: undefined } }),
  ]),
];

const changedAfterSigning: Forgery[] = [
  ["a scope added after signing", "RFC 9700 2.3", (r) => tampered(r, { scope: `${String(r.claims["scope"])} fly:moon` })],
  ["a longer lifetime after signing", claimsOf, (r) => tampered(r, { exp: now() + 86_400 })],
  ["another tenant after signing", claimsOf, (r, s) => tampered(r, { tenant_id: s.other.tenant_id })],
  ["a narrow token's signature", "RFC 9700 2.3", (r, s) => make(r, { sign: () => signatureBytes(s.narrowToken) })],
];

function tampered(recipe: Recipe, change: Record<string, unknown>): string {
  const [header = "", , signature = ""] = make(recipe).split(".");
  return `${header}.${encode({ ...recipe.claims, ...change })}.${signature}`;
}

function signatureBytes(token: string): Buffer {
  return Buffer.from(token.split(".")[2] ?? "", "base64url");
}

const otherKinds: Forgery[] = [
  ...["JWT", "jwt", "id+jwt", "logout+jwt", "dpop+jwt", "secevent+jwt", "at", "", "AT+JWT;x"].map((typ): Forgery => [
    `typ "${typ}"`,
    confusion,
    (r) => make(r, { header: { typ } }),
  ]),
  ["no typ", confusion, (r) => make(r, { header: { typ: undefined } })],
  [
    "an ID token: the client as aud",
    confusion,
    (r) => make(r, { header: { typ: "JWT" }, claims: { aud: r.claims["client_id"] } }),
  ],
  ["a session's cookie", confusion, (_r, s) => s.session.cookie.split("=")[1] ?? ""],
  ["a session's CSRF token", confusion, (_r, s) => s.session.csrf],
  ["a client's secret", confusion, (_r, s) => s.tenant.client_secret],
  ["crit with an unknown name", confusion, (r) => make(r, { header: { crit: ["x-must"], "x-must": true } })],
  ["crit with exp", confusion, (r) => make(r, { header: { crit: ["exp"], exp: 1 } })],
  ["crit empty", confusion, (r) => make(r, { header: { crit: [] } })],
  ["crit that is text", confusion, (r) => make(r, { header: { crit: "b64" } })],
  ["b64 false", confusion, (r) => make(r, { header: { crit: ["b64"], b64: false } })],
  ["b64 false, claims unencoded", confusion, (r) => seal(encode({ ...r.header, crit: ["b64"], b64: false }), "claims", r.sign)],
  ["a JWE", "RFC 8725 2.3", (r) => `${encode({ alg: "dir", enc: "A256GCM" })}..${encode("iv")}.${encode(r.claims)}.AAAA`],
  ["a JWE by password, of a billion rounds", algorithms, () => `${encode(slowJwe)}.AAAA.AAAA.AAAA.AAAA`],
  ["a token in a token", "RFC 8725 2.3", (r) => seal(encode({ ...r.header, cty: "JWT" }), encodeRaw(make(r)), r.sign)],
  ["compressed", "RFC 8725 3.6", (r) => seal(encode({ ...r.header, zip: "DEF" }), packed(r), r.sign)],
  ["detached claims", confusion, (r) => seal(encode(r.header), "", r.sign)],
];

const slowJwe = { alg: "PBES2-HS256+A128KW", enc: "A256GCM", p2c: 1_000_000_000, p2s: "AAAA" };

function packed(recipe: Recipe): string {
  return encodeRaw(deflateRawSync(JSON.stringify(recipe.claims)));
}

const oddEncodings: Forgery[] = [
  [
    "claims in UTF-16",
    encodings,
    (r) => seal(encode(r.header), encodeRaw(Buffer.from(JSON.stringify(r.claims), "utf16le")), r.sign),
  ],
  ["claims that are not UTF-8", encodings, (r) => seal(encode(r.header), encodeRaw(Buffer.from([0x7b, 0xff, 0x7d])), r.sign)],
  ...["[]", "null", '"text"', "7", "", "{", '{"a":1}{"b":2}'].map((text): Forgery => [
    `claims that are ${text || "nothing"}`,
    encodings,
    (r) => seal(encode(r.header), encodeRaw(text), r.sign),
  ]),
  ["iss twice, the last one foreign", encodings, (r) => repeated(r, '"iss":"https://issuer.example"')],
  ["tenant_id twice, the last one another tenant's", encodings, (r, s) => repeated(r, `"tenant_id":"${s.other.tenant_id}"`)],
  ["alg twice, the last one none", encodings, (r) => `${doubledHeader(r, "none")}.${encode(r.claims)}.`],
  ["two parts", encodings, (r) => make(r).split(".").slice(0, 2).join(".")],
  ["four parts", encodings, (r) => `${make(r)}.AAAA`],
  ["a dot after it", encodings, (r) => `${make(r)}.`],
  ["padding in the claims", encodings, (r) => make(r).replace(".", "=.")],
  ["only dots", encodings, () => ".."],
];

function repeated(recipe: Recipe, more: string): string {
  return seal(encode(recipe.header), encodeRaw(`${JSON.stringify(recipe.claims).slice(0, -1)},${more}}`), recipe.sign);
}

function doubledHeader(recipe: Recipe, alg: string): string {
  return encodeRaw(`${JSON.stringify(recipe.header).slice(0, -1)},"alg":"${alg}"}`);
}

// Each attack tries to read and to write.
export const jwtAttacks: Attack[] = [
  ...otherAlgorithms,
  ...foreignKeys,
  ...badSignatures,
  ...badClaims,
  ...changedAfterSigning,
  ...otherKinds,
  ...oddEncodings,
].map(([name, source, forge]) => ({
  name,
  source,
  expected: "401 unauthorized",
  attempt: async (scene) => {
    const token = forge(scene.recipe, scene);
    const block = { token, body: { is_blocked: true } };
    return Promise.all([scene.call("GET", "/cases", { token }), scene.call("PUT", "/enduseraccounts/a", block)]);
  },
}));
