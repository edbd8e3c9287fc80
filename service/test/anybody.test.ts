import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { Stage, type Step } from "./stage.ts";

const day = 24 * 60;
const home = { website_account_id: "victim", device_id: "laptop", ip: "203.0.113.9", session_id: "home" };
const attacker = { device_id: "cookie", ip: "192.0.2.66", session_id: "attack", user_agent: "curl/8.5" };
const owners: Step = { minute: -day, type: "login_succeeded", ...home };

// A shop reports truthfully that somebody asked for a new password. Anybody can do that for any account.
function resets(count: number): Step[] {
  return Array.from({ length: count }, (_, index): Step => ({
    minute: index / 10,
    type: "custom:password_reset_requested",
    website_account_id: index === 0 ? "victim" : `victim-${index}`,
    ...attacker,
  }));
}

function rowsOf(stage: Stage, text: string): Promise<Record<string, unknown>[]> {
  return stage.tenant.database.query(statement(text, [stage.tenant.tenantId]));
}

test("accounts: requests for a new password that somebody makes with a script open no case about an account", async () => {
  const stage = await Stage.open();
  const played = await stage.play([owners, ...resets(30)]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  expect(await stage.cases()).toEqual([]);
});

test("accounts: a request for a new password links its account neither to the session nor to the device and address", async () => {
  const stage = await Stage.open();
  const own: Step = { minute: -1, type: "login_succeeded", website_account_id: "mallory", ...attacker };
  const { user_agent: _agent, ...quiet } = own;
  await stage.play([owners, quiet, ...resets(3)]);
  const sessions = await rowsOf(stage, "select session_id, website_account_id from sessions where tenant_id = $1 order by 1");
  expect(sessions).toEqual([
    { session_id: "attack", website_account_id: "mallory" },
    { session_id: "home", website_account_id: "victim" },
  ]);
  const links = await rowsOf(stage, "select kind, a, b from links where tenant_id = $1 order by kind, a");
  expect(links).toEqual([
    { kind: "account-device", a: "mallory", b: "cookie" },
    { kind: "account-device", a: "victim", b: "laptop" },
    { kind: "account-ip", a: "mallory", b: "192.0.2.66" },
    { kind: "account-ip", a: "victim", b: "203.0.113.9" },
  ]);
});

test("rule bot_past_login: a script that is logged in to an account still opens a case about the account", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([{ minute: 0, type: "login_succeeded", website_account_id: "victim", ...attacker }]);
  expect(last.rules).toEqual(["bot_past_login"]);
  expect(await stage.onlyCase()).toMatchObject({ subject: "account:victim" });
});
