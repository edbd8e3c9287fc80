import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, send, useService, type Answer } from "./harness.ts";

// The responses of the token endpoint, byte for byte. They were recorded when oidc-provider still produced them.
const service = useService();

type Client = { id: string; secret: string };
type Text = string | ((client: Client) => string);
type Row = [name: string, expected: string, form: Text, authorization?: Text];

// It has two scopes.
let client: Client;
beforeAll(async () => {
  const { slug } = await TestTenant.create(service.current);
  const made = await createClient(service.current.database, { slug, scopes: ["read:case", "update:case"] }, clock);
  client = { id: made.client_id, secret: made.client_secret };
});

const type = "grant_type=client_credentials";
const both = ({ id, secret }: Client) => `client_id=${id}&client_secret=${secret}`;
const good =
  (more = "") =>
  (c: Client) =>
    `${type}&${both(c)}${more}`;
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
const goodBasic = (c: Client) => basic(c.id, c.secret);
const encoded = (text: string) => text.replaceAll(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (claims: unknown) => `${part({ alg: "HS256" })}.${part(claims)}.c2ln`;
const jwtType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const asserted = (claims: unknown, assertionType = jwtType) =>
  `client_assertion=${jwt(claims)}&client_assertion_type=${encodeURIComponent(assertionType)}`;

const all = "read:case update:case";
const oneMechanism = "400 invalid_request: client authentication must only be provided using one mechanism";
const noMechanism = "400 invalid_request: no client authentication mechanism provided";
const format = "400 invalid_request: invalid authorization header value format";
const encoding = "400 invalid_request: client_id and client_secret in the authorization header are not properly encoded";
const mismatch = "400 invalid_request: client_id mismatch";
const failed = "401 invalid_client: client authentication failed";
const noGrant = "400 invalid_request: missing required parameter 'grant_type'";
const otherGrant = "400 unsupported_grant_type: unsupported grant_type requested";
const characters = "400 invalid_scope: scope contains invalid characters";
const notAllowed = "400 invalid_scope: requested scope is not allowed";
const notKnown = "400 invalid_scope: requested scope is not known";
const absolute = "400 invalid_target: resource indicator must be an absolute URI";
const fragment = "400 invalid_target: resource indicator must not contain a fragment component";
const oneResource = "400 invalid_target: only a single resource indicator value is supported for this grant type";
const twice = (names: string) => `400 invalid_request: ${names} must not be provided twice`;

const rows: Row[] = [
  ["credentials in the body", `200 ${all}`, good()],
  ["credentials in Basic", `200 ${all}`, type, goodBasic],
  ["Basic in lower case", `200 ${all}`, type, (c) => goodBasic(c).replace("Basic", "basic")],
  ["Basic without padding", `200 ${all}`, type, (c) => goodBasic(c).replaceAll("=", "")],
  ["Basic, percent-encoded", `200 ${all}`, type, (c) => basic(encoded(c.id), encoded(c.secret))],
  ["Basic and the same client_id", `200 ${all}`, (c) => `${type}&client_id=${c.id}`, goodBasic],
  ["Basic and an empty client_secret", `200 ${all}`, `${type}&client_secret=`, goodBasic],
  ["an empty Authorization beside a good body", `200 ${all}`, good(), ""],
  ["percent-encoded parameters", `200 ${all}`, (c) => `${type}&client_id=${encoded(c.id)}&client_secret=${encoded(c.secret)}`],
  ["percent-encoded names", `200 ${all}`, (c) => `${type}&client%5Fid=${c.id}&client%5fsecret=${c.secret}`],
  ["extra parameters", `200 ${all}`, good("&audience=x&foo=bar&foo=baz&dpop_jkt=z")],
  ["authorization_details", `200 ${all}`, good("&authorization_details=%7B")],
  ["an assertion type alone", `200 ${all}`, good("&client_assertion_type=x")],
  ["empty pairs", `200 ${all}`, good("&&=&scope=&resource=&")],
  ["a scope", "200 read:case asked", good("&scope=read:case")],
  ["scopes in another order", "200 update:case read:case asked", good("&scope=update:case+read:case")],
  ["a scope that repeats itself", "200 read:case asked", good("&scope=read:case%20read:case")],
  ["a scope beside an unknown one", "200 read:case asked", good("&scope=fly:moon+read:case")],
  ["a resource", `200 ${all}`, good("&resource=https://api.example/v2")],
  ["the same resource twice", `200 ${all}`, good("&resource=urn:x:y&resource=urn:x:y")],
  ["an empty body", noMechanism, ""],
  ["no credentials", noMechanism, type],
  ["a secret without an id", noMechanism, (c) => `${type}&client_secret=${c.secret}`],
  ["an empty id", noMechanism, (c) => `${type}&client_id=&client_secret=${c.secret}`],
  ["an id without a secret", failed, (c) => `${type}&client_id=${c.id}`],
  ["an id with an empty secret", failed, (c) => `${type}&client_id=${c.id}&client_secret=`],
  ["a wrong secret", failed, (c) => `${type}&client_id=${c.id}&client_secret=wrong`],
  ["a wrong secret in Basic", failed, type, (c) => basic(c.id, "wrong")],
  ["a wrong secret and an empty Authorization", failed, (c) => `${type}&client_id=${c.id}&client_secret=wrong`, ""],
  ["an unknown client", failed, (c) => `${type}&client_id=nobody-${randomUUID()}&client_secret=${c.secret}`],
  ["an unknown client in Basic", failed, type, (c) => basic("nobody", c.secret)],
  ["an id that no client can have", failed, (c) => `${type}&client_id=gr%C3%B6%C3%9Fe&client_secret=${c.secret}`],
  ["an id that is too long", failed, (c) => `${type}&client_id=${"x".repeat(129)}&client_secret=${c.secret}`],
  ["a space after the id", failed, type, (c) => basic(`${c.id}+`, c.secret)],
  ["both ways at once", oneMechanism, good(), goodBasic],
  ["a secret and an assertion", oneMechanism, good("&client_assertion=x")],
  ["Basic and an assertion", oneMechanism, `${type}&client_assertion=x`, goodBasic],
  ["a secret and a Bearer token", oneMechanism, good(), "Bearer x"],
  ["Basic and another client_id", mismatch, `${type}&client_id=other`, goodBasic],
  ["Basic without credentials", format, type, "Basic"],
  ["an empty Authorization", format, type, ""],
  ["Bearer", format, type, "Bearer abcd"],
  ["Basic with two spaces", format, type, (c) => goodBasic(c).replace(" ", "  ")],
  ["Basic with more behind it", format, type, (c) => `${goodBasic(c)} x`],
  ["Basic with other letters than base64", format, type, "Basic a%3Ab"],
  ["Basic with too much padding", format, type, `${basic("a", "bc")}=`],
  ["Basic with a lone letter", format, type, "Basic YTpiY"],
  ["Basic without a colon", format, type, `Basic ${Buffer.from("abcdef").toString("base64")}`],
  ["Basic with a broken escape", encoding, type, (c) => basic(`${c.id}%`, c.secret)],
  ["Basic with a NUL", encoding, type, (c) => basic(c.id, `${c.secret}%00`)],
  ["Basic with letters outside of ASCII", encoding, type, (c) => basic(c.id, "größe")],
  ["Basic without an id", noMechanism, type, (c) => basic("", c.secret)],
  [
    "Basic without a secret",
    "400 invalid_request: client_secret must be provided in the Authorization header",
    type,
    (c) => basic(c.id, ""),
  ],
  ["an assertion that is no JWT", "400 invalid_request: invalid client_assertion format", `${type}&client_assertion=x`],
  [
    "an assertion without a type",
    "400 invalid_request: client_assertion_type must be provided",
    (c) => `${type}&client_assertion=${jwt({ sub: c.id })}`,
  ],
  [
    "an assertion of another type",
    `400 invalid_request: client_assertion_type must have value ${jwtType}`,
    (c) => `${type}&${asserted({ sub: c.id }, "saml")}`,
  ],
  ["an assertion of another client", mismatch, (c) => `${type}&client_id=${c.id}&${asserted({ sub: "other" })}`],
  ["an assertion without a subject", failed, `${type}&${asserted({})}`],
  ["an assertion", failed, (c) => `${type}&client_id=${c.id}&${asserted({ sub: c.id, iss: c.id })}`],
  ["client_id twice", twice("'client_id' parameter"), good("&client_id=x")],
  ["client_secret twice", twice("'client_secret' parameter"), good("&client_secret=")],
  ["client_id and client_secret twice", twice("'client_id' and 'client_secret' parameters"), (c) => `${both(c)}&${both(c)}`],
  [
    "three parameters twice",
    twice("'client_id', 'client_assertion', and 'client_secret' parameters"),
    (c) => `${both(c)}&${both(c)}&client_assertion=x&client_assertion=x`,
  ],
  ["grant_type twice", twice("'grant_type' parameter"), good(`&${type}`)],
  ["scope twice", twice("'scope' parameter"), good("&scope=read:case&scope=read:case")],
  ["no grant_type", noGrant, both],
  ["an empty grant_type", noGrant, (c) => `grant_type=&${both(c)}`],
  ["no grant_type and a wrong secret", failed, (c) => `client_id=${c.id}&client_secret=wrong`],
  ["grant_type password", otherGrant, (c) => `grant_type=password&username=a&password=b&${both(c)}`],
  ["grant_type implicit", otherGrant, (c) => `grant_type=implicit&${both(c)}`],
  ["grant_type in capitals", otherGrant, (c) => `grant_type=CLIENT_CREDENTIALS&${both(c)}`],
  ["another grant and two scopes", otherGrant, (c) => `grant_type=refresh_token&scope=a&scope=b&${both(c)}`],
  ["a scope that is unknown", notKnown, good("&scope=fly:moon")],
  ["a scope that the client lacks", notAllowed, good("&scope=read:cases")],
  ["a scope beside one that the client lacks", notAllowed, good("&scope=read:case+read:cases")],
  ["a scope beside openid", notAllowed, good("&scope=read:case+openid")],
  ["two spaces between scopes", characters, good("&scope=read:case++update:case")],
  ["a quote in the scope", characters, good("&scope=%22read:case%22")],
  ["a letter outside of ASCII in the scope", characters, good("&scope=l%C3%A9sen")],
  ["a relative resource", absolute, good("&resource=/v2")],
  ["two empty resources", absolute, good("&resource=&resource=")],
  ["a resource with a fragment", fragment, good("&resource=https://api.example/%23x")],
  ["two resources", oneResource, good("&resource=https://a.example&resource=https://b.example")],
  ["two resources and a scope that the client lacks", notAllowed, good("&resource=urn:a&resource=urn:b&scope=read:cases")],
  ["two resources and an unknown scope", oneResource, good("&resource=urn:a&resource=urn:b&scope=fly:moon")],
];

const of = (text: Text) => (typeof text === "string" ? text : text(client));

function ask([, , form, authorization]: Row): Promise<Answer> {
  const headers: Record<string, string> = { "content-type": "application/x-www-form-urlencoded" };
  if (authorization !== undefined) headers["authorization"] = of(authorization);
  return send(service.current.port, "POST", "/v2/oauth/token", { rawBody: of(form), headers });
}

function expectToken(answer: Answer, expected: string): void {
  const scope = expected.slice("200 ".length).replace(" asked", "");
  const { access_token: token } = JSON.parse(answer.text) as { access_token: string };
  const asked = expected.endsWith(" asked") ? { scope } : {};
  expect(answer.text).toBe(JSON.stringify({ access_token: token, expires_in: 86_400, ...asked, token_type: "Bearer" }));
  expect(decodeJwt(token)).toMatchObject({ scope, aud: "casehound", sub: client.id, client_id: client.id });
  expect(answer.headers.get("content-type")).toBe("application/json");
}

function expectRefusal(answer: Answer, expected: string, hasHeader: boolean): void {
  const [, status = "", error = "", description = ""] = /^(\d+) (\w+): (.*)$/.exec(expected) ?? [];
  const problem =
    status === "401" ? { type: "unauthorized", title: "Unauthorized" } : { type: "bad-request", title: "Bad request" };
  const detail = `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
  const members = { error, error_description: description, ...problem, status: Number(status), detail, errors: null };
  expect(answer.text).toBe(JSON.stringify(members));
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  const named = `Basic realm="${service.current.url}", error="invalid_client", error_description="client authentication failed"`;
  const challenge = hasHeader ? named : 'Basic realm="casehound"';
  expect(answer.headers.get("www-authenticate")).toBe(status === "401" ? challenge : null);
}

test.for(rows)("POST token: %s returns %s", async (row) => {
  const [, expected, , authorization] = row;
  const answer = await ask(row);
  expect(`${answer.status} ${answer.text}`).toMatch(new RegExp(`^${expected.slice(0, 3)} `));
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("set-cookie")).toBeNull();
  if (expected.startsWith("200")) expectToken(answer, expected);
  else expectRefusal(answer, expected, authorization !== undefined);
});
