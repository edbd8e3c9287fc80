import { send, sendRaw } from "../../service/test/send.ts";
import type { Attack } from "./attack.ts";
import type { Scene } from "./scene.ts";

const place = "RFC 9700 4.3.2, RFC 6750 2";
const form = "RFC 6750 2.1";
const unauthorized = "401 unauthorized";

// Authorization header values built from the valid token. A value that is not exactly one Bearer token must count as none.
const badValues: [string, (scene: Scene) => string][] = [
  ["the scheme alone", () => "Bearer"],
  ["the token alone", ({ token }) => token],
  ["no space after the scheme", ({ token }) => `Bearer${token}`],
  ["a tab after the scheme", ({ token }) => `Bearer\t${token}`],
  ["a colon after the scheme", ({ token }) => `Bearer: ${token}`],
  ["quotes around it", ({ token }) => `Bearer "${token}"`],
  ["the scheme Basic", ({ token }) => `Basic ${token}`],
  ["the scheme Token", ({ token }) => `Token ${token}`],
  ["the scheme DPoP", ({ token }) => `DPoP ${token}`],
  [
    "the client's credentials",
    ({ tenant }) => `Basic ${Buffer.from(`${tenant.client_id}:${tenant.client_secret}`).toString("base64")}`,
  ],
  ["two tokens", ({ token }) => `Bearer ${token} ${token}`],
  ["two tokens with a comma", ({ token }) => `Bearer ${token}, Bearer ${token}`],
  ["a non-ASCII letter after it", ({ token }) => `Bearer ${token}é`],
  ["a zero-width space in it, as bytes", ({ token }) => `Bearer \u00e2\u0080\u008b${token}`],
  ["8,000 extra letters", ({ token }) => `Bearer ${token}${"A".repeat(8000)}`],
  ["8,000 dots", () => `Bearer ${".".repeat(8000)}`],
];

function get(scene: Scene, headers: Record<string, string>, query = "") {
  return send(scene.port, "GET", `/v2/${scene.tenant.tenant}/cases${query}`, { headers });
}

function lines(scene: Scene, ...headers: string[]) {
  return sendRaw(scene.port, `GET /v2/${scene.tenant.tenant}/cases HTTP/1.1\r\nHost: x\r\n${headers.join("\r\n")}\r\n\r\n`);
}

const elsewhere: Attack[] = [
  {
    name: "no token",
    source: place,
    expected: unauthorized,
    attempt: async (scene) => [await get(scene, {})],
  },
  {
    name: "the token in the query, alone and beside the header",
    source: place,
    expected: unauthorized,
    attempt: async (scene) => [
      await get(scene, {}, `?access_token=${scene.token}`),
      await get(scene, { authorization: `Bearer ${scene.token}` }, `?access_token=${scene.token}`),
      await get(scene, {}, `?token=${scene.token}&bearer=${scene.token}&authorization=Bearer%20${scene.token}`),
    ],
  },
  {
    name: "the token in a form and in a JSON body",
    source: place,
    expected: unauthorized,
    attempt: async (scene) => {
      const path = `/v2/${scene.tenant.tenant}/enduseraccounts/a`;
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return [
        await send(scene.port, "PUT", path, { rawBody: `access_token=${scene.token}&is_blocked=true`, headers }),
        await send(scene.port, "PUT", path, { body: { access_token: scene.token, is_blocked: true } }),
      ];
    },
  },
  {
    name: "the token in a cookie",
    source: place,
    expected: unauthorized,
    attempt: async (scene) => [
      await get(scene, { cookie: `access_token=${scene.token}` }),
      await get(scene, { cookie: `casehound_session=${scene.token}` }),
    ],
  },
  {
    name: "the token in another header",
    source: place,
    expected: unauthorized,
    attempt: (scene) =>
      Promise.all(
        ["x-authorization", "proxy-authorization", "x-forwarded-authorization", "x-access-token", "x-original-authorization"].map(
          (name) => get(scene, { [name]: `Bearer ${scene.token}` }),
        ),
      ),
  },
  {
    name: "two Authorization lines, in either order",
    source: form,
    expected: unauthorized,
    attempt: async (scene) => {
      const good = `Authorization: Bearer ${scene.token}`;
      const others = [good, "Authorization: Bearer x", "Authorization:", `AUTHORIZATION: Bearer ${scene.narrowToken}`];
      const pairs = others.flatMap((other) => [lines(scene, good, other), lines(scene, other, good)]);
      return Promise.all(pairs);
    },
  },
  {
    name: "a token longer than the header limit",
    source: form,
    expected: "431 headers-too-large",
    attempt: async (scene) => [await get(scene, { authorization: `Bearer ${"a".repeat(20_000)}` })],
  },
];

// A valid token used where it must not work.
const misused: Attack[] = [
  {
    name: "a token on another tenant's path, and on the path of no tenant",
    source: "RFC 9700 2.3, 4.10.2",
    expected: "403 access-denied",
    attempt: async (scene) => {
      const nobody = { ...scene.other, tenant: "nobody-is-here" };
      const block = { body: { is_blocked: true } };
      return [
        await scene.call("GET", "/cases", {}, scene.other),
        await scene.call("PUT", "/enduseraccounts/a", block, scene.other),
        await scene.call("GET", "/cases", {}, nobody),
      ];
    },
  },
  {
    name: "a token without the required scope",
    source: "RFC 9700 2.3",
    expected: "403 access-denied",
    attempt: async (scene) => {
      const token = scene.narrowToken;
      return [
        await scene.call("PUT", "/enduseraccounts/a", { token, body: { is_blocked: true } }),
        await scene.call("POST", "/clients", { token, body: { scopes: ["read:cases"] } }),
        await scene.call("POST", "/tenants/rotate-auth-secret", { token, body: { revoke_now: true } }),
        await scene.call("DELETE", "/enduseraccounts/a", { token }),
        await scene.call("GET", "/users", { token }),
      ];
    },
  },
];

export const carriageAttacks: Attack[] = [
  ...badValues.map(([name, value]) => ({
    name: `Authorization: ${name}`,
    source: form,
    expected: unauthorized,
    attempt: async (scene: Scene) => [await get(scene, { authorization: value(scene) })],
  })),
  ...elsewhere,
  ...misused,
];
