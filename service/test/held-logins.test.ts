import { expect, test } from "vitest";
import { addressIn, Stage, withCountries, type Step } from "./stage.ts";

const day = 24 * 60;
const mac =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15";
const linux = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const victim = { website_account_id: "victim", device_id: "own", ip: addressIn("Berlin"), user_agent: mac };
const thief = { website_account_id: "victim", device_id: "thief", ip: addressIn("Lagos"), user_agent: linux };

async function open(): Promise<Stage> {
  const stage = await Stage.open(withCountries(), 40 * 24);
  const steps = Array.from({ length: 10 }, (_, index): Step[] => [
    { minute: index * day, type: "login_succeeded", ...victim, session_id: `own-${index}` },
    { minute: index * day + 5, type: "payment", ...victim, session_id: `own-${index}`, attributes: { amount: 50 } },
  ]);
  await stage.play(steps.flat());
  return stage;
}

function theft(minute: number, session_id: string): Step[] {
  return [
    { minute, type: "login_succeeded", ...thief, session_id },
    { minute: minute + 2, type: "password_changed", ...thief, session_id },
    { minute: minute + 5, type: "payment", ...thief, session_id, attributes: { amount: 450 } },
  ];
}

async function scores(stage: Stage, steps: Step[]): Promise<number[]> {
  return (await stage.play(steps)).map(({ score }) => score);
}

test("held log-ins: a thief who waits after a log-in that opened a case scores as high as one who does not wait", async () => {
  const naive = await scores(await open(), theft(10 * day, "t1"));
  expect(naive.at(-1)).toBeGreaterThanOrEqual(4);
  const stage = await open();
  await stage.play(theft(10 * day, "t0").slice(0, 1));
  expect(await stage.cases()).toHaveLength(1);
  expect(await scores(stage, theft(20 * day, "t1"))).toEqual(naive);
});

test("held log-ins: a thief who returns after a late report scores as high as at first", async () => {
  const stage = await open();
  const first = await scores(stage, theft(10 * day, "t1"));
  const label = "Account Takeover";
  await stage.play([{ minute: 18 * day, type: "fraud_report", website_account_id: "victim", attributes: { label } }]);
  expect(await scores(stage, theft(25 * day, "t2"))).toEqual(first);
});
