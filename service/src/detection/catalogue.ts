import { flag, never, number, ring, text, type FeatureValue, type Field } from "./field.ts";
import { entryFields, misuseFields, paymentFields } from "./payment-catalogue.ts";

export { never, ringSize, type FeatureValue, type Field, type FieldType } from "./field.ts";

const signedUp = "Distinct accounts that signed up. A sign-up that both a server and a page report counts once.";

const eventFields: Field[] = [
  text("00", "event.type", "Activity", "The activity's type, for example `login_succeeded` or `custom:add_to_cart`."),
  text("01", "event.origin", "Sent by", "`server` or `browser`."),
  number(
    "02",
    "event.value",
    "Amount",
    "The amount or, without one, the attribute `amount`, `value` or `_value`; 0 if there is none.",
  ),
  text("03", "event.country", "Country of the address", "Two letters, looked up by the address; empty if not known."),
  number("04", "event.asn", "Network number", "The address's autonomous system; 0 if not known."),
  text("05", "event.browser", "Browser", "From the user agent; empty if not known."),
  text("06", "event.os", "Operating system", "From the user agent; empty if not known."),
  flag("07", "event.is_bot_agent", "Bot user agent", "The user agent names a bot, a headless browser or a script."),
  flag(
    "08",
    "event.email_is_disposable",
    "Disposable e-mail",
    "The attribute `email` belongs to a provider of disposable addresses.",
  ),
  number("09", "event.signs", "Weak signs", "How many weak signs the browser's request showed, for example a wrong hash."),
  text(
    "2h",
    "event.source",
    "Source",
    "`server`, `verified_session` (a page whose user was confirmed) or `page` (anybody can send it).",
  ),
  { code: "0a", name: "event.attributes", type: "map", plain: "Attributes", description: "The activity's own attributes." },
];

const accountFields: Field[] = [
  flag(
    "0b",
    "account.is_known",
    "Account named",
    "Whether the activity names an account. If an unverified page named it, the other account fields are empty.",
  ),
  number("0c", "account.age_minutes", "Age of the account", "Minutes since the account was first seen."),
  flag("0d", "account.is_blocked", "Account blocked", "Whether the flag is set."),
  flag("0e", "account.is_quarantined", "Account quarantined", "Whether the flag is set."),
  flag("0f", "account.is_fraudulent", "Account marked fraudulent", "Whether the flag is set."),
  number("0g", "account.logins", "Log-ins before", "Successful log-ins before this event."),
  ring("0h", "account.events_1h", "Events in 1 hour", "Events of the account in the hour up to this one."),
  ring("0i", "account.events_24h", "Events in 24 hours", "Events of the account in the day up to this one."),
  ring("0j", "account.failed_logins_10m", "Failed log-ins in 10 minutes", "Failed log-ins on the account."),
  ring("0k", "account.failed_logins_1h", "Failed log-ins in 1 hour", "Failed log-ins on the account."),
  ring("0l", "account.failed_logins_24h", "Failed log-ins in 24 hours", "Failed log-ins on the account."),
  ring(
    "0m",
    "account.failed_ips_24h",
    "Addresses with failed log-ins in 24 hours",
    "Distinct addresses with a failed log-in on the account. An IPv6 /48 counts as one address.",
  ),
  ring("0n", "account.devices_1h", "Devices in 1 hour", "Distinct devices."),
  ring("0o", "account.devices_24h", "Devices in 24 hours", "Distinct devices."),
  ring("0p", "account.ips_1h", "Addresses in 1 hour", "Distinct addresses. An IPv6 /48 counts as one."),
  ring("0q", "account.ips_24h", "Addresses in 24 hours", "Distinct addresses. An IPv6 /48 counts as one."),
  ring("0r", "account.countries_24h", "Countries in 24 hours", "Distinct known countries of the addresses."),
  flag("0s", "account.device_is_new", "New device", "The account has log-ins, but none from this device."),
  flag(
    "2l",
    "account.ip_is_known",
    "Known address",
    "The account has logged in from this address. An IPv6 /64 counts as one address.",
  ),
  flag("0t", "account.country_is_new", "New country", "The account has log-ins from known countries, but none from this one."),
  flag("0u", "account.asn_is_new", "New network", "The account has log-ins from known networks, but none from this one."),
  number(
    "0v",
    "account.travel_kmh",
    "Speed of travel",
    "Between the place of the last log-in and the place of this one, in km/h; 0 if one of them is not known.",
  ),
  number(
    "0w",
    "account.minutes_since_other_country",
    "Minutes since another country",
    `Since its last log-in from another country; ${never} if there was none.`,
  ),
  number("0x", "account.values", "Amounts before", "How many earlier amounts of the account are known, up to 16."),
  number(
    "0y",
    "account.value_ratio",
    "Amount against the usual",
    "This amount divided by the account's median; 0 if fewer than 3 amounts are known.",
  ),
  number(
    "0z",
    "account.minutes_since_sensitive_change",
    "Minutes since a sensitive change",
    `Since a change of password, e-mail, MFA or payee; ${never} if there was none.`,
  ),
  text(
    "67",
    "account.last_sensitive_change",
    "Last sensitive change",
    "The type of the last change of password, e-mail, MFA or payee, for example `email_changed`; empty if there was none.",
  ),
  number("10", "account.reports", "Fraud reports", "Reports of fraud before this event."),
  number("11", "account.confirmed_frauds", "Confirmed frauds", "Cases of the account that were closed as confirmed fraud."),
  number("12", "account.false_positives", "False positives", "Cases of the account that were closed as false positives."),
];

