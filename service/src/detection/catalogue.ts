// Every value that a rule may read. One table: the compiler, the explanations, the reference for rule authors and the stored
// feature vectors are made from it, which know a field by its place in the table: new fields go to its end, and none may ever be
// taken out of its place. A field that does not apply to an event has its type's zero, or `never`.
export type FieldType = "number" | "string" | "boolean" | "map";

export type Field = {
  name: string;
  type: FieldType;
  // A few words, as an investigator would say it.
  plain: string;
  description: string;
  // Counted in a ring of the entity's last 64 events: it never exceeds that, so a higher threshold could never be met.
  isRing?: true;
};

// Minutes since something that has not happened.
export const never = 999_999;
export const ringSize = 64;

const number = (name: string, plain: string, description: string): Field => ({ name, type: "number", plain, description });
const ring = (name: string, plain: string, description: string): Field => ({ ...number(name, plain, description), isRing: true });
const flag = (name: string, plain: string, description: string): Field => ({ name, type: "boolean", plain, description });
const text = (name: string, plain: string, description: string): Field => ({ name, type: "string", plain, description });

const eventFields: Field[] = [
  text("event.type", "Activity", "The activity's type, as `login_succeeded` or `custom:add_to_cart`."),
  text("event.origin", "Sent by", "`server` or `browser`."),
  number("event.value", "Amount", "The attribute `amount`, `value` or `_value`; 0 where there is none."),
  text("event.country", "Country of the address", "Two letters, by the address; empty where it is not known."),
  number("event.asn", "Network number", "The address's autonomous system; 0 where it is not known."),
  text("event.browser", "Browser", "By the user agent; empty where it is not known."),
  text("event.os", "Operating system", "By the user agent; empty where it is not known."),
  flag("event.is_bot_agent", "Bot user agent", "The user agent names a bot, a head-less browser or a script."),
  flag("event.email_is_disposable", "Disposable e-mail", "The attribute `email` is at a provider of throw-away addresses."),
  number("event.signs", "Weak signs", "How many weak signs the browser's request showed, as a wrong hash."),
  { name: "event.attributes", type: "map", plain: "Attributes", description: "The activity's own attributes." },
];

const accountFields: Field[] = [
  flag(
    "account.is_known",
    "Account named",
    "Whether the activity names an account. Of an account that a page names without proof, nothing else is known.",
  ),
  number("account.age_minutes", "Age of the account", "Minutes since the account was first seen."),
  flag("account.is_blocked", "Account blocked", "The flag."),
  flag("account.is_quarantined", "Account quarantined", "The flag."),
  flag("account.is_fraudulent", "Account marked fraudulent", "The flag."),
  number("account.logins", "Log-ins before", "Successful log-ins before this event."),
  ring("account.events_1h", "Events in 1 hour", "Events of the account in the hour up to this one."),
  ring("account.events_24h", "Events in 24 hours", "Events of the account in the day up to this one."),
  ring("account.failed_logins_10m", "Failed log-ins in 10 minutes", "Failed log-ins on the account."),
  ring("account.failed_logins_1h", "Failed log-ins in 1 hour", "Failed log-ins on the account."),
  ring("account.failed_logins_24h", "Failed log-ins in 24 hours", "Failed log-ins on the account."),
  ring("account.failed_ips_24h", "Addresses that failed in 24 hours", "Distinct addresses with a failed log-in on the account."),
  ring("account.devices_1h", "Devices in 1 hour", "Distinct devices."),
  ring("account.devices_24h", "Devices in 24 hours", "Distinct devices."),
  ring("account.ips_1h", "Addresses in 1 hour", "Distinct addresses."),
  ring("account.ips_24h", "Addresses in 24 hours", "Distinct addresses."),
  ring("account.countries_24h", "Countries in 24 hours", "Distinct countries of the addresses, as far as they are known."),
  flag("account.device_is_new", "New device", "The account has log-ins, and none from this device."),
  flag("account.country_is_new", "New country", "The account has log-ins from known countries, and none from this one."),
  flag("account.asn_is_new", "New network", "The account has log-ins from known networks, and none from this one."),
  number("account.travel_kmh", "Speed of travel", "Between the last log-in's place and this one's; 0 where one is not known."),
  number(
    "account.minutes_since_other_country",
    "Minutes since another country",
    `Since its last log-in elsewhere; ${never}: none.`,
  ),
  number("account.values", "Amounts before", "How many earlier amounts of the account are known, to 16."),
  number("account.value_ratio", "Amount against the usual", "This amount over the account's median; 0 below 3 amounts."),
  number(
    "account.minutes_since_sensitive_change",
    "Minutes since a sensitive change",
    `Password, e-mail, MFA or payee; ${never}: none.`,
  ),
  number("account.reports", "Fraud reports", "Reports of fraud before this event."),
  number("account.confirmed_frauds", "Confirmed frauds", "Cases of the account that were closed as confirmed fraud."),
  number("account.false_positives", "False positives", "Cases of the account that were closed as false positives."),
];

