import { expect, test } from "vitest";
import type { Account } from "../../service/src/domain/account.ts";
import { setApprovals } from "../../service/test/approving.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { FlagBoard, type FlagRefusal, type Flags } from "../src/changes/flags.ts";
import { deskOf, fatefulProxy } from "./desk.ts";

const service = useService();

async function boardOf(baseUrl?: (tenant: TestTenant) => Promise<string>) {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ann" } });
  const read = async (): Promise<Account> => (await tenant.call("GET", "/enduseraccounts/ann")).json.data;
  const account = await read();
  const shown: Flags[] = [];
  const refused: FlagRefusal[] = [];
  const desk = () => deskOf(tenant, url);
  const url = baseUrl ? await baseUrl(tenant) : tenant.service.url;
  const make = () =>
    new FlagBoard(desk(), {
      show: (_id, flags) => shown.push(flags),
      tell: () => {},
      refuse: (refusal) => refused.push(refusal),
    });
  return { tenant, account, read, shown, refused, make };
}

const off = { is_blocked: false, is_quarantined: false, is_fraudulent: false };

test("flags: change before the service answers, and stay if it accepts", async () => {
  const { account, read, shown, refused, make } = await boardOf();
  const toggling = make().toggle(account, "is_blocked");
  expect(shown).toEqual([{ ...off, is_blocked: true }]);
  await toggling;
  expect(shown.at(-1)).toEqual({ ...off, is_blocked: true });
  expect({ flags: await read(), refused }).toMatchObject({ flags: { is_blocked: true }, refused: [] });
});

test("flags: revert with the service's message if it rejects, and nothing changes there", async () => {
  const { tenant, account, read, shown, refused, make } = await boardOf();
  const token = tenant.token;
  tenant.token = await tenant.mint(["read:enduseraccount"]);
  await make().toggle(account, "is_quarantined");
  expect(shown).toEqual([{ ...off, is_quarantined: true }, off]);
  expect(refused).toEqual([
    {
      websiteAccountId: "ann",
      flag: "is_quarantined",
      words: "The token lacks the scope update:enduseraccount.",
      needsApproval: false,
    },
  ]);
  tenant.token = token;
  expect(await read()).toStrictEqual(account);
});

test("flags: a refusal says whether approval would help; another refusal of the same type does not", async () => {
  const { tenant, account, refused, make } = await boardOf();
  await setApprovals(tenant, { blocking: true, includes_clients: true });
  await make().toggle(account, "is_blocked");
  expect(refused).toMatchObject([{ flag: "is_blocked", needsApproval: true }]);
  tenant.token = await tenant.mint(["read:enduseraccount", "update:case"]);
  await make().toggle(account, "is_blocked");
  expect(refused).toMatchObject([{}, { flag: "is_blocked", needsApproval: false }]);
});

test("flags: after repeated presses the last one wins, and the switch never flips back in between", async () => {
  const { account, read, shown, make } = await boardOf(async (tenant) => {
    return (await fatefulProxy(tenant, (_seen, count) => (count % 3 === 1 ? "lose" : "pass"))).url;
  });
  const board = make();
  await Promise.all([
    board.toggle(account, "is_blocked"),
    board.toggle(account, "is_fraudulent"),
    board.toggle(account, "is_blocked"),
    board.toggle(account, "is_blocked"),
  ]);
  const last = { ...off, is_blocked: true, is_fraudulent: true };
  expect(shown.slice(3).every((flags) => flags.is_blocked && flags.is_fraudulent)).toBe(true);
  expect(shown.at(-1)).toEqual(last);
  expect(await read()).toMatchObject(last);
});
