import type { Ring } from "./ring.ts";
import { kindBits } from "./scene.ts";
import type { RuleContext } from "./vector.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

type Window = [name: string, windowMs: number, kinds: number, column?: "peer" | "address" | "country"];

// In an account's ring the peer is the device. In all other rings it is the account.
const accountWindows: Window[] = [
  ["events_1h", hourMs, 0],
  ["events_24h", dayMs, 0],
  ["failed_logins_10m", 10 * minuteMs, kindBits.failed],
  ["failed_logins_1h", hourMs, kindBits.failed],
  ["failed_logins_24h", dayMs, kindBits.failed],
  ["failed_ips_24h", dayMs, kindBits.failed, "address"],
  ["devices_1h", hourMs, 0, "peer"],
  ["devices_24h", dayMs, 0, "peer"],
  ["ips_1h", hourMs, 0, "address"],
  ["ips_24h", dayMs, 0, "address"],
  ["countries_24h", dayMs, 0, "country"],
];
const deviceWindows: Window[] = [
  ["accounts_10m", 10 * minuteMs, 0, "peer"],
  ["accounts_1h", hourMs, 0, "peer"],
  ["accounts_24h", dayMs, 0, "peer"],
  ["failed_logins_10m", 10 * minuteMs, kindBits.failed],
  ["failed_logins_1h", hourMs, kindBits.failed],
  ["failed_accounts_1h", hourMs, kindBits.failed, "peer"],
  ["signups_1h", hourMs, kindBits.signup, "peer"],
  ["signups_24h", dayMs, kindBits.signup, "peer"],
  ["ips_1h", hourMs, 0, "address"],
  ["countries_24h", dayMs, 0, "country"],
];
const ipWindows: Window[] = [
  ["accounts_10m", 10 * minuteMs, 0, "peer"],
  ["accounts_1h", hourMs, 0, "peer"],
  ["devices_1h", hourMs, 0, "address"],
  ["logins_1h", hourMs, kindBits.login],
  ["login_accounts_1h", hourMs, kindBits.login, "peer"],
  ["failed_logins_10m", 10 * minuteMs, kindBits.failed],
  ["failed_logins_1h", hourMs, kindBits.failed],
  ["failed_accounts_10m", 10 * minuteMs, kindBits.failed, "peer"],
  ["failed_accounts_1h", hourMs, kindBits.failed, "peer"],
  ["signups_1h", hourMs, kindBits.signup, "peer"],
  ["signups_24h", dayMs, kindBits.signup, "peer"],
];
const signupWindows: Window[] = [["block_signups_1h", hourMs, kindBits.signup, "peer"]];
const networkWindows: Window[] = [
  ["failed_accounts_1h", hourMs, kindBits.failed, "peer"],
  ["failed_logins_1h", hourMs, kindBits.failed],
  ["logins_1h", hourMs, kindBits.login],
  ["login_accounts_1h", hourMs, kindBits.login, "peer"],
  ["ips_1h", hourMs, 0, "address"],
];

export const windows = {
  account: accountWindows,
  device: deviceWindows,
  ip: ipWindows,
  signups: signupWindows,
  network: networkWindows,
};

// `except` are the kinds that are not counted.
export function countWindows(into: RuleContext["account"], counted: Window[], ring: Ring, at: number, except: number): void {
  const present = ring.kinds;
  for (const [name, windowMs, kinds, column] of counted) {
    // Most rings contain no failed log-in and no sign-up, so the search can be skipped.
    const isAbsent = kinds !== 0 && (kinds & present) === 0;
    into[name] = isAbsent ? 0 : ring.count(at, windowMs, kinds, column, except);
  }
}