const deviceFields: Field[] = [
  flag("13", "device.is_known", "Device named", "Whether the activity names a device."),
  number("14", "device.age_minutes", "Age of the device", "Minutes since the device was first seen."),
  ring("15", "device.accounts_10m", "Accounts on the device in 10 minutes", "Distinct accounts."),
  ring("16", "device.accounts_1h", "Accounts on the device in 1 hour", "Distinct accounts."),
  ring("17", "device.accounts_24h", "Accounts on the device in 24 hours", "Distinct accounts."),
  number(
    "18",
    "device.accounts_total",
    "Accounts on the device ever",
    "Distinct accounts that were ever active on the device, up to 1,000.",
  ),
  ring("19", "device.failed_logins_10m", "Failed log-ins on the device in 10 minutes", "On any account."),
  ring("1a", "device.failed_logins_1h", "Failed log-ins on the device in 1 hour", "On any account."),
  ring("1b", "device.failed_accounts_1h", "Accounts with failed log-ins on the device in 1 hour", "Distinct accounts."),
  ring("1c", "device.signups_1h", "Sign-ups on the device in 1 hour", signedUp),
  ring("1d", "device.signups_24h", "Sign-ups on the device in 24 hours", signedUp),
  ring("1e", "device.ips_1h", "Addresses of the device in 1 hour", "Distinct addresses."),
  ring("1f", "device.countries_24h", "Countries of the device in 24 hours", "Distinct known countries."),
  number(
    "1g",
    "device.confirmed_frauds",
    "Confirmed frauds on the device",
    "Other accounts of this device with a confirmed fraud. Frauds of strangers in these accounts count only on the stranger's device.",
  ),
  number(
    "2g",
    "device.confirmed_frauds_90d",
    "Frauds on the device confirmed in 90 days",
    "Other accounts of this device with a fraud that was confirmed in the 90 days before this event. Frauds of strangers in these accounts count only on the stranger's device.",
  ),
];

const addressFields: Field[] = [
  ring("1h", "ip.accounts_10m", "Accounts on the address in 10 minutes", "Distinct accounts."),
  ring("1i", "ip.accounts_1h", "Accounts on the address in 1 hour", "Distinct accounts."),
  ring("1j", "ip.devices_1h", "Devices on the address in 1 hour", "Distinct devices."),
  ring("1k", "ip.logins_1h", "Log-ins from the address in 1 hour", "Successful ones."),
  ring("2i", "ip.login_accounts_1h", "Accounts with log-ins from the address in 1 hour", "Distinct accounts that logged in."),
  ring("1l", "ip.failed_logins_10m", "Failed log-ins from the address in 10 minutes", "On any account."),
  ring("1m", "ip.failed_logins_1h", "Failed log-ins from the address in 1 hour", "On any account."),
  ring("1n", "ip.failed_accounts_10m", "Accounts with failed log-ins from the address in 10 minutes", "Distinct accounts."),
  ring("1o", "ip.failed_accounts_1h", "Accounts with failed log-ins from the address in 1 hour", "Distinct accounts."),
  ring("1p", "ip.signups_1h", "Sign-ups from the address in 1 hour", signedUp),
  ring("1q", "ip.signups_24h", "Sign-ups from the address in 24 hours", signedUp),
  ring(
    "2k",
    "ip.block_signups_1h",
    "Sign-ups from the IPv6 block in 1 hour",
    "Distinct accounts that signed up from the /48 of the address; 0 for IPv4.",
  ),
  ring(
    "1r",
    "network.failed_accounts_1h",
    "Accounts with failed log-ins from the network in 1 hour",
    "The network is the autonomous system or, if that is not known, the /24 or /48.",
  ),
  ring(
    "1s",
    "network.failed_logins_1h",
    "Failed log-ins from the network in 1 hour",
    "The network is the autonomous system or, if that is not known, the /24 or /48.",
  ),
  ring("1t", "network.logins_1h", "Log-ins from the network in 1 hour", "Successful ones."),
  ring(
    "2j",
    "network.login_accounts_1h",
    "Accounts with log-ins from the network in 1 hour",
    "Distinct accounts that logged in.",
  ),
  ring("1u", "network.ips_1h", "Addresses of the network in 1 hour", "Distinct addresses with log-ins, failed or not."),
];