const deviceFields: Field[] = [
  flag("device.is_known", "Device named", "Whether the activity names a device."),
  number("device.age_minutes", "Age of the device", "Minutes since the device was first seen."),
  ring("device.accounts_10m", "Accounts on the device in 10 minutes", "Distinct accounts."),
  ring("device.accounts_1h", "Accounts on the device in 1 hour", "Distinct accounts."),
  ring("device.accounts_24h", "Accounts on the device in 24 hours", "Distinct accounts."),
  number(
    "device.accounts_total",
    "Accounts on the device ever",
    "Distinct accounts that were ever active on the device, to 1,000.",
  ),
  ring("device.failed_logins_10m", "Failed log-ins on the device in 10 minutes", "On any account."),
  ring("device.failed_logins_1h", "Failed log-ins on the device in 1 hour", "On any account."),
  ring("device.failed_accounts_1h", "Accounts with failed log-ins on the device in 1 hour", "Distinct accounts."),
  ring(
    "device.signups_1h",
    "Sign-ups on the device in 1 hour",
    "Distinct accounts that signed up: a server and a page may both tell of one.",
  ),
  ring(
    "device.signups_24h",
    "Sign-ups on the device in 24 hours",
    "Distinct accounts that signed up: a server and a page may both tell of one.",
  ),
  ring("device.ips_1h", "Addresses of the device in 1 hour", "Distinct addresses."),
  ring("device.countries_24h", "Countries of the device in 24 hours", "Distinct countries, as far as they are known."),
  number("device.confirmed_frauds", "Confirmed frauds on the device", "Other accounts of this device with a confirmed fraud."),
];

const addressFields: Field[] = [
  ring("ip.accounts_10m", "Accounts on the address in 10 minutes", "Distinct accounts."),
  ring("ip.accounts_1h", "Accounts on the address in 1 hour", "Distinct accounts."),
  ring("ip.devices_1h", "Devices on the address in 1 hour", "Distinct devices."),
  ring("ip.logins_1h", "Log-ins from the address in 1 hour", "Successful ones."),
  ring("ip.failed_logins_10m", "Failed log-ins from the address in 10 minutes", "On any account."),
  ring("ip.failed_logins_1h", "Failed log-ins from the address in 1 hour", "On any account."),
  ring("ip.failed_accounts_10m", "Accounts with failed log-ins from the address in 10 minutes", "Distinct accounts."),
  ring("ip.failed_accounts_1h", "Accounts with failed log-ins from the address in 1 hour", "Distinct accounts."),
  ring(
    "ip.signups_1h",
    "Sign-ups from the address in 1 hour",
    "Distinct accounts that signed up: a server and a page may both tell of one.",
  ),
  ring(
    "ip.signups_24h",
    "Sign-ups from the address in 24 hours",
    "Distinct accounts that signed up: a server and a page may both tell of one.",
  ),
  ring(
    "network.failed_accounts_1h",
    "Accounts with failed log-ins from the network in 1 hour",
    "By autonomous system, else /24 or /48.",
  ),
  ring("network.failed_logins_1h", "Failed log-ins from the network in 1 hour", "By autonomous system, else /24 or /48."),
  ring("network.logins_1h", "Log-ins from the network in 1 hour", "Successful ones."),
  ring("network.ips_1h", "Addresses of the network in 1 hour", "Distinct addresses with log-ins, failed or not."),
];

const sessionFields: Field[] = [
  flag("session.is_known", "Session named", "Whether the activity names a session."),
  flag("session.has_browser", "Browser seen", "Whether a browser sent anything in this session."),
  number("session.age_seconds", "Age of the session", "Seconds since its first event."),
  number("session.events", "Events of the session", "This one included."),
  number("session.pages", "Pages", "Page views of the session."),
  number("session.scrolls", "Scrolls", "Pages that were scrolled to the end."),
  number("session.engagement_seconds", "Engagement", "Seconds that the page was in front, as the browser says."),
  number("session.gaps", "Gaps between actions", "How many gaps between the site's own browser events are known, to 31."),
  number("session.gap_spread", "Spread of the gaps", "Standard deviation over mean; people are above 0.4. 9 below 8 gaps."),
  number("session.gap_mean_ms", "Mean gap", "Milliseconds between the site's own browser events; 0 below 8 gaps."),
  number("session.seconds_to_login", "Time to log-in", `Seconds from the first event to the log-in; ${never}: none yet.`),
  number("session.accounts", "Accounts in the session", "Distinct accounts, to 16."),
  number("session.sensitive_changes", "Sensitive changes in the session", "Password, e-mail, MFA or payee."),
  flag("session.is_webdriver", "Automated browser", "The browser says that a program drives it."),
  flag("session.has_inputs", "Input measured", "Whether the tag told of pointer, key and touch input."),
  number("session.inputs", "Inputs", "Pointer, key, touch and scroll inputs of the session."),
  flag("session.began_on_new_device", "Session from a new device", "A log-in of this session was from a new device."),
  flag("session.began_in_new_country", "Session from a new country", "A log-in of this session was from a new country."),
];

const otherFields: Field[] = [
  number(
    "login.ratio",
    "Unusual log-in",
    "Log of how much likelier the session's log-in is for a stranger than for the owner; 0 where there was none.",
  ),
  number("login.history", "Log-ins compared with", "How many earlier log-ins the ratio rests on; under 4 it is 0."),
  flag(
    "tenant.has_browser",
    "Collector in use",
    "Whether a browser is heard in most sessions that the tenant's servers tell of.",
  ),
  text("event.source", "Believed as", "`server`, `verified_session` (a page whose user was confirmed) or `page` (anybody)."),
];

export const fields: readonly Field[] = [
  ...eventFields,
  ...accountFields,
  ...deviceFields,
  ...addressFields,
  ...sessionFields,
  ...otherFields,
];

export type FeatureValue = string | number | boolean;
// By name, and only where the value is not the field's zero. `event.attributes` is not among them: the event holds it.
export type Features = Record<string, FeatureValue>;

export function zeroOf({ type, name }: Field): FeatureValue {
  if (name === "session.gap_spread") return 9;
  // Of nearly all decisions, and of all that were stored before there were sources.
  if (name === "event.source") return "server";
  if (/minutes_since|seconds_to_login/.test(name)) return never;
  return type === "number" ? 0 : type === "string" ? "" : false;
}
