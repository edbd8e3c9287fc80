import { expect, test } from "vitest";
import { check } from "./checker.ts";
import { registerOf, type FinalState, type LogEntry } from "./history.ts";
import { MadeHistory, got, move } from "./made-history.ts";

// One case that is opened, closed, reopened and closed, with everything that can be seen of it on the way.
function story() {
  const made = new MadeHistory();
  made.makeAccount("a");
  made.report("a", "report");
  const early = made.read("case-1");
  const close = made.put("case-1", "close", { status: "CLOSED", version: 1 });
  const closed = made.read("case-1");
  const reopen = made.put("case-1", "reopen", { status: "OPEN", version: 2 });
  made.put("case-1", "too-late", { status: "CLOSED", version: 1 });
  const replay = made.replay("close");
  const blocked = made.changeAccount("a", "block", { is_blocked: true });
  const account = made.readAccount("a");
  made.put("case-1", "close-again", { status: "CLOSED", version: 3 });
  made.report("a", "second-report");
  const list = made.list("a");
  const states = got(made.cases.get("case-1")).states;
  const last = made.read("case-1");
  return { made, early, close, closed, reopen, replay, blocked, account, list, last, states };
}
type Story = ReturnType<typeof story>;

const entryOf = ({ made }: Story, version: number): LogEntry =>
  got(made.log.find(({ resource }) => resource.id === "case-1" && resource.version === version));
const stateOf = ({ states }: Story, version: number): FinalState => got(states[version - 1]);

test("checker: a correct history has no violations, and all of it is checked", () => {
  expect(check(story().made)).toEqual({
    violations: [],
    versions: 5,
    replaysCompared: 1,
    applications: 7,
    unknownApplied: 0,
    unknownNotApplied: 0,
    contentsCompared: 12,
  });
});

const planted: [string, RegExp, (story: Story) => void][] = [
  [
    "a lost update",
    /^lost or forked: other/,
    ({ made, close }) => {
      made.calls.push({ ...close, deed: { ...close.deed, marker: "other" } });
    },
  ],
  ["a fork", /^fork: event 4 /, (told) => (entryOf(told, 3).resource.version = 2)],
  ["a gap", /^gap: event 4 /, (told) => (entryOf(told, 3).resource.version = 4)],
  ["a gap in the log", /^gap: event 4 follows 2/, ({ made }) => made.log.splice(2, 1)],
  ["a stale read", /^stale: GET case-1/, ({ early, last }) => move(early, last.end + 1)],
  ["a future read", /^real time: PUT case-1 .* made change 3/, ({ closed, early }) => move(closed, early.begin)],
  [
    "writes against real time",
    /^real time: PUT case-1/,
    ({ close, reopen, closed }) => {
      move(closed, reopen.end + 0.5);
      move(close, reopen.end + 1);
    },
  ],
  [
    "a rejection that names an outdated version",
    /^stale: PUT case-1/,
    ({ made, last }) => {
      made.put("case-1", "late", { status: "CLOSED", version: 1 }).sights = [{ register: registerOf.case("case-1"), value: 2 }];
      expect(last.end).toBeLessThan(got(made.calls.at(-1)).begin);
    },
  ],
  ["a replay with other bytes", /^a replay with other bytes: close/, ({ replay }) => (got(replay.deed).bytes = "other")],
  ["two first responses for one key", /^2 responses for one key/, ({ replay }) => (got(replay.deed).isReplay = false)],
  ["a replay of nothing", /^a replay without a first response/, ({ close }) => (close.deed.isReplay = true)],
  ["a key applied twice", /^applied twice: close,/, (told) => (stateOf(told, 4).marker = "close")],
  ["a rejected call that was applied", /^rejected, but applied: reopen/, ({ reopen }) => (reopen.deed.outcome = "refused")],
  ["a change that nobody requested", /^phantom: nobody requested version 3/, (told) => (stateOf(told, 3).marker = "ghost")],
  ["a version that is not in the log", /^phantom: case case-1 has 5 states/, ({ states }) => states.push({ ...got(states[3]) })],
  ["a version that the case does not show", /^lost: event 6 /, ({ states }) => states.pop()],
  [
    "an accepted report that opens no case",
    /^lost: unheard/,
    ({ made }) => {
      made.report("a", "unheard");
      made.log.pop();
      got(made.cases.get("case-2")).states.pop();
    },
  ],
  ["a flag that was lost", /^no such state|^stale: ACCOUNT-GET/, ({ account }) => (got(account.sights[1]).value = false)],
  [
    "a flag that differs from the log",
    /^content: ACCOUNT-GET/,
    ({ account }) => (got(account.sights[0]).facts = got(account.sights[0]?.facts).replace("1", "0")),
  ],
  [
    "a flag of the account that the case shows late",
    /^no such state: GET case-1/,
    ({ last }) => (got(last.sights[1]).value = false),
  ],
  [
    "a case that a list leaves out",
    /^missing: LIST a/,
    ({ list }) => {
      list.listed?.cases.delete("case-2");
      list.sights = list.sights.filter(({ register }) => register !== registerOf.case("case-2"));
    },
  ],
  ["a list of two moments", /^no such state: LIST a/, ({ list }) => (got(list.sights[0]).value = 3)],
  [
    "one version with two contents",
    /^content: GET case-1 saw case\/case-1#2/,
    ({ closed }) => (got(closed.sights[0]).hash = "?"),
  ],
  ["a version that nobody made", /^no such state: GET case-1/, ({ last }) => (got(last.sights[0]).value = 9)],
  [
    "a time that runs backwards",
    /^time runs backwards/,
    (told) => {
      const earlier = stateOf(told, 1).at.replace("2026", "2025");
      stateOf(told, 3).at = earlier;
      entryOf(told, 3).occurred_at = earlier;
    },
  ],
  ["a state that differs from the log", /^the log differs/, (told) => (stateOf(told, 3).by = "somebody else")],
];

