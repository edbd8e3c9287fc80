import { faultsIn, type Fault } from "./fault.ts";

// Order of checks, tenants, tokens, sessions, limits: what stands before an operation.
export const requestFaults: Fault[] = [
  ...faultsIn("service/src/api/http/run.ts", [
    [
      "a scope is not asked for",
      "if (!identity.scopes.has(operation.scope)) throw",
      "if (false) throw",
      "service/test/scopes.test.ts",
    ],
    [
      "any tenant's path will do",
      "if (!isOwn || !isOwnHost) throw",
      "if (tenant === null) throw",
      "service/test/isolation.test.ts",
    ],
    [
      "a token in the address counts",
      "if (/(^|&)access_token=/.test(routed.query)) throw",
      "if (false) throw",
      "service/test/token-attacks.test.ts",
    ],
    [
      "the body is judged before the key",
      `const key = operation.wantsKey ? requireKey(request) : "";
    validate(schema, body, operation.faults);`,
      `validate(schema, body, operation.faults);
    const key = operation.wantsKey ? requireKey(request) : "";`,
      "service/test/order.test.ts",
    ],
    [
      "a change needs no version",
      "operation.precondition !== undefined && !Object",
      "false && !Object",
      "service/test/order.test.ts",
    ],
    [
      "a change is made before its request has ended",
      'if (operation.method !== "GET") await readBody(request, bodyBytesDefault, onBody);',
      "",
      "service/test/framing-changes.test.ts",
    ],
    ["a key may have any character", "/^[A-Za-z0-9._:~+-]{1,255}$/", "/^.{1,255}$/", "service/test/key-alphabet.test.ts"],
    ["a key may be empty", "/^[A-Za-z0-9._:~+-]{1,255}$/", "/^[A-Za-z0-9._:~+-]{0,255}$/", "service/test/key-alphabet.test.ts"],
    ["an empty parameter is taken", 'text === "" || !isStorable(text)', "!isStorable(text)", "service/test/order.test.ts"],
    [
      "numbers may be written anyhow",
      String.raw`/^-?\d{1,15}$/.test(text)`,
      'text.trim() !== ""',
      "service/test/case-list.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/http/rate-limits.ts", [
    [
      "a quota is never used up",
      "if (this.isSpent(key, nowMs, units)) return false;",
      "if (this.isSpent(key, nowMs, units)) return true;",
      "service/test/rate-limits.test.ts",
    ],
    ["a tenant has no quota", "this.#tenant && !caller.person", "false && !caller.person", "service/test/rate-limits.test.ts"],
  ]),
  ...faultsIn("service/src/api/http/path.ts", [
    ["a parameter may come twice", "if (values.has(name)) throw", "if (false) throw", "service/test/case-list.test.ts"],
    ["U+0000 passes in a path", String.raw`decoded.includes("\0") ? null : decoded`, "decoded", "service/test/paths.test.ts"],
    ["dots are an id", String.raw`/^(\.|%2e){1,2}$/i.test(segment)`, "false", "service/test/paths.test.ts"],
  ]),
  ...faultsIn("service/src/api/http/json.ts", [
    [
      "a member may come twice",
      "if (count !== countMembers(value)) throw",
      "if (false) throw",
      "service/src/api/http/json.test.ts",
    ],
    [
      "an escaped quote ends a name",
      `hasEscapes ? endOfString(text, start) : text.indexOf('"', start + 1)`,
      // With an end of its own: what is planted must fail, and not run for ever.
      `Math.max(start, text.indexOf('"', start + 1))`,
      "service/src/api/http/json.test.ts",
    ],
    ["nesting has no end", "if (++depth > depthMax)", "if (++depth < 0)", "service/src/api/http/json.test.ts"],
    ["bytes that are no UTF-8 are mended", "{ fatal: true }", "{ fatal: false }", "service/src/api/http/json.test.ts"],
    [
      "the order of members matters to a key",
      ".toSorted(([a], [b]) => (a < b ? -1 : 1))",
      "",
      "service/test/idempotency.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/http/body.ts", [
    [
      "a packed body is read as it is",
      'encoding !== undefined && encoding.toLowerCase() !== "identity"',
      "false",
      "service/test/order.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/tokens/auth.ts", [
    [
      "a revoked client goes on where it is connected",
      "#forgetClient(clientId: string): void {\n    this.#lastOf = new WeakMap();",
      "#forgetClient(clientId: string): void {",
      "service/test/revocation.test.ts",
    ],
    [
      "who was last on a connection is who asks",
      "before?.sent === sent ? before.identity",
      "before ? before.identity",
      "service/test/revocation.test.ts",
    ],
    [
      "a token for others is taken",
      "      audience,\n      algorithms",
      "      algorithms",
      "service/test/token-attacks.test.ts",
    ],
    ["any kind of token is taken", '      typ: "at+jwt",\n', "", "service/test/token-attacks.test.ts"],
    ["a token of anybody's making is taken", "      issuer: this.#issuer.url,\n", "", "service/test/token-attacks.test.ts"],
    ["a revoked client goes on", "client.revoked_at !== null || ", "", "service/test/clients.test.ts"],
    [
      "a revoked client is remembered",
      "if (identity.clientId === clientId) this.#remembered.delete(sent);",
      "",
      "service/test/clients.test.ts",
    ],
    [
      "two Authorization headers are one",
      "if (authorization.length > 1) throw",
      "if (false) throw",
      "service/test/token-attacks.test.ts",
    ],
    [
      "a client of another issuer can use any name",
      "return `${issuer} ${name.toWellFormed()",
      "return `${name.toWellFormed()",
      "service/test/external-actors.test.ts",
    ],
    [
      "an issuer can issue tokens for every tenant",
      'trusted.tenants === "*" || trusted.tenants.includes(slug)',
      "true",
      "service/test/external-actors.test.ts",
    ],
    ["a token outlives its revoked secret", "isOfSecret && ", "false && ", "service/test/secret-rotation.test.ts"],
  ]),
  ...faultsIn("service/src/api/http/cursor.ts", [
    ["a cursor opens for any list", '.update(list).update("\\0")', "", "service/test/case-list.test.ts"],
    [
      "a cursor that was changed opens",
      "!isWhole || !timingSafeEqual(bytes.subarray(0, tagBytes), this.#tag(payload, list))",
      "!isWhole",
      "service/test/case-list.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/people/web-sessions.ts", [
    [
      "a change needs no token of the page",
      "given.length !== wanted.length || !timingSafeEqual(given, wanted)",
      "false",
      "service/test/people-sessions.test.ts",
    ],
    ["pages of others may send", "origin !== this.#own.origin && !isAsked", "false", "service/test/people-sessions.test.ts"],
  ]),
  ...faultsIn("service/src/api/people/attempts.ts", [
    [
      "passwords for an e-mail can be tried without limit from many addresses",
      '{ kind: "account", text: email },',
      "",
      "service/test/sign-in-attempts.test.ts",
    ],
    [
      "failures of strangers slow down a known browser",
      "if (!device) return",
      "if (true) return",
      "service/test/sign-in-attempts.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/role.ts", [
    [
      "who lacks a scope hands it out",
      "if (lacking !== undefined) throw",
      "if (false) throw",
      "service/test/people-reach.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/collector/collector.ts", [
    [
      "pages of any origin may send",
      "!tenant || (origin !== undefined && !tenant.allowed_origins.includes(origin))",
      "!tenant",
      "service/test/collector.test.ts",
    ],
    [
      "a page learns of the outage as a refusal",
      'isOfStore ? unavailable("The events cannot be stored now. Send them again later.", error) : toFailure(error)',
      "toFailure(error)",
      "service/test/collector-outage.test.ts",
    ],
  ]),
];
