import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { shownValues, Stage, type Step } from "./stage.ts";

const hour = 60;
const day = 24 * hour;

function signups(count: number, make: (index: number) => Omit<Step, "type">): Step[] {
  return Array.from({ length: count }, (_, index) => ({ type: "signup", website_account_id: `new-${index}`, ...make(index) }));
}

const throwaway = { attributes: { email: "someone@mailinator.com" } };

test("rule signups_device: the fourth sign-up on one device within a day opens a Synthetic case about the device", async () => {
  const stage = await Stage.open();
  const played = await stage.play(signups(4, (index) => ({ minute: index * 479, device_id: "tablet" })));
  expect(played.map(({ rules }) => rules)).toEqual([[], [], [], ["signups_device"]]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "device:tablet",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Synthetic",
      recommended_action: "MONITOR",
      summary: "4 sign-ups were made on one device within a day.",
    },
  });
  expect(shownValues(found, "signups_device")).toEqual({ "device.signups_24h": 4 });
});

test("rule signups_device: a family of three, or a fourth sign-up exactly a day after the first, is not enough", async () => {
  const stage = await Stage.open();
  const played = await stage.play(signups(4, (index) => ({ minute: index * 480, device_id: "tablet" })));
  expect(played.map(({ features }) => features["device.signups_24h"])).toEqual([1, 2, 3, 3]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
  expect(await stage.cases()).toEqual([]);
});

test("rule signups_address: the eighth sign-up from one address within an hour opens a Synthetic case about the address", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast(
    signups(8, (index) => ({ minute: index * 8.5, ip: "192.0.2.9", device_id: `device-${index}` })),
  );
  expect(last.rules).toEqual(["signups_address"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "ip:192.0.2.9",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Synthetic",
      recommended_action: "MONITOR",
      summary: "8 sign-ups were made from one address within an hour.",
    },
  });
  expect(shownValues(found, "signups_address")).toEqual({ "ip.signups_1h": 8, "ip.block_signups_1h": 0 });
});

const inBlock = (index: number) => ({
  minute: index,
  ip: `2001:db8:66:${(index + 1).toString(16)}::1`,
  device_id: `device-${index}`,
});

test("rule signups_address: 16 sign-ups from one IPv6 block, each from a new /64, open one case about the block", async () => {
  const stage = await Stage.open();
  const played = await stage.play(signups(50, inBlock));
  expect(played.findIndex(({ rules }) => rules.includes("signups_address"))).toBe(15);
  expect(await stage.onlyCase()).toMatchObject({ subject: "network:2001:db8:66::/48", website_account_id: "UNKNOWN" });
});

test("rule signups_address: log-ins in between do not hide the sign-ups of an IPv6 block", async () => {
  const stage = await Stage.open();
  const steps = signups(16, inBlock).flatMap((step, index) => {
    const logins = Array.from({ length: 8 }, (_, own): Step => ({
      ...step,
      minute: step.minute + own / 100,
      type: "login_succeeded",
      website_account_id: `own-${index}-${own}`,
    }));
    return [...logins, { ...step, minute: step.minute + 0.5 }];
  });
  expect((await stage.playLast(steps)).rules).toContain("signups_address");
});

test("rule signups_address: 40 sign-ups from the IPv4 addresses of one carrier, or from many IPv6 blocks, are not an attack", async () => {
  for (const ip of [(index: number) => `192.0.2.${index % 10}`, (index: number) => `2001:db8:${index.toString(16)}::1`]) {
    const stage = await Stage.open();
    await stage.play(signups(40, (index) => ({ minute: index, ip: ip(index), device_id: `device-${index}` })));
    expect(await stage.cases()).toEqual([]);
  }
});

test("rule signups_address: twelve sign-ups from one address make one case about the address, and none about an account", async () => {
  const stage = await Stage.open();
  const played = await stage.play(signups(12, (index) => ({ minute: index * 3, ip: "192.0.2.9", device_id: `device-${index}` })));
  expect(played.filter(({ rules }) => rules.includes("signups_address"))).toHaveLength(5);
  expect(await stage.onlyCase()).toMatchObject({ subject: "ip:192.0.2.9", website_account_id: "UNKNOWN" });
  const { database, tenantId } = stage.tenant;
  const hits = await database.query(
    statement("select subject, hits from rule_subjects where tenant_id = $1 and rule_id = 'signups_address'", [tenantId]),
  );
  expect(hits).toEqual([{ subject: "ip:192.0.2.9", hits: 5 }]);
});

test("rule signups_device: sign-ups with disposable e-mail on the same device join the device's case", async () => {
  const stage = await Stage.open();
  await stage.play(signups(4, (index) => ({ minute: index * 3, device_id: "tablet", ...(index === 3 && throwaway) })));
  const subjects = (await stage.cases()).map(({ subject }) => subject);
  expect(subjects).toEqual(["device:tablet"]);
});

test("rule signups_address: seven sign-ups are not enough, nor is an eighth exactly an hour after the first", async () => {
  const stage = await Stage.open();
  const early = signups(7, (index) => ({ minute: index * 8, ip: "192.0.2.9" }));
  const played = await stage.play([...early, { minute: 60, type: "signup", website_account_id: "late", ip: "192.0.2.9" }]);
  expect(played.slice(6).map(({ features }) => features["ip.signups_1h"])).toEqual([7, 7]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
});

test("rule signups_disposable: a second sign-up on a device with a disposable e-mail opens a Synthetic case for the device", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast(
    signups(2, (index) => ({ minute: index * 1439, device_id: "laptop", ...(index === 1 && throwaway) })),
  );
  expect(last.rules).toEqual(["signups_disposable"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "device:laptop",
    website_account_id: "UNKNOWN",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Synthetic",
      recommended_action: "MONITOR",
      members: { count: 1, created: 1, entered: 0, first: [{ website_account_id: "new-1", state: "created" }] },
      summary:
        "An account signed up with a disposable e-mail address. Sign-ups within a day on its device: 2, from its address: 0.",
    },
  });
  expect(shownValues(found, "signups_disposable")).toEqual({
    "event.email_is_disposable": true,
    "device.signups_24h": 2,
    "ip.signups_24h": 0,
  });
});

test("rule signups_disposable: from one address the third sign-up is enough, and the second is not", async () => {
  const stage = await Stage.open();
  const played = await stage.play(signups(3, (index) => ({ minute: index * 60, ip: "192.0.2.9", ...throwaway })));
  expect(played.map(({ rules }) => rules)).toEqual([[], [], ["signups_disposable"]]);
  expect((await stage.onlyCase()).subject).toBe("ip:192.0.2.9");
});

test("rule signups_disposable: a first sign-up with a disposable e-mail is not enough, nor is a second with a lasting address", async () => {
  const stage = await Stage.open();
  const lasting = { attributes: { email: "someone@gmail.com" } };
  const on = (index: number) => ({ minute: index * 60, device_id: "laptop", ...(index === 0 ? throwaway : lasting) });
  expect((await stage.play(signups(2, on))).flatMap(({ rules }) => rules)).toEqual([]);
  const late = await stage.playLast([
    { minute: 60 + day, type: "signup", website_account_id: "late", device_id: "laptop", ...throwaway },
  ]);
  expect(late.features["device.signups_24h"]).toBe(1);
  expect(late.rules).toEqual([]);
});
