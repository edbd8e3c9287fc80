import { expect, test } from "vitest";
import { actionOf, defaultPolicy, momentOf, policyFaults, type PolicyRow, type Situation } from "./policy.ts";

const plain: Situation = { moment: "login", score: 1, labels: [], lists: [], isBlocked: false };

function policyOf(...rows: PolicyRow[]) {
  return { mode: "on" as const, rows };
}

test("momentOf: failed and successful log-ins are the same moment, and unknown types are `other`", () => {
  const types = ["login_succeeded", "login_failed", "signup", "mfa_changed", "transfer", "page_view", "custom:checkout"];
  expect(types.map((type) => momentOf({ type }))).toEqual(["login", "login", "signup", "change", "payment", "other", "other"]);
});

function answer(score: number, labels: Situation["labels"] = []) {
  return actionOf(defaultPolicy, { ...plain, score, labels }).action;
}

test("actionOf: the default policy uses the same scores as the recommended actions of cases", () => {
  expect([1, 2, 3, 4, 5].map((score) => answer(score))).toEqual(["ALLOW", "ALLOW", "ALLOW", "CHALLENGE", "BLOCK"]);
  expect(answer(3, ["Account Takeover"])).toBe("CHALLENGE");
  expect(answer(3, ["Bot"])).toBe("ALLOW");
});

test("actionOf: the first row that matches decides, and if none matches the answer is ALLOW", () => {
  const policy = policyOf(
    { lists: ["vip"], action: "ALLOW" },
    { moments: ["payment"], min_score: 2, max_score: 3, action: "CHALLENGE", set_quarantined: true },
    { moments: ["payment"], min_score: 2, action: "BLOCK" },
  );
  const payment = { ...plain, moment: "payment" as const };
  expect(actionOf(policy, { ...payment, score: 2 })).toEqual({ action: "CHALLENGE", set_quarantined: true, matched: 1 });
  expect(actionOf(policy, { ...payment, score: 4 })).toEqual({ action: "BLOCK", set_quarantined: false, matched: 2 });
  expect(actionOf(policy, { ...payment, score: 5, lists: ["x", "vip"] })).toMatchObject({ action: "ALLOW", matched: 0 });
  expect(actionOf(policy, { ...plain, score: 5 })).toEqual({ action: "ALLOW", set_quarantined: false, matched: null });
});

test("actionOf: in shadow mode the answer is ALLOW, `would_be` is the policy's action, and nobody is quarantined", () => {
  const policy = { ...policyOf({ min_score: 3, action: "BLOCK", set_quarantined: true }), mode: "shadow" as const };
  const shadow = { action: "ALLOW", set_quarantined: false };
  expect(actionOf(policy, { ...plain, score: 3 })).toEqual({ ...shadow, would_be: "BLOCK", matched: 0 });
  expect(actionOf(policy, plain)).toEqual({ ...shadow, would_be: "ALLOW", matched: null });
});

test("actionOf: a blocked account gets BLOCK, even in shadow mode or if a row allows it", () => {
  const rows = [{ action: "ALLOW" as const, set_quarantined: true }];
  const blocked = { action: "BLOCK", set_quarantined: false, matched: null };
  for (const mode of ["on", "shadow"] as const) expect(actionOf({ mode, rows }, { ...plain, isBlocked: true })).toEqual(blocked);
});

test.each<[string, PolicyRow[], string[]]>([
  ["a label twice", [{ labels: ["Bot", "Organic", "Bot"], action: "BLOCK" }], ["rows[0].labels[2]"]],
  ["the name of a list that does not exist", [{ lists: ["vip", "nobody"], action: "BLOCK" }], ["rows[0].lists[1]"]],
  ["a highest score below the lowest", [{ min_score: 4, max_score: 3, action: "BLOCK" }], ["rows[0].max_score"]],
  ["a row after one that matches everything", [{ action: "ALLOW" }, { min_score: 5, action: "BLOCK" }], ["rows[1]"]],
  [
    "a row whose moments are covered by several rows together",
    [
      { moments: ["login"], action: "ALLOW" },
      { moments: ["payment"], min_score: 2, action: "BLOCK" },
      { moments: ["payment"], max_score: 1, action: "ALLOW" },
      { moments: ["login", "payment"], labels: ["Bot"], lists: ["vip"], action: "BLOCK" },
    ],
    ["rows[3]"],
  ],
  [
    "a row whose labels are covered",
    [
      { labels: ["Bot", "Organic"], action: "ALLOW" },
      { labels: ["Organic"], min_score: 4, action: "BLOCK" },
    ],
    ["rows[1]"],
  ],
])("policyFaults: rejects %s", (_what, rows, fields) => {
  expect(policyFaults({ rows }, ["vip", "watched"]).map(({ field }) => field)).toEqual(fields);
});

test("policyFaults: accepts rows that some situation can reach", () => {
  expect(policyFaults(defaultPolicy, [])).toEqual([]);
  const rows: PolicyRow[] = [
    { labels: ["Bot"], action: "BLOCK" },
    { lists: ["vip"], action: "ALLOW" },
    { labels: ["Bot", "Organic"], lists: ["vip", "watched"], action: "CHALLENGE" },
    { min_score: 3, action: "CHALLENGE" },
  ];
  expect(policyFaults({ rows }, ["vip", "watched"])).toEqual([]);
  const message = "is not the name of a list";
  expect(policyFaults({ rows }, ["watched"])).toEqual([
    { field: "rows[1].lists[0]", message },
    { field: "rows[2].lists[0]", message },
  ]);
});
