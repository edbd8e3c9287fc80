import type { RuleDefinition } from "../domain/rule.ts";
import { isMoney, misuseRules } from "./misuse-rules.ts";
import { isChange, isFarFromUsual, takeoverRules } from "./takeover-rules.ts";

export type DefaultRule = RuleDefinition & { rule_id: string };

const isLogin = `event.type in ["login_failed", "login_succeeded"]`;

// A log-in by somebody else: a failed one, or one on a strange device that is not usual in other ways either. An attack on an
// address or a network must not accuse the people who log in there as usual. With a short history the ratio says nothing, but an
// address from which the account has logged in before suggests the owner.
const isStrangersLogin = `(event.type == "login_failed" || ((account.device_is_new || !device.is_known) && login.ratio >= 0 && (login.history >= 4 || !account.ip_is_known)))`;

// Raise this in a release that changes a default rule. When the release starts, each tenant gets the new definition of the rules
// that nobody has edited, as a new version by `system`. Only new tenants get rules that are added here.
export const defaultsVersion = 9;

// The rules of a new tenant. They were chosen by reasoning and tuned on simulated shops. Once a tenant edits a rule, releases no
// longer change it.
const stuffing: DefaultRule[] = [
  {
    rule_id: "stuffing_device",
    name: "Credential stuffing from one device",
    expression: `${isLogin} && device.failed_accounts_1h >= 5`,
    sentence: "Log-ins to {device.failed_accounts_1h} accounts failed on one device within an hour.",
    label: "Bot",
    weight: 3.5,
    about: "device",
    state: "on",
  },
  {
    rule_id: "accounts_device",
    name: "Many accounts on one device",
    expression: `event.type == "login_succeeded" && device.accounts_1h >= 8`,
    sentence: "{device.accounts_1h} accounts were used or tried on one device within an hour.",
    label: "Bot",
    weight: 3,
    about: "account",
    state: "on",
  },
  {
    rule_id: "stuffing_address",
    name: "Credential stuffing from one address",
    // Accounts are compared with accounts, because anybody can log in to one account many times. An attacker may have many
    // accounts. But a count covers the last 64 events, so 24 failing accounts are a large share of any source.
    expression: `${isLogin} && ip.failed_accounts_10m >= 8 && (ip.failed_accounts_1h > 2 * ip.login_accounts_1h || ip.failed_accounts_1h >= 24) && ${isStrangersLogin}`,
    sentence:
      "Log-ins to {ip.failed_accounts_10m} accounts failed from one address within 10 minutes. Accounts that logged in from it within the hour: {ip.login_accounts_1h}.",
    label: "Bot",
    weight: 3.2,
    about: "address",
    state: "on",
  },
  {
    rule_id: "stuffing_slow",
    name: "Slow guessing from many addresses",
    // The owner may mistype the password, or come with a new phone, while somebody guesses. So a failure in a network that the
    // account uses needs more addresses, and a log-in must be unlike the earlier ones.
    expression: `${isLogin} && account.failed_ips_24h >= 4 && (account.device_is_new || !device.is_known) && !account.ip_is_known && (account.logins == 0 || (event.type == "login_failed" && (account.failed_ips_24h >= 6 || account.asn_is_new || event.asn == 0)) || (event.type == "login_succeeded" && (${isFarFromUsual("1.5")} || (login.history < 4 && event.country == ""))))`,
    sentence: "Log-ins to one account failed from {account.failed_ips_24h} addresses within a day.",
    label: "Bot",
    weight: 2.8,
    about: "campaign",
    state: "on",
  },
  {
    rule_id: "password_spraying",
    name: "Password spraying",
    expression: `${isLogin} && network.failed_accounts_1h >= 20 && network.ips_1h >= 3 && (network.failed_accounts_1h > 3 * network.login_accounts_1h || network.failed_accounts_1h >= 24) && ${isStrangersLogin}`,
    sentence:
      "Log-ins to {network.failed_accounts_1h} accounts failed from one network within an hour. Addresses used: {network.ips_1h}.",
    label: "Bot",
    weight: 3.2,
    about: "network",
    state: "on",
  },
];

