import { expect, test } from "vitest";
import { forged } from "./forged.ts";
import type { CaseItem, Decided, Ground } from "./forged/ground.ts";
import { movedBetween } from "./forged/hide.ts";
import { Ledger, damageOf, judgeClaims, judgeDamage, type Look } from "./forged/ledger.ts";
import { signIdentity } from "./forged/page-event.ts";
import { proveShort } from "./prove.ts";

test(
  "forged: an attacker who knows the app key accuses nobody, hides nothing and delays nobody",
  { timeout: 600_000 },
  async () => {
    const figures = await proveShort(forged);
    expect(Number(figures["attacks"])).toBeGreaterThan(60);
    expect(Object.keys(figures).filter((row) => row.startsWith("own cookies, ")).length).toBeGreaterThan(20);
    // A row holds the goals of one attack in every world where it was tried.
    expect(Object.values(figures).filter((row) => String(row).includes("(goal: ")).length).toBeGreaterThan(100);
  },
);

function caseOn(account: string, more: Partial<CaseItem> = {}): CaseItem {
  const item = { status: "OPEN", case_version: 1, overall_risk_score: 3, recommended_action: "MONITOR", ...more };
  return { case_id: `case of ${account}`, website_account_id: account, ...item };
}

function look(cases: CaseItem[], accounts: Record<string, string>, links = 0): Look {
  return { cases, accounts: new Map(Object.entries(accounts)), links };
}

test("forged: the ledger reports a case, a new version, a new account, a changed account and a link, but not the attacker's own account", () => {
  const before = look([caseOn("ada"), caseOn("bob")], { ada: "1", bob: "1" });
  const cases = [caseOn("ada", { case_version: 2 }), caseOn("bob"), caseOn("eve"), caseOn("UNKNOWN"), caseOn("mallory")];
  const damage = damageOf(before, look(cases, { ada: "2", bob: "1", eve: "1", mallory: "1" }, 3));
  expect(damage.accused.map((each) => each.website_account_id)).toEqual(["ada", "eve"]);
  expect(damage.sources).toHaveLength(1);
  expect(damage).toMatchObject({ created: ["eve"], changed: ["ada"], links: 3 });
  const ledger = new Ledger();
  judgeDamage(ledger, { attack: "a", world: "server" }, damage);
  expect(ledger.violations).toEqual([
    "a, server: cases on accounts 2, the goal is 0 (ada: score 3, MONITOR)",
    "a, server: accounts created 1, the goal is 0 (eve)",
    "a, server: accounts changed or linked 4, the goal is 0 (ada)",
  ]);
});

test("forged: claims alone may open cases with score 3 and MONITOR, and nothing above", () => {
  const ledger = new Ledger();
  const quiet = look([caseOn("ada")], {});
  judgeClaims(ledger, { attack: "a", world: "server" }, damageOf(look([], {}), quiet));
  expect(ledger.violations).toEqual([]);
  const loud = look([caseOn("ada", { overall_risk_score: 4 }), caseOn("bob", { recommended_action: "CHALLENGE" })], {});
  judgeClaims(ledger, { attack: "a", world: "server" }, damageOf(look([], {}), loud));
  expect(ledger.violations).toEqual(["a, server: cases of claims above score 3 or MONITOR 2, the goal is 0 (score 4, MONITOR)"]);
});

test("forged: the worst of several tries is shown for each world, and every miss is a violation", () => {
  const ledger = new Ledger();
  const row = { attack: "a", what: "seconds" };
  for (const seen of [1, 7, 2]) ledger.goal({ ...row, world: "signed" }, seen, 2);
  ledger.goal({ ...row, world: "server" }, 0.5, 2);
  ledger.note({ ...row, world: "snippet" }, 3000);
  expect(ledger.figures).toEqual({ "a: seconds": "server 0.5, signed 7 (goal: at most 2); snippet 3,000" });
  expect(ledger.violations).toEqual(["a, signed: seconds 7, the goal is at most 2"]);
});

function decided(logOdds: number, score = 1): Decided {
  return { logOdds, score, rules: [] };
}

test("forged: a fall, a rise and a lost decision are detected", () => {
  const ground = undefined as unknown as Ground;
  const acts = ["a", "b", "c"].map((id) => ({ id, type: "payment", at: 0, ip: "", agent: "" }));
  const clean = {
    ground,
    decisions: new Map([
      ["a", decided(9.4, 5)],
      ["b", decided(0)],
      ["c", decided(1)],
    ]),
  };
  const moved = {
    ground,
    decisions: new Map([
      ["a", decided(-1.5)],
      ["b", decided(2.5, 3)],
      ["c", decided(1)],
    ]),
  };
  expect(movedBetween(acts, clean, clean)).toMatchObject({ fall: 0, rise: 0, scores: 0 });
  expect(movedBetween(acts, clean, moved)).toMatchObject({ fall: 10.9, rise: 2.5, scores: 1 });
  expect(movedBetween(acts, clean, { ground, decisions: new Map() }).fall).toBe(Infinity);
});

test("forged: an identity is signed as in the test vector", () => {
  expect(signIdentity("secret", "user-42", 1_800_000_000)).toMatch(/^v1\.1800000000\.[\w-]{43}$/);
});