test.each(planted)("checker: detects %s", (_name, violation, plant) => {
  const told = story();
  plant(told);
  expect(check(told.made).violations).toContainEqual(expect.stringMatching(violation));
});

test("checker: detects two open cases of one account", () => {
  const { made } = story();
  const version = 5;
  made.log.push({
    ...got(made.log.at(-1)),
    event_id: made.log.length + 1,
    type: "case.reopened",
    resource: { type: "case", id: "case-1", version },
  });
  expect(check(made).violations).toContainEqual(expect.stringMatching(/^lost: event 8/));
  got(made.cases.get("case-1")).states.push({ status: "OPEN", at: got(made.log.at(-1)).occurred_at, by: "system", marker: "m" });
  expect(check(made).violations).toContainEqual(expect.stringMatching(/^two open cases: event 8/));
});

function closedTogether() {
  const made = new MadeHistory();
  for (const account of ["a", "b"]) {
    made.makeAccount(account);
    made.report(account, `report-${account}`);
  }
  made.closeMany(["case-1", "case-2"], "bulk");
  return made;
}

test("checker: detects a partially visible bulk close", () => {
  const made = closedTogether();
  made.calls.push({
    begin: 0,
    end: 1_000,
    what: "GET both",
    sights: [
      { register: registerOf.case("case-1"), value: 2 },
      { register: registerOf.case("case-2"), value: 1 },
    ],
  });
  expect(check(made).violations).toEqual([expect.stringMatching(/^no such state: GET both/)]);
});

test("checker: a call without a response may have been applied at any time until its repeat got a response", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  made.report("a", "report");
  const cut = made.put("case-1", "close", { status: "CLOSED", version: 1 });
  const answered = { ...cut, deed: { ...cut.deed, isReplay: true } };
  made.read("case-1");
  Object.assign(cut, { end: Infinity, sights: [], deed: { ...cut.deed, outcome: "unknown", made: [], bytes: "" } });
  made.calls.push(move(answered, got(made.calls.at(-1)).end + 1));
  expect(check(made).violations).toEqual([]);
  const early = move(made.read("case-1"), cut.begin - 2);
  expect(early.end).toBeLessThan(cut.begin);
  expect(check(made).violations).toEqual([expect.stringMatching(/^real time: PUT case-1/)]);
});