const sessionFields: Field[] = [
  flag("1v", "session.is_known", "Session named", "Whether the activity names a session."),
  flag("1w", "session.has_browser", "Browser seen", "Whether a browser sent anything in this session."),
  number("1x", "session.age_seconds", "Age of the session", "Seconds since its first event."),
  number("1y", "session.events", "Events of the session", "This one included."),
  number("1z", "session.pages", "Pages", "Page views of the session."),
  number("20", "session.scrolls", "Scrolls", "Pages that were scrolled to the end."),
  number(
    "21",
    "session.engagement_seconds",
    "Engagement",
    "Seconds that the page was in the foreground, as the browser reports.",
  ),
  number(
    "22",
    "session.gaps",
    "Gaps between actions",
    "How many gaps between the site's own browser events are known, up to 31.",
  ),
  number(
    "23",
    "session.gap_spread",
    "Spread of the gaps",
    "Standard deviation divided by the mean. People are above 0.4. 9 if there are fewer than 8 gaps.",
  ),
  number(
    "24",
    "session.gap_mean_ms",
    "Mean gap",
    "Milliseconds between the site's own browser events; 0 if there are fewer than 8 gaps.",
  ),
  number(
    "25",
    "session.seconds_to_login",
    "Time to log-in",
    `Seconds from the first event to the log-in; ${never} if there was none yet.`,
  ),
  number("26", "session.accounts", "Accounts in the session", "Distinct accounts, up to 16."),
  number("27", "session.sensitive_changes", "Sensitive changes in the session", "Password, e-mail, MFA or payee."),
  flag("28", "session.is_webdriver", "Automated browser", "The browser reports that a program controls it."),
  flag("29", "session.has_inputs", "Input measured", "Whether the tag reported pointer, key and touch input."),
  number("2a", "session.inputs", "Inputs", "Pointer, key, touch and scroll inputs of the session."),
  flag(
    "2b",
    "session.began_on_new_device",
    "Session from a new device",
    "A log-in of this session was from a new device. If the session has no log-in, an unusual log-in that is not a habit of the account yet counts.",
  ),
  flag(
    "2c",
    "session.began_in_new_country",
    "Session from a new country",
    "A log-in of this session was from a new country. If the session has no log-in, an unusual log-in that is not a habit of the account yet counts.",
  ),
];

const otherFields: Field[] = [
  number(
    "2d",
    "login.ratio",
    "Unusual log-in",
    "Logarithm of how much likelier the session's log-in is for a stranger than for the owner. If the session has no log-in, an unusual log-in that is not a habit of the account yet counts; 0 if there is none.",
  ),
  number(
    "2e",
    "login.history",
    "Log-ins compared with",
    "How many earlier log-ins the ratio is based on. With fewer than 4, the ratio is 0.",
  ),
  flag(
    "2f",
    "tenant.has_browser",
    "Collector in use",
    "Whether browsers send events in most of the sessions that the tenant's servers report.",
  ),
];

// Every value that a rule can read. The compiler, the explanations, the reference for rule authors and the stored feature vectors
// are derived from this one table. A field that does not apply to an event has its type's zero, or `never`.
export const fields: readonly Field[] = [
  ...eventFields,
  ...accountFields,
  ...deviceFields,
  ...addressFields,
  ...sessionFields,
  ...otherFields,
  ...paymentFields,
  ...entryFields,
  ...misuseFields,
];

// Values by field name, without those that equal their field's zero. `event.attributes` is not included, because the event holds
// it.
export type Features = Record<string, FeatureValue>;

export function zeroOf({ type, name, zero }: Field): FeatureValue {
  if (zero !== undefined) return zero;
  if (name === "session.gap_spread") return 9;
  // The value in nearly all decisions, and in all that were stored before sources existed.
  if (name === "event.source") return "server";
  if (/minutes_since|seconds_to_login/.test(name)) return never;
  return type === "number" ? 0 : type === "string" ? "" : false;
}
