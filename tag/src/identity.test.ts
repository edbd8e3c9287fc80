import { expect, test } from "vitest";
import { stub, useShop, type SentEvent } from "./shop.ts";

const site = useShop();

// The tag does not verify signatures; the service does.
const tokenFor = (seconds: number, mark: string) => `v1.${Math.floor(Date.now() / 1000) + seconds}.${mark.repeat(43)}`;
const carried = (event: SentEvent | undefined) => event?.user.casehound_identity?.value;
const setUserId = (...args: unknown[]) => `casehound.setUserId(${args.map((arg) => JSON.stringify(arg)).join(", ")});`;
const record = (name: string) => `casehound.record("${name}");`;

async function tokensOf(...names: string[]): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const name of names) found.push(carried(await site.shop.untilEvent(name)));
  return found;
}

test("identity: a token is sent with every event of its user, across pages, and survives a call without one", async () => {
  const token = tokenFor(3600, "a");
  const page = await site.visit("/one");
  await page.evaluate(
    `${record("before")} ${setUserId("ann", { token })} ${record("after")} ${setUserId("ann")} ${record("again")}`,
  );
  await page.evaluate("casehound.flush()");
  expect(await tokensOf("before", "_profile_set", "after", "again")).toEqual([undefined, token, token, token]);
  await page.goto(`${site.shop.url}/two`);
  await page.evaluate("casehound.flush()");
  const view = await site.shop.untilEvent("_page_view", 2);
  expect(view.user).toMatchObject({ _user_id: { value: "ann" }, casehound_identity: { value: token } });
});

test("identity: a fresh token replaces the old one without an extra event", async () => {
  const [first, second] = [tokenFor(60, "a"), tokenFor(3600, "b")];
  const page = await site.visit();
  await page.evaluate(
    `${setUserId("ann", { token: first })} ${setUserId("ann", { token: second })} ${record("after")} casehound.flush()`,
  );
  expect(await tokensOf("_profile_set", "after")).toEqual([first, second]);
  expect(site.shop.ofType("_profile_set")).toHaveLength(1);
});

test("identity: a log-out or another user removes the token", async () => {
  const token = tokenFor(3600, "a");
  const page = await site.visit();
  await page.evaluate(`${setUserId("ann", { token })} ${setUserId("bob")} ${record("as_bob")}`);
  await page.evaluate(`${setUserId("ann", { token })} ${setUserId(null, { token })} ${record("as_nobody")}`);
  await page.evaluate(`${setUserId("ann")} ${record("as_ann")} casehound.flush()`);
  expect(await tokensOf("as_bob", "as_nobody", "as_ann")).toEqual([undefined, undefined, undefined]);
  expect(await page.evaluate('localStorage.getItem("casehound.identity")')).toBeNull();
});

test("identity: an expired token is not sent", async () => {
  const page = await site.visit();
  await page.evaluate(`${setUserId("ann", { token: tokenFor(-1, "a") })} ${record("late")} casehound.flush()`);
  expect(await tokensOf("_profile_set", "late")).toEqual([undefined, undefined]);
});

test("identity: a malformed token breaks nothing: the user is set, and the console shows what is wrong", async () => {
  const page = await site.visit();
  const warnings: string[] = [];
  page.on("console", (message) => warnings.push(message.text()));
  const bad = ['{ token: "x" }', "{ token: 7 }", "{ token: {} }", `{ token: "v1.${"9".repeat(99)}.x" }`, "{ token: 'v1..' }"];
  const none = ["{ token: null }", "{ token: undefined }", "{}", "null", "7", '"x"', "[]"];
  const calls = [...bad, ...none].map((options, index) => `casehound.setUserId("user-${index}", ${options});`);
  await page.evaluate(`${calls.join(" ")} casehound.flush()`);
  await site.shop.untilEvent("_profile_set", calls.length);
  const sets = site.shop.ofType("_profile_set");
  expect(sets.map((event) => event.user._user_id?.value)).toEqual(calls.map((_, index) => `user-${index}`));
  expect(sets.map(carried)).toEqual(calls.map(() => undefined));
  expect(warnings.filter((text) => text.includes("token"))).toHaveLength(bad.length);
});

test("identity: a call before the tag has loaded keeps its token, and a page that corrupts the stored one breaks nothing", async () => {
  const token = tokenFor(3600, "a");
  site.shop.head = `${stub}<script>${setUserId("ann", { token })}</script>`;
  const page = await site.visit();
  expect(carried(await site.shop.untilEvent("_profile_set"))).toBe(token);
  for (const [index, spoilt] of ["{}", '"x"', "7", "no JSON", '{"value":7}'].entries()) {
    await page.evaluate(`localStorage.setItem("casehound.identity", ${JSON.stringify(spoilt)}); ${record(`spoilt_${index}`)}`);
  }
  await page.evaluate(`${setUserId("ann", { token })} ${record("mended")} casehound.flush()`);
  const spoilt = Array.from({ length: 5 }, (_, index) => `spoilt_${index}`);
  expect(await tokensOf(...spoilt, "mended")).toEqual([...spoilt.map(() => undefined), token]);
});
