import type { Activity } from "@casehound/client";

type Step = Omit<Activity, "activity_id" | "occurred_at"> & { minutesAgo: number };
type Scenario = {
  name: string;
  story: string;
  // What to look for once it is scored.
  expects: string;
  opensCase: boolean;
  steps: (account: (n: number) => string, device: (n: number) => string) => Step[];
};

const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1";
const desktop = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
// Addresses reserved for documentation, which nobody uses.
const home = { ip: "192.0.2.17", user_agent: phone };
const elsewhere = { ip: "203.0.113.66", user_agent: desktop };
const money = (amount: number) => ({ amount, currency: "EUR" });

function stuffing(account: (n: number) => string, device: (n: number) => string): Step[] {
  const from = { ...elsewhere, device_id: device(1) };
  const tries = Array.from({ length: 12 }, (_, n): Step => ({
    type: "login_failed",
    minutesAgo: 8 - n / 2,
    website_account_id: account(n + 2),
    ...from,
  }));
  return [...tries, { type: "login_succeeded", minutesAgo: 1.5, website_account_id: account(1), ...from }];
}

function takeover(account: (n: number) => string, device: (n: number) => string): Step[] {
  const own = { website_account_id: account(1), session_id: `${account(1)}-own`, device_id: device(1), ...home };
  const thief = { website_account_id: account(1), session_id: `${account(1)}-thief`, device_id: device(2), ...elsewhere };
  const guesses = Array.from({ length: 6 }, (_, n): Step => ({ type: "login_failed", minutesAgo: 12 - n / 2, ...thief }));
  return [
    { type: "login_succeeded", minutesAgo: 50, ...own },
    { type: "payment", minutesAgo: 47, attributes: money(31.9), ...own },
    ...guesses,
    { type: "login_succeeded", minutesAgo: 8, ...thief },
    { type: "password_changed", minutesAgo: 7, ...thief },
    { type: "payee_added", minutesAgo: 5, ...thief },
    { type: "transfer", minutesAgo: 3, attributes: money(2400), ...thief },
  ];
}

function signups(account: (n: number) => string, device: (n: number) => string): Step[] {
  return [6, 5, 4, 3, 2, 1].map((n) => ({
    type: "signup",
    minutesAgo: n * 1.5,
    website_account_id: account(n),
    device_id: device(1),
    ...elsewhere,
  }));
}

function ordinary(account: (n: number) => string, device: (n: number) => string): Step[] {
  const own = { website_account_id: account(1), session_id: account(1), device_id: device(1), ...home };
  return [
    { type: "login_succeeded", minutesAgo: 9, ...own },
    { type: "page_view", minutesAgo: 8, ...own },
    { type: "payment", minutesAgo: 4, attributes: money(24.5), ...own },
    { type: "logout", minutesAgo: 2, ...own },
  ];
}

export const scenarios = {
  stuffing: {
    name: "Credential stuffing",
    story: "One device fails to log in to twelve accounts within minutes, and then gets into a thirteenth.",
    expects: "A case labelled Bot, for the thirteenth account.",
    opensCase: true,
    steps: stuffing,
  },
  takeover: {
    name: "Account takeover",
    story:
      "Password guesses on a device never seen before, a log-in, a new password, a new payee, and a transfer of 2,400 euros.",
    expects: "A case labelled Account Takeover, with a high score.",
    opensCase: true,
    steps: takeover,
  },
  signups: {
    name: "Invented customers",
    story: "Six sign-ups on one device, one after the other.",
    expects: "One case labelled Synthetic about the device, from the fourth sign-up on.",
    opensCase: true,
    steps: signups,
  },
  report: {
    name: "Fraud report",
    story: "A customer tells your support team that somebody else has used the account.",
    expects: "A case labelled Account Takeover at once, because reports are trusted.",
    opensCase: true,
    steps: (account) => [
      {
        type: "fraud_report",
        minutesAgo: 0,
        website_account_id: account(1),
        attributes: { label: "Account Takeover", note: "The customer called: these orders are not theirs." },
      },
    ],
  },
  ordinary: {
    name: "An ordinary visit",
    story: "A log-in, a look around, a small payment, a log-out.",
    expects: "No case. The activity is only scored.",
    opensCase: false,
    steps: ordinary,
  },
} satisfies Record<string, Scenario>;

export type ScenarioId = keyof typeof scenarios;
export const scenarioIds = Object.keys(scenarios) as ScenarioId[];

export function isScenarioId(text: string): text is ScenarioId {
  return Object.hasOwn(scenarios, text);
}

// The name of a run contains its time, so the activities can be derived from the name alone.
export function newRun(nowMs: number, random: number): string {
  return (
    nowMs.toString(36).padStart(9, "0") +
    Math.floor(random * 36 ** 4)
      .toString(36)
      .padStart(4, "0")
  );
}

export function suspectOf(run: string): string {
  return `try-${run}-1`;
}

// The same run always gives the same activities with the same ids, so sending them twice has no further effect.
export function activitiesOf(id: ScenarioId, run: string): Activity[] {
  const madeMs = Number.parseInt(run.slice(0, 9), 36);
  const steps: Step[] = scenarios[id].steps(
    (n) => `try-${run}-${n}`,
    (n) => `try-${run}-device-${n}`,
  );
  return steps.map(({ minutesAgo, type, ...rest }, index) => ({
    activity_id: `try-${run}-${id}-${index}`,
    type,
    occurred_at: new Date(madeMs - minutesAgo * 60_000).toISOString(),
    ...rest,
  }));
}
