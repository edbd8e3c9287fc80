import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { Stage, type Step } from "./stage.ts";

// A tenant that uses only the page's snippet: neither a server nor a signature confirms its accounts.
const page = (minute: number, type: string, more: Partial<Step> = {}): Step => ({ minute, type, origin: "browser", ...more });
const bot = { browser: { is_webdriver: true } };
const place = { device_id: "phone", ip: "192.0.2.10" };

const login = (minute: number, session_id: string): Step =>
  page(minute, "login_succeeded", { website_account_id: "owner", ...place, session_id });
const claim = (minute: number, session_id: string): Step =>
  page(minute, "login_succeeded", { website_account_id: "owner", device_id: "burner", ip: "198.51.100.7", session_id });

async function isClaimed({ tenant }: Stage, account: string): Promise<boolean | undefined> {
  const text = "select is_claimed from accounts where tenant_id = $1 and website_account_id = $2";
  const [row] = await tenant.database.query<{ is_claimed: boolean }>(statement(text, [tenant.tenantId, account]));
  return row?.is_claimed;
}

test("snippet only: a claim counts, and its case is on the account, with a score of at most 3 and MONITOR", async () => {
  const stage = await Stage.open();
  const said = await stage.playLast([
    page(0, "login_succeeded", { website_account_id: "owner", ...place, session_id: "s1", ...bot }),
  ]);
  expect(said.features).toMatchObject({ "event.source": "page", "account.is_known": true });
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "account:owner", website_account_id: "owner" });
  expect(found.details).toMatchObject({ overall_risk_score: 3, recommended_action: "MONITOR" });
  expect(await isClaimed(stage, "owner")).toBe(true);
});

test("snippet only: habits are learned, from one log-in per session", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([login(0, "s1"), login(1, "s1"), login(100, "s2"), login(200, "s3")]);
  expect(last.features).toMatchObject({ "account.logins": 2 });
});

test("snippet only: a request that names 2,000 accounts leads to one case about its source", async () => {
  const stage = await Stage.open();
  const names = Array.from({ length: 2000 }, (_, index) =>
    page(index / 10_000, "login_succeeded", { website_account_id: `user-${index}`, ...place, session_id: "s1", ...bot }),
  );
  await stage.play(names);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "device:phone", website_account_id: "UNKNOWN" });
  expect(found.details.claimed_accounts).toHaveLength(100);
  expect(await isClaimed(stage, "user-0")).toBeUndefined();
});

test("snippet only: a new device and session for every name is still one source", async () => {
  const stage = await Stage.open();
  const names = Array.from({ length: 500 }, (_, index) =>
    page(index / 10_000, "login_succeeded", {
      website_account_id: `user-${index}`,
      device_id: `d${index}`,
      session_id: `s${index}`,
      ip: place.ip,
      ...bot,
    }),
  );
  await stage.play(names);
  expect(await stage.onlyCase()).toMatchObject({ subject: "ip:192.0.2.10", website_account_id: "UNKNOWN" });
});

test("snippet only: a block of addresses that names many accounts is one source", async () => {
  const stage = await Stage.open();
  const names = Array.from({ length: 250 }, (_, index) =>
    page(index / 10_000, "login_succeeded", {
      website_account_id: `user-${index}`,
      device_id: `d${index}`,
      session_id: `s${index}`,
      ip: `192.0.2.${index + 1}`,
      ...bot,
    }),
  );
  await stage.play(names);
  expect(await stage.onlyCase()).toMatchObject({ subject: "network:192.0.2.0/24", website_account_id: "UNKNOWN" });
});

test("snippet only: a family on one device is not a crowd and gets one case per account", async () => {
  const stage = await Stage.open();
  await stage.play(
    ["ann", "ben"].map((account, index) =>
      page(index, "login_succeeded", { website_account_id: account, ...place, session_id: `s${index}`, ...bot }),
    ),
  );
  expect((await stage.cases()).map(({ subject }) => subject).toSorted()).toEqual(["account:ann", "account:ben"]);
});

test("snippet only: once a server names an account, nothing that pages claimed about it counts", async () => {
  const stage = await Stage.open();
  await stage.play([claim(0, "a"), claim(100, "b"), claim(200, "c"), claim(300, "d"), claim(400, "e")]);
  expect(await isClaimed(stage, "owner")).toBe(true);
  const login = await stage.playLast([
    { minute: 1000, type: "login_succeeded", website_account_id: "owner", ...place, session_id: "home" },
  ]);
  expect(login.features).toMatchObject({ "account.is_known": true });
  expect(login.features).not.toHaveProperty("account.logins");
  expect(await isClaimed(stage, "owner")).toBe(false);
  const after = await stage.playLast([claim(1100, "f")]);
  expect(Object.keys(after.features).filter((name) => name.startsWith("account."))).toEqual(["account.is_known"]);
  const next = await stage.playLast([
    { minute: 1200, type: "login_succeeded", website_account_id: "owner", device_id: "burner", session_id: "g" },
  ]);
  expect(next.features).toMatchObject({ "account.logins": 1, "account.device_is_new": true });
});
