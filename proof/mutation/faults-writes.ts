import { faultsIn, type Fault } from "./fault.ts";

// Keys, versions, locks, retries, tenants in statements, the log, detection: what an operation does.
export const writeFaults: Fault[] = [
  ...faultsIn("service/src/api/case-update.ts", [
    [
      "a key does not know its case",
      "`${request.method} ${request.path}\\n${canonicalJson(request.body)}`",
      "canonicalJson(request.body)",
      "service/test/idempotency.test.ts",
    ],
    [
      "a key does not know its body",
      "`${request.method} ${request.path}\\n${canonicalJson(request.body)}`",
      "`${request.method} ${request.path}`",
      "service/test/idempotency.test.ts",
    ],
    [
      "a reply is not stored",
      "isFinal ? saveReply(tx, tenantId, claim.key, stored) : deleteKey(tx, tenantId, claim.key),",
      "",
      "service/test/idempotency.test.ts",
    ],
    [
      "a refusal is not bound to its key",
      "if (!boundCodes.has(result.code)) throw result;",
      "throw result;",
      "service/test/idempotency.test.ts",
    ],
    [
      "a second case of an account is opened",
      "return other === undefined ?",
      "return true ?",
      "service/test/case-update.test.ts",
    ],
    [
      "an account's id is put in unescaped",
      '() => `{"data":{"website_account_id":${JSON.stringify(websiteAccountId)},`',
      '() => `{"data":{"website_account_id":"${websiteAccountId}",`',
      "service/test/accounts-odd.test.ts",
    ],
    [
      "a dollar in an account's id is a pattern",
      '() => `{"data":{"website_account_id":${JSON.stringify(websiteAccountId)},`',
      '`{"data":{"website_account_id":${JSON.stringify(websiteAccountId)},`',
      "service/test/accounts-odd.test.ts",
    ],
    [
      "of two closes of one case that come together both are applied",
      "const isFirst = names.every((name) => !seen.has(name));",
      "const isFirst = true;",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that lost a race together are not tried alone",
      "if (isCertain) return updates.map(() => null);",
      "",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes whose database is away are tried again",
      '!(error instanceof Failure) || error.code === "transaction-contended"',
      "true",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together keep no replies",
      "replied.map(({ update, stored }) => ({ ...update.claim, ...stored }));",
      "[];",
      "service/test/closes-together.test.ts",
    ],
    [
      "a case twice in one bulk is closed twice",
      "if (!(result instanceof Failure)) latest.set(update.id, result.after);",
      "",
      "service/test/bulk-close.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/cases.ts", [
    [
      "a bulk close does not name the current version",
      "const { type, status, current_version } = problemMembers(result);",
      "const { type, status } = problemMembers(result), current_version = undefined;",
      "service/test/bulk-close.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/case.ts", [
    [
      "a stale version is as good as any",
      "if (found.case_version !== change.case_version) throw versionConflict(found);",
      "",
      "service/test/case-update.test.ts",
    ],
    [
      "closing a closed case is a change",
      "if (found.status === change.status) return { document: found, events: [] };",
      "",
      "service/test/case-update.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/keys.ts", [
    [
      "a key may be used for something else",
      "if (!known.fingerprint.equals(claim.fingerprint))",
      "if (false)",
      "service/test/idempotency.test.ts",
    ],
    [
      "a key is known to other tenants",
      "where k.tenant_id = ${tenantId} and k.key = ${claim.key}`);",
      "where k.key = ${claim.key}`);",
      "service/test/idempotency.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/cases.ts", [
    [
      "closes that come together wait for a case that somebody holds",
      "for update skip locked\n    ) as c",
      "for update\n    ) as c",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together reach another tenant's case",
      "where tenant_id = ${tenantId} and case_id = w.case_id",
      "where case_id = w.case_id",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together do not look whether their key is known",
      "where k.known is null`);",
      "`);",
      "service/test/closes-together.test.ts",
    ],
    [
      "a case is read without its tenant",
      "where tenant_id = ${tenantId} and case_id = any(${plainArray(possible)}::uuid[])`);",
      "where case_id = any(${plainArray(possible)}::uuid[])`);",
      "service/test/isolation.test.ts",
    ],
    [
      "a case is changed without its tenant",
      "where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])\n    order by case_id\n    for update`",
      "where case_id = any(${ids}::uuid[])\n    order by case_id\n    for update`",
      "service/test/isolation.test.ts",
    ],
    [
      "a case is changed without a lock",
      "where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])\n    order by case_id\n    for update`",
      "where tenant_id = ${tenantId} and case_id = any(${ids}::uuid[])\n    order by case_id`",
      "service/test/races.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/accounts.ts", [
    [
      "an account is read without its tenant",
      "from accounts\n    where tenant_id = ${tenantId} and website_account_id = any(${ids}::text[])`);",
      "from accounts\n    where website_account_id = any(${ids}::text[])`);",
      "service/test/isolation.test.ts",
    ],
    [
      "an account is changed without a lock",
      "where tenant_id = ${tenantId} and website_account_id = ${id}\n    for update",
      "where tenant_id = ${tenantId} and website_account_id = ${id}",
      "service/test/accounts-odd.test.ts",
    ],
    [
      "a session's time goes backwards",
      "a.last_session_updated_on < t.session_at)",
      "true)",
      "service/test/engine-accounts.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/accounts.ts", [
    [
      "a block does not reach the cases",
      "if (changed.is_blocked !== account.is_blocked) await saveBlockedFlag(tx, caller.tenant_id, changed);",
      "",
      "service/test/accounts.test.ts",
    ],
    [
      "an erasure leaves the log as it is",
      "await eraseAccountFromEvents(tx, caller.tenant_id, { id, pseudonym });",
      "",
      "service/test/erasure-traces.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/events.ts", [
    [
      "the log is read without its tenant",
      "where tenant_id = ${tenantId} and event_id > ${page.after}",
      "where event_id > ${page.after}",
      "service/test/events.test.ts",
    ],
    [
      "the log leaves gaps",
      "set last_event_id = last_event_id + ${events.length}::int",
      "set last_event_id = last_event_id + ${events.length}::int + 1",
      "service/test/events.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/lists.ts", [
    [
      "created_after includes its moment",
      "filter.created_after_ms + 1",
      "filter.created_after_ms",
      "service/test/case-list.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/database.ts", [
    ["the loser of a race is not run again", "const attemptsMax = 3;", "const attemptsMax = 1;", "service/test/races.test.ts"],
    [
      "a lost COMMIT is called contended",
      "if (contendedCodes.has(codeOf(cause))) throw cause;",
      "throw contended(cause);",
      "service/test/outage.test.ts",
    ],
    ["nobody waits for a lock", "if (wasBrief) continue;", "if (wasBrief) throw contended(error);", "service/test/races.test.ts"],
  ]),
  ...faultsIn("service/src/db/postgres/lane.ts", [
    [
      "the tenant of the read before stays named",
      "if (tenantId !== this.#tenantId) this.#name(tenantId);",
      "if (this.#tenantId === null) this.#name(tenantId);",
      "service/test/row-security.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/field.ts", [
    ["a later change has an earlier time", "return now < last ? last : now;", "return now;", "service/src/domain/case.test.ts"],
  ]),
  ...faultsIn("service/src/db/inbox.ts", [
    [
      "what was stored is stored again",
      "const kept = known.length === 0 ? given : given.filter((each) => fresh.has(each.key));",
      "const kept = given;",
      "service/test/activities.test.ts",
    ],
    ["a page can take a server's id", "`${origin}:${activity_id}`", "`${activity_id}`", "service/test/collector-belief.test.ts"],
  ]),
];
