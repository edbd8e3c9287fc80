import { faultsIn, type Fault } from "./fault.ts";

// Faults in what an operation does: keys, versions, locks, retries, tenants in statements, the log and detection.
export const writeFaults: Fault[] = [
  ...faultsIn("service/src/api/case-update.ts", [
    [
      "a key is not bound to its case",
      "fingerprint",
      /\$\{\w+\.method\} \$\{\w+\.path\}\\n/,
      "",
      "service/test/idempotency.test.ts",
    ],
    ["a key is not bound to its body", "fingerprint", /\\n\$\{canonicalJson\(.*\)\}/, "", "service/test/idempotency.test.ts"],
    [
      "a reply is not stored",
      "updateUnderKey",
      /\w+ \? saveReply\(.*\) : deleteKey\(.*\),/,
      "",
      "service/test/idempotency.test.ts",
    ],
    ["a rejection is not stored under its key", "caseReplies", /if \(!.*\) throw/, "throw", "service/test/idempotency.test.ts"],
    [
      "an account's id is inserted unescaped",
      "withAccount",
      /\$\{JSON\.stringify\((\w+)\)\}/,
      '"${$1}"',
      "service/test/accounts-odd.test.ts",
    ],
    [
      "a dollar sign in an account's id is used as a replacement pattern",
      "withAccount",
      /\(\) => /,
      "",
      "service/test/accounts-odd.test.ts",
    ],
    [
      "two closes of one case in the same batch are both applied",
      "distinct",
      /\w+\.every\(.*\);/,
      "true;",
      "service/test/closes-together.test.ts",
    ],
    [
      "a batch of closes stores no replies",
      "closeTogether",
      /\w+\.map\(.*\.claim, .*\)\);/,
      "[];",
      "service/test/closes-together.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/together.ts", [
    [
      "a batch of closes that lost a race is not retried one by one",
      "tryTogether",
      /if \(\w+\) return \w+\.map\(\(\) => null\);/,
      "",
      "service/test/closes-together.test.ts",
    ],
    [
      "a batch of closes is retried although the database is unreachable",
      "tryTogether",
      /!\(\w+ instanceof Failure\) \|\| \w+\.code === "transaction-contended"/,
      "true",
      "service/test/closes-together.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/case-changes.ts", [
    [
      "a second case of an account is opened",
      "decide",
      /if \(\w+ !== undefined\) return secondOpen\(\w+\);/,
      "",
      "service/test/case-update.test.ts",
    ],
    [
      "a case that is listed twice in a bulk close is closed twice",
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
      "a stale version is accepted",
      "changeStatus",
      /if \(.*\) throw versionConflict\(.*\);/,
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
      "a key can be reused for another request",
      "claimKey",
      /if \(!\w+\.fingerprint\.equals\(.*\)\) \{/,
      "if (false) {",
      "service/test/idempotency.test.ts",
    ],
    [
      "a key is shared by all tenants",
      "claimKey",
      /k\.tenant_id = \$\{\w+\} and (k\.key = )/,
      "$1",
      "service/test/idempotency.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/cases.ts", [
    ["a batch of closes waits for a locked case", "lockFreshCases", / skip locked/, "", "service/test/closes-together.test.ts"],
    [
      "a batch of closes reaches another tenant's case",
      "lockFreshCases",
      /tenant_id = \$\{\w+\} and (case_id = )/,
      "$1",
      "service/test/closes-together.test.ts",
    ],
    [
      "a batch of closes does not check whether a key was used",
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
    ["an account is erased without a lock", "lockAccount", /\s+for update/, "", "service/test/accounts-odd.test.ts"],
    [
      "an account is changed without a lock",
      "lockFreeAccounts",
      /\s+for update skip locked/,
      "",
      "service/test/accounts-together.test.ts",
    ],
    [
      "a batch of changes waits for a locked account",
      "lockFreeAccounts",
      / skip locked/,
      "",
      "service/test/accounts-together.test.ts",
    ],
    [
      "a batch of changes reaches another tenant's account",
      "lockFreeAccounts",
      /tenant_id = \$\{\w+\} and /,
      "",
      "service/test/accounts-together.test.ts",
    ],
    [
      "a session's time goes backwards",
      "saveSessionTimes",
      /\w+\.last_session_updated_on < \w+\.session_at/,
      "true",
      "service/test/engine-accounts.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/account-update.ts", [
    ["a block does not reach the cases", "save", /.* && saveBlockedFlags\(.*\),/, "", "service/test/accounts.test.ts"],
    [
      "an account is blocked without a second person in a batch of changes",
      "updateTogether",
      / && mayNeedApproval\(.*\);/,
      " && false;",
      "service/test/accounts-together.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/lists.ts", [
    [
      "an item of another version of its case is listed",
      "caseItem",
      /item_version = case_version/,
      "item is not null",
      "service/test/list-items.test.ts",
    ],
  ]),
  ...faultsIn("service/src/api/accounts.ts", [
    [
      "an erasure does not change the log",
      "erase",
      /await eraseAccountFromEvents\(.*\);/,
      "",
      "service/test/erasure-traces.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/events.ts", [
    ["the log is read without its tenant", "listEventsAfter", /tenant_id = \$\{\w+\} and /, "", "service/test/events.test.ts"],
    [
      "the log has gaps",
      "appendAtOnce",
      /(last_event_id = last_event_id \+ \$\{.*\}::int)/,
      "$1 + 1",
      "service/test/events.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/case-filters.ts", [
    [
      "created_after includes its own time",
      "filters",
      /uuidV7Floor\((\w+) \+ 1\)/,
      "uuidV7Floor($1)",
      "service/test/case-list.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/database.ts", [
    ["the loser of a race is not run again", "attemptsMax", /= 3/, "= 1", "service/test/races.test.ts"],
    [
      "a transaction does not wait for a lock",
      "#repeat",
      /(catch \((\w+)\)[^]*)if \((\w+)\) continue;/,
      "$1if ($3) throw contended($2);",
      "service/test/races.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/faults.ts", [
    [
      "a lost COMMIT is reported as contended",
      "notCommitted",
      /: uncertain\((\w+)\)/,
      ": contended($1)",
      "service/test/outage.test.ts",
    ],
  ]),
  ...faultsIn("service/src/db/postgres/connections.ts", [
    [
      "the tenant of the previous read stays set",
      "ask",
      /if \(\w+ !== this\.#tenantId\)/,
      "if (this.#tenantId === null)",
      "service/test/row-security.test.ts",
    ],
  ]),
  ...faultsIn("service/src/domain/text.ts", [
    ["a later change has an earlier time", "notBefore", /\w+ < \w+ \? \w+ : (\w+)/, "$1", "service/src/domain/case.test.ts"],
  ]),
  ...faultsIn("service/src/db/inbox.ts", [
    [
      "a stored activity is stored again",
      "insertBatches",
      /\w+\.length === 0 \? (\w+) : \w+\.filter\(.*\);/,
      "$1;",
      "service/test/activities.test.ts",
    ],
    ["a page can use up a server's activity id", "activityKey", /\$\{\w+\}:/, "", "service/test/collector-belief.test.ts"],
  ]),
  ...faultsIn("service/src/db/assessments.ts", [
    [
      "a later verdict replaces an answer that was already given",
      "saveAnswers",
      / and a\.reply is null/,
      "",
      "service/test/assessments-deadline.test.ts",
    ],
    [
      "a different request with the same id gets the first answer",
      "insertAssessments",
      /if \(!\w+\?\.fingerprint\.equals\(\w+\)\)/,
      "if (false)",
      "service/test/assessments.test.ts",
    ],
  ]),
];