const identities: DefaultRule[] = [
  {
    rule_id: "signups_device",
    name: "Many sign-ups on one device",
    expression: `event.type == "signup" && device.signups_24h >= 4`,
    sentence: "{device.signups_24h} sign-ups were made on one device within a day.",
    label: "Synthetic",
    weight: 3,
    about: "device",
    state: "on",
  },
  {
    rule_id: "signups_address",
    name: "Many sign-ups from one address",
    expression: `event.type == "signup" && (ip.signups_1h >= 8 || ip.block_signups_1h >= 16)`,
    sentence: "{ip.signups_1h} sign-ups were made from one address within an hour. From its IPv6 block: {ip.block_signups_1h}.",
    label: "Synthetic",
    weight: 2.7,
    about: "address",
    state: "on",
  },
  {
    rule_id: "signups_disposable",
    name: "Sign-ups with disposable e-mail",
    expression: `event.type == "signup" && event.email_is_disposable && (device.signups_24h >= 2 || ip.signups_24h >= 3)`,
    sentence:
      "An account signed up with a disposable e-mail address. Sign-ups within a day on its device: {device.signups_24h}, from its address: {ip.signups_24h}.",
    label: "Synthetic",
    weight: 2.8,
    about: "device",
    state: "on",
  },
];

const automation: DefaultRule[] = [
  {
    rule_id: "scripted_rhythm",
    name: "Scripted rhythm",
    expression: `event.origin == "browser" && ((session.gaps >= 8 && session.gap_spread < 0.15 && session.gap_mean_ms < 20000) || (session.gaps >= 16 && session.gap_spread < 0.4 && session.gap_mean_ms < 5000)) && !(session.has_inputs && session.inputs > 0)`,
    sentence: "Actions came every {session.gap_mean_ms} ms with almost no variation, which suggests a script.",
    label: "Bot",
    weight: 4,
    about: "account",
    state: "on",
  },
  {
    rule_id: "bot_past_login",
    name: "Automated browser past the log-in",
    // Anybody can cause a failed log-in, and some of a site's own activities, such as a request for a new password.
    expression: `account.is_known && event.type != "login_failed" && !(event.origin == "server" && event.type.startsWith("custom:")) && (event.is_bot_agent || session.is_webdriver)`,
    sentence:
      "A program uses the account. Bot user agent: {event.is_bot_agent}. Automation reported by the browser: {session.is_webdriver}.",
    label: "Bot",
    weight: 2.8,
    about: "account",
    state: "on",
  },
  {
    rule_id: "no_browser",
    name: "Session without a browser",
    expression: `event.origin == "server" && account.is_known && tenant.has_browser && session.is_known && !session.has_browser && login.ratio >= 0 && (${isMoney} || ${isChange})`,
    sentence: "No browser sent events in this session, although the site's pages normally do.",
    label: "Bot",
    // An ad blocker looks the same. So this rule adds to other reasons only: by itself it opens no case, and it does not fire
    // after a usual log-in.
    weight: 1,
    about: "account",
    state: "on",
  },
];

const history: DefaultRule[] = [
  {
    rule_id: "flagged_account_active",
    name: "Activity of a blocked or fraudulent account",
    expression: `(account.is_blocked || account.is_fraudulent) && (event.type == "login_succeeded" || ${isMoney} || ${isChange})`,
    sentence:
      "The account is flagged but active ({event.type}). Blocked: {account.is_blocked}. Fraudulent: {account.is_fraudulent}.",
    label: "Organic",
    weight: 3,
    about: "account",
    state: "on",
  },
  {
    // On a device that many people share, as in a library, one fraud says nothing about the other accounts. From 1,000
    // accounts on, the exact number is not known.
    rule_id: "linked_fraud",
    name: "Device of a confirmed fraud",
    expression: `device.confirmed_frauds_90d >= 1 && device.accounts_total <= 3 * device.confirmed_frauds_90d && device.accounts_total < 1000 && (event.type in ["login_succeeded", "signup"] || ${isMoney} || ${isChange})`,
    sentence:
      "Other accounts on this device with a fraud confirmed in the last 90 days: {device.confirmed_frauds_90d}. All accounts on the device: {device.accounts_total}.",
    label: "Synthetic",
    weight: 3,
    about: "account",
    state: "on",
  },
  {
    rule_id: "reported_fraud",
    name: "Reported fraud",
    expression: `event.type == "fraud_report"`,
    sentence: "Fraud was reported. A report opens a case whatever this rule's state is.",
    label: "Organic",
    weight: 6,
    about: "account",
    state: "on",
  },
];

export const defaultRules: readonly DefaultRule[] = [
  ...stuffing,
  ...takeoverRules,
  ...identities,
  ...misuseRules,
  ...automation,
  ...history,
];
