import { expect, test } from "vitest";
import { addMembers, changesOf, memberStateOf, type MemberState } from "./member.ts";

const attacked = (account: string) => ({ account, state: "attacked" as const });

test("members: each account counts once, and its state only rises", () => {
  const first = changesOf(new Map(), [attacked("a"), attacked("b"), { account: "a", state: "entered" }, attacked("a")]);
  expect(first).toEqual([
    { account: "a", state: "entered", before: undefined },
    { account: "b", state: "attacked", before: undefined },
  ]);
  const known = new Map<string, MemberState>(first.map(({ account, state }) => [account, state]));
  expect(changesOf(known, [attacked("a"), attacked("b")])).toEqual([]);
  const rise = changesOf(known, [{ account: "b", state: "entered" }]);
  expect(addMembers(addMembers(undefined, first), rise)).toEqual({
    count: 2,
    created: 0,
    entered: 2,
    first: [
      { website_account_id: "a", state: "entered" },
      { website_account_id: "b", state: "entered" },
    ],
  });
});

test("members: a case counts all accounts but shows 20, beginning with entered accounts", () => {
  const many = Array.from({ length: 500 }, (_, index) => attacked(`user-${index}`));
  const members = addMembers(undefined, changesOf(new Map(), [...many, { account: "victim", state: "entered" }]));
  expect(members).toMatchObject({ count: 501, created: 0, entered: 1 });
  expect(members?.first).toHaveLength(20);
  expect(members?.first.slice(0, 2)).toEqual([
    { website_account_id: "victim", state: "entered" },
    { website_account_id: "user-0", state: "attacked" },
  ]);
});

test("members: a failed log-in and a declined payment attack an account, a sign-up creates it, anything else enters it", () => {
  expect(memberStateOf({ type: "login_failed" })).toBe("attacked");
  expect(memberStateOf({ type: "payment", status: "declined" })).toBe("attacked");
  expect(memberStateOf({ type: "signup" })).toBe("created");
  expect(memberStateOf({ type: "login_succeeded" })).toBe("entered");
  expect(memberStateOf({ type: "payment", status: "approved" })).toBe("entered");
});
