import type { RuleDefinition } from "../domain/rule.ts";
import { isMoney } from "./misuse-rules.ts";

export const isChange = `event.type in ["password_changed", "email_changed", "mfa_changed", "payee_added"]`;
// No earlier log-in of the account vouches for this device.
const isStrangeDevice = `(session.began_on_new_device || account.device_is_new || !device.is_known)`;

// A log-in that is unlike the account's earlier ones. With a short history the ratio says nothing, but a new country does.
export const isFarFromUsual = (ratio: string) => `(login.ratio >= ${ratio} || (login.history < 4 && account.country_is_new))`;

// Whether the user agent or the screen changed together with the network of the session.
const isSudden = (kind: "agent" | "screen") =>
  `(session.${kind}_changed && session.minutes_since_${kind}_change - session.minutes_since_network_change <= 2 && session.minutes_since_network_change - session.minutes_since_${kind}_change <= 2)`;

// Default rules about accounts that strangers use.
export const takeoverRules: (RuleDefinition & { rule_id: string })[] = [
  {
    rule_id: "success_after_failures",
    name: "Log-in after many failures",
    // Anybody can type wrong passwords before the owner logs in. On a device that the account has used, the rule needs a history,
    // so that a usual log-in lowers the score.
    expression: `event.type == "login_succeeded" && ((account.failed_logins_10m >= 10 && (account.device_is_new || !device.is_known || account.logins == 0 || login.history >= 4)) || (account.failed_logins_1h >= 5 && account.device_is_new))`,
    sentence:
      "A log-in succeeded after {account.failed_logins_1h} failed log-ins within an hour. New device: {account.device_is_new}.",
    label: "Account Takeover",
    weight: 3,
    about: "account",
    state: "on",
  },
  {
    rule_id: "guessed_login",
    name: "Unusual log-in while passwords are guessed",
    // Programs that try stolen passwords do not run the page's scripts, so they have no device. If the account's log-ins have
    // none either, the log-in must be more unusual.
    expression: `event.type == "login_succeeded" && tenant.guesses_1d >= 20 && tenant.guesses_ratio >= 5 && !device.is_known && !account.ip_is_known && ((account.device_is_missing && ${isFarFromUsual("1")}) || login.ratio >= 3)`,
    sentence:
      "An unusual log-in succeeded while strangers guess passwords from many addresses. Failed log-ins of strangers within a day: {tenant.guesses_1d}, far more than usual. The account's usual device is missing: {account.device_is_missing}.",
    label: "Account Takeover",
    weight: 2.7,
    about: "account",
    state: "on",
  },
  {
    rule_id: "stranger_changes_account",
    name: "Sensitive change from a new device in a new country",
    expression: `${isChange} && (session.began_on_new_device || account.device_is_new) && (session.began_in_new_country || account.country_is_new)`,
    sentence:
      "A sensitive change was made from a device and a country ({event.country}) that this account never logged in from: {event.type}.",
    label: "Account Takeover",
    weight: 4.2,
    about: "account",
    state: "on",
  },
  {
    rule_id: "change_after_unusual_login",
    name: "Sensitive change after an unusual log-in",
    expression: `${isChange} && login.ratio >= 1`,
    sentence: "A sensitive change was made after a log-in unlike the account's {login.history} earlier ones: {event.type}.",
    label: "Account Takeover",
    // With a new phone, owners often change their password. So the log-in must be more unusual before the rule opens a case alone.
    weight: 1.5,
    about: "account",
    state: "on",
  },
  {
    rule_id: "moved_session",
    name: "Session continued by another browser elsewhere",
    // Stolen cookies need no log-in. A browser that updates itself, a laptop on another network, a monitor at the office or a VPN
    // changes one thing in an honest session. Here two change at once, in a network that the account never logged in from.
    expression: `(${isMoney} || ${isChange}) && session.age_seconds <= 86400 && session.network_changed && (account.asn_is_new || event.asn == 0) && !account.ip_is_known && (${isSudden("agent")} || (${isSudden("screen")} && session.country_changed))`,
    sentence:
      "The session went on in another browser and another network ({event.country}) without a log-in: {event.type}. Minutes since the network changed: {session.minutes_since_network_change}. Country changed: {session.country_changed}. User agent changed: {session.agent_changed}.",
    label: "Account Takeover",
    // The log-in was the owner's, so it lowers the sum by up to 1.5.
    weight: 4.2,
    about: "account",
    state: "on",
  },
  {
    rule_id: "impossible_travel",
    name: "Impossible travel",
    expression: `event.type == "login_succeeded" && account.country_is_new && (account.device_is_new || !device.is_known) && (account.travel_kmh > 1000 || account.minutes_since_other_country < 60)`,
    sentence:
      "The log-in came too soon after one from another place. Speed of travel: {account.travel_kmh} km/h. Minutes since another country: {account.minutes_since_other_country}. The device is new or unknown.",
    label: "Account Takeover",
    weight: 3.2,
    about: "account",
    state: "on",
  },
  {
    rule_id: "dormant_account",
    name: "Unusual log-in to a dormant account",
    // Many owners come back with a new phone. So this rule adds to an unusual log-in, and opens no case by itself.
    expression: `event.type == "login_succeeded" && account.days_since_last_login >= 180 && login.ratio >= 1 && (account.device_is_new || !device.is_known) && (account.country_is_new || account.asn_is_new)`,
    sentence:
      "The account was not used for {account.days_since_last_login} days. Then somebody logged in from a new device and a new network. New country: {account.country_is_new}.",
    label: "Account Takeover",
    weight: 1.2,
    about: "account",
    state: "on",
  },
  {
    rule_id: "change_then_value",
    name: "Sensitive change, then a high amount",
    expression: `${isMoney} && account.minutes_since_sensitive_change <= 120 && (account.value_ratio >= 4 || (account.values < 3 && event.value >= 1000) || (session.began_on_new_device && account.value_ratio >= 2))`,
    sentence:
      "A {event.type} of {event.currency} {event.value} followed {account.minutes_since_sensitive_change} minutes after {account.last_sensitive_change}. Earlier payments of this account: {account.values}.",
    label: "Account Takeover",
    weight: 3.2,
    about: "account",
    state: "on",
  },
  {
    rule_id: "value_far_above_own",
    name: "Amount far above the account's own",
    expression: `${isMoney} && event.value >= 100 && ((account.value_ratio >= 10 && ${isStrangeDevice}) || (account.value_ratio >= 4 && login.ratio >= 1))`,
    sentence:
      "The amount {event.value} is {account.value_ratio} times the median of this account's {account.values} earlier amounts.",
    label: "Account Takeover",
    weight: 2.6,
    about: "account",
    state: "on",
  },
];
