import { expect, test } from "vitest";
import { Stage, type Step } from "./stage.ts";

// A forger who knows how crowds are counted, in a shop that uses only the snippet. Up to eight accounts per address and day are
// not a crowd.
const explained = 8;
const bot = { browser: { is_webdriver: true } };

// All are received on one day.
const received_at = new Date(Date.now() - 60_000).toISOString();

type Forged = { name: number; event: number; ip?: string };

const forge = ({ name, event, ip = "192.0.2.10" }: Forged, more: Partial<Step> = {}): Step => ({
  minute: 15 * name + event / 60,
  type: event % 2 === 0 ? "login_failed" : "login_succeeded",
  origin: "browser",
  website_account_id: `user-${name}`,
  device_id: `d${name}`,
  session_id: `s${name}`,
  ip,
  received_at,
  ...bot,
  ...more,
});

const isAccount = (subject: string): boolean => subject.startsWith("account:");

async function subjectsOf(stage: Stage): Promise<{ accounts: number; sources: string[] }> {
  const subjects = (await stage.cases()).map(({ subject }) => subject);
  return { accounts: subjects.filter(isAccount).length, sources: subjects.filter((each) => !isAccount(each)) };
}

test("crowd: many events for each name do not hide the other names", async () => {
  const stage = await Stage.open();
  for (let name = 0; name < 20; name++) {
    await stage.play(Array.from({ length: 30 }, (_, event) => forge({ name, event })));
  }
  expect(await subjectsOf(stage)).toEqual({ accounts: explained, sources: ["ip:192.0.2.10"] });
});

test("crowd: names of one day are counted together, whatever times the page sends", async () => {
  const stage = await Stage.open();
  for (let name = 0; name < 12; name++) await stage.play([forge({ name, event: 1 }, { minute: 26 * 60 * name })]);
  expect(await subjectsOf(stage)).toEqual({ accounts: explained, sources: ["ip:192.0.2.10"] });
});

test("crowd: even with many events per name, the addresses of a block are one source", async () => {
  const stage = await Stage.open();
  for (let name = 0; name < 30; name++) {
    await stage.play(Array.from({ length: 10 }, (_, event) => forge({ name, event, ip: `192.0.2.${name + 1}` })));
  }
  expect(await subjectsOf(stage)).toEqual({ accounts: explained, sources: ["network:192.0.2.0/24"] });
});

test("crowd: an address that names more devices than its history explains is one source", async () => {
  const stage = await Stage.open();
  for (let name = 0; name < 24; name++) {
    await stage.play(Array.from({ length: 10 }, (_, event) => forge({ name, event }, { website_account_id: "user-0" })));
  }
  expect((await subjectsOf(stage)).sources).toEqual(["ip:192.0.2.10"]);
});

// Plays one event per page. All pages name the same account. The servers report that account, so the pages' claims do not count
// for it.
async function flood(pages: number, page: (name: number) => Partial<Step>, batch = 50): Promise<string[]> {
  const stage = await Stage.open();
  await stage.play([{ minute: 0, type: "login_succeeded", website_account_id: "user-0", ip: "203.0.113.9", device_id: "own" }]);
  const steps = Array.from({ length: pages }, (_, name) => {
    const { device_id: _device, ...step } = forge(
      { name: 1, event: name },
      { type: "add_to_cart", website_account_id: "user-0" },
    );
    return { ...step, session_id: `s${name}`, ...page(name) };
  });
  for (let at = 0; at < pages; at += batch) await stage.play(steps.slice(at, at + batch));
  return (await subjectsOf(stage)).sources;
}

test("crowd: pages without a device id are counted by their sessions", async () => {
  expect(await flood(200, () => ({}))).toEqual(["ip:192.0.2.10"]);
});

test("crowd: sessions that come one at a time are one source after the sixteenth", async () => {
  const sources = await flood(24, () => ({}), 1);
  expect(sources.filter((subject) => subject.startsWith("session:"))).toHaveLength(16);
  expect(sources.filter((subject) => !subject.startsWith("session:"))).toEqual(["ip:192.0.2.10"]);
});

test("crowd: many devices on the addresses of one block are one source, though no address has many", async () => {
  const sources = await flood(200, (name) => ({ device_id: `d${name}`, ip: `2001:db8:77:${Math.floor(name / 10) + 1}::1` }));
  expect(sources).toEqual(["network:2001:db8:77::/48"]);
});

test("crowd: strangers in the same block do not stop a page's valid claim from counting for its account", async () => {
  const stage = await Stage.open();
  const strangers = Array.from({ length: 60 }, (_, name): Step => {
    const { website_account_id: _account, ...step } = forge({ name, event: 1, ip: `192.0.2.${name + 1}` });
    return { ...step, type: "page_view", browser: {} };
  });
  await stage.play(strangers);
  await stage.play([forge({ name: 61, event: 1, ip: "192.0.2.200" })]);
  expect(await subjectsOf(stage)).toEqual({ accounts: 1, sources: [] });
});
