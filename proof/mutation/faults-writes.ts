import { faultsIn, type Fault } from "./fault.ts";

// Keys, versions, locks, retries, tenants in statements, the log, detection: what an operation does.
export const writeFaults: Fault[] = [
  ...faultsIn("service/src/api/case-update.ts", [
    [
      "a key does not know its case",
      "fingerprint",
      /\$\{\w+\.method\} \$\{\w+\.path\}\\n/,
      "",
      "service/test/idempotency.test.ts",
    ],
    ["a key does not know its body", "fingerprint", /\\n\$\{canonicalJson\(.*\)\}/, "", "service/test/idempotency.test.ts"],
    [
      "a reply is not stored",
      "updateUnderKey",
      /\w+ \? saveReply\(.*\) : deleteKey\(.*\),/,
      "",
      "service/test/idempotency.test.ts",
    ],
    ["a refusal is not bound to its key", "caseReplies", /if \(!.*\) throw/, "throw", "service/test/idempotency.test.ts"],
    [
      "a second case of an account is opened",
      "decide",
      /return \w+ === undefined \?/,
      "return true ?",
      "service/test/case-update.test.ts",
    ],
    [
      "an account's id is put in unescaped",
      "withAccount",
      /\$\{JSON\.stringify\((\w+)\)\}/,
      '"${$1}"',
      "service/test/accounts-odd.test.ts",
    ],
    ["a dollar in an account's id is a pattern", "withAccount", /\(\) => /, "", "service/test/accounts-odd.test.ts"],
    [
      "of two closes of one case that come together both are applied",
      "distinct",
      /\w+\.every\(.*\);/,
      "true;",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that lost a race together are not tried alone",
      "closeTogether",
      /if \(\w+\) return \w+\.map\(\(\) => null\);/,
      "",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes whose database is away are tried again",
      "closeTogether",
      /!\(\w+ instanceof Failure\) \|\| \w+\.code === "transaction-contended"/,
      "true",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together keep no replies",
      "closeTogether",
      /\w+\.map\(.*\.claim, .*\)\);/,
      "[];",
      "service/test/closes-together.test.ts",
    ],
    [
      "a case twice in one bulk is closed twice",
      "decideAll",
      /if \(!\(\w+ instanceof Failure\)\) \w+\.set\(.*\);/,
      "",
      "service/test/bulk-close.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/cases.ts", [
    [
      "a bulk close does not name the current version",
      "bulkResult",
      /const \{ type, status, current_version \} = (.*);/,
      "const { type, status } = $1, current_version = undefined;",
      "service/test/bulk-close.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/case.ts", [
    [
      "a stale version is as good as any",
      "changeStatus",
      /if \(.*\) throw versionConflict\(\w+\);/,
      "",
      "service/test/case-update.test.ts",
    ],
    [
      "closing a closed case is a change",
      "changeStatus",
      /if \(\w+\.status === \w+\.status\) return .*;/,
      "",
      "service/test/case-update.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/keys.ts", [
    [
      "a key may be used for something else",
      "claimKey",
      /if \(!\w+\.fingerprint\.equals\(.*\)\) \{/,
      "if (false) {",
      "service/test/idempotency.test.ts",
    ],
    [
      "a key is known to other tenants",
      "claimKey",
      /k\.tenant_id = \$\{\w+\} and (k\.key = )/,
      "$1",
      "service/test/idempotency.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/cases.ts", [
    [
      "closes that come together wait for a case that somebody holds",
      "lockFreshCases",
      / skip locked/,
      "",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together reach another tenant's case",
      "lockFreshCases",
      /tenant_id = \$\{\w+\} and (case_id = )/,
      "$1",
      "service/test/closes-together.test.ts",
    ],
    [
      "closes that come together do not look whether their key is known",
      "lockFreshCases",
      /where k\.known is null/,
      "",
      "service/test/closes-together.test.ts",
    ],
    ["a case is read without its tenant", "findCases", /tenant_id = \$\{\w+\} and /, "", "service/test/isolation.test.ts"],
    ["a case is changed without its tenant", "lockCasesById", /tenant_id = \$\{\w+\} and /, "", "service/test/isolation.test.ts"],
    ["a case is changed without a lock", "lockCasesById", /\s+for update/, "", "service/test/races.test.ts"],
  ]),
  ...faultsIn("service/src/db/accounts.ts", [
    ["an account is read without its tenant", "findAccounts", /tenant_id = \$\{\w+\} and /, "", "service/test/isolation.test.ts"],
    ["an account is changed without a lock", "lockAccount", /\s+for update/, "", "service/test/accounts-odd.test.ts"],
    [
      "a session's time goes backwards",
      "saveSessionTimes",
      /\w+\.last_session_updated_on < \w+\.session_at/,
      "true",
      "service/test/engine-accounts.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/accounts.ts", [
    ["a block does not reach the cases", "update", /if \(.*\) await saveBlockedFlag\(.*\);/, "", "service/test/accounts.test.ts"],
    [
      "an erasure leaves the log as it is",
      "erase",
      /await eraseAccountFromEvents\(.*\);/,
      "",
      "service/test/erasure-traces.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/events.ts", [
    ["the log is read without its tenant", "listEventsAfter", /tenant_id = \$\{\w+\} and /, "", "service/test/events.test.ts"],
    [
      "the log leaves gaps",
      "appendEvents",
      /(last_event_id = last_event_id \+ \$\{.*\}::int)/,
      "$1 + 1",
      "service/test/events.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/case-filters.ts", [
    [
      "created_after includes its moment",
      "filters",
      /uuidV7Floor\((\w+) \+ 1\)/,
      "uuidV7Floor($1)",
      "service/test/case-list.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/database.ts", [
    ["the loser of a race is not run again", "attemptsMax", /= 3/, "= 1", "service/test/races.test.ts"],
    [
      "a lost COMMIT is called contended",
      "commit",
      /if \(contendedCodes\.has\(.*\)\) throw (\w+);/,
      "throw contended($1);",
      "service/test/outage.test.ts",
    ],
    [
      "nobody waits for a lock",
      "#transact",
      /(catch \((\w+)\)[^]*)if \((\w+)\) continue;/,
      "$1if ($3) throw contended($2);",
      "service/test/races.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/lane.ts", [
    [
      "the tenant of the read before stays named",
      "ask",
      /if \(\w+ !== this\.#tenantId\)/,
      "if (this.#tenantId === null)",
      "service/test/row-security.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/field.ts", [
    ["a later change has an earlier time", "notBefore", /\w+ < \w+ \? \w+ : (\w+)/, "$1", "service/src/domain/case.test.ts"],
  ]),
  ...faultsIn("service/src/db/inbox.ts", [
    [
      "what was stored is stored again",
      "insertBatches",
      /\w+\.length === 0 \? (\w+) : \w+\.filter\(.*\);/,
      "$1;",
      "service/test/activities.test.ts",
    ],
    ["a page can take a server's id", "activityKey", /\$\{\w+\}:/, "", "service/test/collector-belief.test.ts"],
  ]),
];