test("checker: an account change without a response is not a violation, seen or not, but must not be seen before it began", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  for (const marker of ["unseen", "seen"]) {
    const cut = made.changeAccount("a", marker, { is_blocked: marker === "unseen" });
    Object.assign(cut, { end: Infinity, sights: [], deed: { ...got(cut.deed), outcome: "unknown" } });
  }
  const read = made.readAccount("a");
  expect(check(made).violations).toEqual([]);
  move(read, -100);
  expect(check(made).violations).not.toEqual([]);
});

test("checker: of two changes of one account at one moment, the one without a response is not mistaken for the other", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  const cut = made.changeAccount("a", "cut", { is_blocked: true });
  Object.assign(cut, { end: Infinity, sights: [], deed: { ...got(cut.deed), outcome: "unknown" } });
  made.changeAccount("a", "kept", { is_quarantined: true });
  got(made.log[1]).occurred_at = got(made.log[2]).occurred_at;
  expect(check(made).violations).toEqual([]);
});

// A change that waits for a lock gets the time of the one before it, so a change without a response may look exactly like the
// next change of the same client. Either may have been applied first.
test.each([
  ["before", ["cut", "kept"]],
  ["after", ["kept", "cut"]],
])("checker: a change without a response may be applied just %s one that looks the same", (_when, order) => {
  const made = new MadeHistory();
  made.makeAccount("a");
  made.report("a", "report");
  const changes = new Map(order.map((marker) => [marker, made.changeAccount("a", marker, { is_blocked: true })]));
  const [first, second] = made.log.slice(-2);
  Object.assign(got(first), { occurred_at: got(second).occurred_at });
  const kept = got(changes.get("kept"));
  const facts = got(changes.get(order[1] ?? "")).sights[0]?.facts;
  Object.assign(got(kept.sights[0]), { facts });
  const cut = got(changes.get("cut"));
  Object.assign(cut, { begin: 0, end: Infinity, sights: [], deed: { ...got(cut.deed), outcome: "unknown" } });
  if (order[1] === "kept") {
    made.put("case-1", "close", { status: "CLOSED", version: 1 });
    made.readAccount("a");
  }
  expect(check(made).violations).toEqual([]);
});

test("checker: of changes that look the same, none may be seen once another one has replaced them", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  const cut = made.changeAccount("a", "cut", { is_blocked: true });
  made.changeAccount("a", "kept", { is_blocked: true });
  got(made.log[1]).occurred_at = got(made.log[2]).occurred_at;
  const early = made.readAccount("a");
  Object.assign(cut, { end: Infinity, sights: [], deed: { ...got(cut.deed), outcome: "unknown" } });
  made.changeAccount("a", "later", { is_blocked: false });
  const late = made.readAccount("a");
  expect(check(made).violations).toEqual([]);
  move(early, late.end + 1);
  expect(check(made).violations).toEqual([expect.stringMatching(/^stale: ACCOUNT-GET a/)]);
});

test("checker: changes at the same time with the same result are distinguished by the flags that were sent", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  const cut = made.changeAccount("a", "cut", { is_blocked: true });
  made.changeAccount("a", "kept", {});
  got(made.log[1]).occurred_at = got(made.log[2]).occurred_at;
  Object.assign(cut, { end: Infinity, sights: [], deed: { ...got(cut.deed), outcome: "unknown" } });
  made.readAccount("a");
  expect(check(made).violations).toEqual([]);
});

test("checker: reports a change of an account that was rejected and still applied", () => {
  const made = new MadeHistory();
  made.makeAccount("a");
  const refused = made.changeAccount("a", "refused", { is_blocked: true });
  Object.assign(refused, { sights: [], deed: { ...got(refused.deed), outcome: "refused" } });
  expect(check(made).violations).toEqual([expect.stringMatching(/^rejected, but applied: refused/)]);
});
