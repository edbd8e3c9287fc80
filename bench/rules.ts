// CPU time of 30 rules on 10,000 events, from stored features to true or false. Run with `node bench/rules.ts`.
import type { Features } from "../service/src/detection/catalogue.ts";
import { compileRule } from "../service/src/detection/compile.ts";
import { contextOf, type Attributes } from "../service/src/detection/vector.ts";

const eventCount = 10_000;
const compileRounds = 100;

const expressions = [
  `event.type == "login_failed" && device.failed_accounts_1h >= 8`,
  `event.type == "login_failed" && ip.failed_accounts_10m >= 10 && ip.logins_1h < ip.failed_logins_1h`,
  `network.failed_accounts_1h >= 20 && network.ips_1h >= 10 && network.logins_1h * 5 < network.failed_logins_1h`,
  `ip.failed_accounts_1h >= 15 && account.failed_logins_1h <= 2`,
  `event.type == "login_succeeded" && account.failed_logins_1h >= 10 && account.device_is_new`,
  `account.device_is_new && account.country_is_new && event.type in ["password_changed", "email_changed", "mfa_changed", "payee_added"]`,
  `account.travel_kmh > 1000 && account.minutes_since_other_country < 720`,
  `event.type in ["payment", "transfer"] && account.minutes_since_sensitive_change < 60 && account.value_ratio > 3`,
  `event.type == "signup" && device.signups_24h >= 5`,
  `event.type == "signup" && ip.signups_1h >= 8 && !(event.country in ["US", "IN"])`,
  `event.type == "signup" && event.email_is_disposable`,
  `session.gaps >= 12 && session.gap_spread < 0.15 && session.gap_mean_ms < 2000`,
  `event.is_bot_agent && account.is_known`,
  `account.values >= 3 && account.value_ratio >= 10.5 && event.value > 100`,
  `account.is_blocked || account.is_fraudulent`,
  `tenant.has_browser && event.origin == "server" && session.is_known && !session.has_browser`,
  `account.reports > 0 && account.age_minutes < 10080`,
  `login.ratio > 4.5 && login.history >= 4`,
  `session.is_webdriver || (session.has_inputs && session.inputs == 0 && session.pages > 5)`,
  `device.accounts_10m >= 4 || device.accounts_1h >= 8 || device.accounts_total > 50`,
  `device.confirmed_frauds > 0 && account.age_minutes < 1440`,
  `account.countries_24h >= 3 && account.ips_24h >= 6`,
  `session.accounts >= 3 && session.age_seconds < 600`,
  `session.seconds_to_login < 2 && session.pages <= 1`,
  `has(event.attributes.plan) && event.attributes.plan == "trial" && event.value > 500`,
  `event.attributes.amount > 5 && event.attributes["currency"] in ["USD", "EUR"]`,
  `event.type.startsWith("custom:") && event.type.contains("gift") && event.value / (account.logins + 1) > 50`,
  `event.attributes.email.lowerAscii().matches("^[a-z]+[0-9]{4,}@(gmail|outlook|mail)[.]com$")`,
  `event.browser == "" && event.os == "" && event.signs >= 2`,
  `session.began_on_new_device ? session.sensitive_changes >= 1 : session.sensitive_changes >= 3`,
];

// Seeded, so every run sees the same events.
function* drawFrom(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    yield state / 2_147_483_648;
  }
}

const draws = drawFrom(7);
const draw = (below: number) => Math.floor(draws.next().value * below);
const pick = <T>(choices: readonly [T, ...T[]]): T => choices[draw(choices.length)] ?? choices[0];

function makeEvent(): { features: Features; attributes: Attributes } {
  const features: Features = {
    "event.type": pick(["login_succeeded", "login_failed", "signup", "payment", "page_view", "custom:gift_card"]),
    "event.origin": pick(["server", "browser"]),
    "event.country": pick(["DE", "FR", "US", "BR"]),
    "event.asn": draw(60_000),
    "event.browser": pick(["Chrome", "Safari", "Firefox"]),
    "event.os": pick(["Windows", "macOS", "Android"]),
    "event.value": draw(1000) / 7,
    "account.is_known": true,
    "account.age_minutes": draw(500_000),
    "account.logins": draw(40),
    "account.events_24h": draw(30),
    "account.value_ratio": draw(120) / 10,
    "account.values": draw(16),
    "account.device_is_new": draw(5) === 0,
    "device.is_known": true,
    "device.accounts_1h": draw(4),
    "device.accounts_total": draw(9),
    "ip.accounts_1h": draw(12),
    "ip.failed_accounts_1h": draw(20),
    "network.failed_accounts_1h": draw(40),
    "network.ips_1h": draw(30),
    "session.is_known": true,
    "session.has_browser": true,
    "session.age_seconds": draw(3000),
    "session.pages": draw(20),
    "session.gap_spread": draw(90) / 100,
    "session.gaps": draw(31),
    "tenant.has_browser": true,
  };
  const email = `${pick(["ann", "Bo", "chris"])}${draw(100_000)}@${pick(["gmail.com", "example.org"])}`;
  return { features, attributes: { plan: pick(["trial", "pro"]), amount: draw(100), currency: pick(["USD", "GBP"]), email } };
}

function cpuSecondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}

const compileSeconds = cpuSecondsOf(() => {
  for (let round = 0; round < compileRounds; round++) for (const expression of expressions) compileRule(expression);
});
const rules = expressions.map((expression) => compileRule(expression));
const events = Array.from({ length: eventCount }, makeEvent);
let hits = 0;
const seconds = cpuSecondsOf(() => {
  for (const { features, attributes } of events) {
    const context = contextOf(features, attributes);
    for (const rule of rules) if (rule.test(context)) hits++;
  }
});

process.stdout.write(
  `${rules.length} rules on ${eventCount} events: ${seconds.toFixed(3)} s of CPU, ${Math.round(eventCount / seconds)} events/s, ${hits} hits\n` +
    `compiled: ${Math.round((compileRounds * rules.length) / compileSeconds)} rules/s\n`,
);
