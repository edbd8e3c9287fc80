import { flag, never, number, since, text, type Field } from "./field.ts";

// Fields of payments. They have a value only if a server reports the payment or transfer with its own members, such as
// `payee_id`.
const windowWords = "Includes this payment, but no declined payments.";
const currencyWords = "Only payments in the currency of this payment.";
const fraudWords = "Counted on the day of the activity, no matter when the fraud became known.";
const zWords =
  "How many standard deviations the amount is above the account's mean in that currency. Unusual amounts change the mean only little. 0 if fewer than 3 payments are known.";

const eventFields: Field[] = [
  number("30", "event.hour", "Hour of the day", "0 to 23, in the tenant's time zone."),
  flag("31", "event.is_weekend", "Weekend", "Saturday or Sunday, in the tenant's time zone."),
  text("32", "event.status", "Status of the payment", "`attempted`, `approved` or `declined`; empty if not given."),
  text("33", "event.currency", "Currency", "For example EUR; empty if not given."),
  text("34", "event.instrument_type", "Type of the instrument", "For example `card`; empty if not given."),
];

const accountFields: Field[] = [
  since(
    "35",
    "account.minutes_since_payment",
    "Minutes since the last payment",
    `Since the account's last payment; ${never} if there was none.`,
  ),
  number("36", "account.payments_1d", "Payments in 1 day", windowWords),
  number("37", "account.payments_7d", "Payments in 7 days", windowWords),
  number("38", "account.payments_30d", "Payments in 30 days", windowWords),
  number("39", "account.amount_mean_1d", "Mean amount in 1 day", currencyWords),
  number("3a", "account.amount_mean_7d", "Mean amount in 7 days", currencyWords),
  number("3b", "account.amount_mean_30d", "Mean amount in 30 days", currencyWords),
  number("3c", "account.amount_z", "Deviation of the amount", zWords),
  number(
    "3d",
    "account.amount_ratio",
    "Amount compared with the mean",
    "This amount divided by the account's mean in that currency; 0 if fewer than 3 payments are known.",
  ),
  number(
    "3e",
    "account.high_amounts_7d",
    "High amounts in 7 days",
    "Earlier amounts more than 2 standard deviations above the mean.",
  ),
  number(
    "3f",
    "account.high_amounts_14d",
    "High amounts in 14 days",
    "Earlier amounts more than 2 standard deviations above the mean.",
  ),
  number(
    "3g",
    "account.very_high_amounts_7d",
    "Very high amounts in 7 days",
    "Earlier amounts more than 3 standard deviations above the mean.",
  ),
  number(
    "3h",
    "account.very_high_amounts_14d",
    "Very high amounts in 14 days",
    "Earlier amounts more than 3 standard deviations above the mean.",
  ),
  number(
    "3i",
    "account.amount_z_max_7d",
    "Highest deviation in 7 days",
    "The highest deviation among the account's earlier amounts.",
  ),
  number("3j", "account.frauds_7d", "Known frauds in 7 days", fraudWords),
  number("3k", "account.frauds_14d", "Known frauds in 14 days", fraudWords),
  number("3l", "account.frauds_28d", "Known frauds in 28 days", fraudWords),
  since(
    "3m",
    "account.days_since_fraud",
    "Days since a known fraud",
    `Since the account's last known fraud; ${never} if there was none in 30 days.`,
  ),
  number("3n", "account.declined_1d", "Declined payments in 1 day", "Declined payments of the account, including this one."),
  flag("3o", "account.payee_is_new", "New payee", "The account has paid others, but never this payee. 64 payees are remembered."),
  flag(
    "3p",
    "account.instrument_is_new",
    "New instrument",
    "The account has paid with other instruments, but never with this one. 16 instruments are remembered.",
  ),
  number("3q", "device.frauds_28d", "Known frauds on the device in 28 days", fraudWords),
  since("3r", "device.days_since_fraud", "Days since a known fraud on the device", `${never} if there was none in 30 days.`),
];

const ratioWords =
  "The log-likelihood ratio of this many new accounts: a higher rate compared with the usual rate. 0 if there are not more than usual.";

type Party = { of: string; plain: string; fresh: string };
const payee: Party = { of: "payee", plain: "payee", fresh: "Accounts that paid this payee for the first time." };
const instrument: Party = {
  of: "instrument",
  plain: "instrument",
  fresh: "Accounts that paid with this instrument for the first time.",
};

// One code per field, in the order of the fields.
function partyFields({ of, plain, fresh }: Party, codes: readonly string[]): Field[] {
  const made: [make: typeof number, name: string, plain: string, description: string][] = [
    [flag, "is_known", `The payment names its ${plain}`, `Whether the payment names its ${plain}.`],
    [number, "payments_1d", `Payments of the ${plain} in 1 day`, windowWords],
    [number, "payments_7d", `Payments of the ${plain} in 7 days`, windowWords],
    [number, "payments_28d", `Payments of the ${plain} in 28 days`, windowWords],
    [number, "declined_1d", `Declined payments of the ${plain} in 1 day`, "Includes this payment."],
    [number, "frauds_3d", `Known frauds of the ${plain} in 3 days`, fraudWords],
    [number, "frauds_7d", `Known frauds of the ${plain} in 7 days`, fraudWords],
    [number, "frauds_14d", `Known frauds of the ${plain} in 14 days`, fraudWords],
    [number, "frauds_28d", `Known frauds of the ${plain} in 28 days`, fraudWords],
    [
      number,
      "fraud_rate",
      `Fraud rate of the ${plain}`,
      "The share of known frauds among its payments. Payments of the newest days count only as far as the tenant's frauds of those days are already known. With few payments, it is close to the tenant's overall rate. 0 if the tenant has no known fraud.",
    ],
    [
      number,
      "compromise",
      `Signs that the ${plain} is abused`,
      "The log-odds that it is being abused now, given its known frauds and honest payments of the last 30 days. 0 if there is no evidence, or if the tenant has no known fraud.",
    ],
    [number, "days_since_first", `Days since the first payment of the ${plain}`, "Whole days."],
    [since, "days_since_last", `Days since the last payment of the ${plain}`, `${never} if this is the first payment.`],
    [since, "days_since_fraud", `Days since a known fraud of the ${plain}`, `${never} if there was none in 30 days.`],
    [number, "new_accounts_24h", `New accounts of the ${plain} in 24 hours`, fresh],
    [number, "new_ratio_1h", `Unusually many new accounts of the ${plain} in 1 hour`, ratioWords],
    [number, "new_ratio_24h", `Unusually many new accounts of the ${plain} in 24 hours`, ratioWords],
    [number, "new_ratio_7d", `Unusually many new accounts of the ${plain} in 7 days`, ratioWords],
    [number, "new_ratio_28d", `Unusually many new accounts of the ${plain} in 28 days`, ratioWords],
    [
      since,
      "days_since_first_fraud",
      `Days since the first known fraud of the ${plain}`,
      `Since the first known fraud of the last 30 days; ${never} if there was none.`,
    ],
    [
      number,
      "fraud_rate_7d",
      `Recent fraud rate of the ${plain}`,
      "Like the fraud rate, but without payments from before the last 7 days for which frauds are known.",
    ],
  ];
  return made.map(([make, name, words, description], index) => make(codes[index] ?? "", `${of}.${name}`, words, description));
}

const payeeCodes = "40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 4g 4h 4i 4y 4z".split(" ");
const instrumentCodes = "50 51 52 53 54 55 56 57 58 59 5a 5b 5c 5d 5e 5f 5g 5h 5i 5m 5n".split(" ");

export const paymentFields: readonly Field[] = [
  ...eventFields,
  ...accountFields,
  ...partyFields(payee, payeeCodes),
  ...partyFields(instrument, instrumentCodes),
  number("5j", "instrument.accounts", "Accounts of the instrument", "Distinct accounts that have paid with it, up to 64."),
];

// Fields about many payments of the tenant together.
export const misuseFields: readonly Field[] = [
  number(
    "64",
    "tenant.guesses_1d",
    "Failed log-ins of strangers in 1 day",
    "Failed log-ins from an address and a device that the account never logged in from, over all accounts of the tenant. Of one address at most 3 are counted within an hour, and of one network at most 10. Only log-ins that a server reports have this field.",
  ),
  number(
    "65",
    "tenant.guesses_ratio",
    "Unusually many failed log-ins of strangers",
    "The log-likelihood ratio of this many failed log-ins of strangers: a higher share of the accounts that log in, compared with twice the usual share, which is that of the median day. 0 if there are not more than that.",
  ),
  number(
    "60",
    "tenant.card_tests_1d",
    "Declined new instruments in 1 day",
    "How many instruments were declined within a day of their first use, over all payments of the tenant. Each instrument counts once. 0 if the instrument of this payment is older.",
  ),
  number(
    "61",
    "tenant.card_tests_ratio",
    "Unusually many declined new instruments",
    "The log-likelihood ratio of this many declined new instruments: a higher share compared with twice the usual share, which is that of the median day. 0 if there are not more than that.",
  ),
  number(
    "62",
    "payee.strangers_7d",
    "New payers after an unusual log-in in 7 days",
    "Accounts that paid this payee for the first time, after a log-in with a `login.ratio` of 1 or more.",
  ),
  number(
    "63",
    "payee.strangers_ratio_7d",
    "Unusually many new payers after an unusual log-in",
    "The log-likelihood ratio of this many such accounts: a higher share compared with twice the share at the tenant's other payees. 0 if there are not more than that.",
  ),
];

// Fields of sign-ups and log-ins that a server reports.
type Place = { of: string; plain: string; what: string; codes: readonly string[] };
const places: Place[] = [
  {
    of: "mailbox",
    plain: "similar mailboxes",
    what: "Accounts that signed up with a similar e-mail address: the same domain, and the same letters if digits, dots and everything after a plus sign are ignored.",
    codes: ["4j", "4k", "4l", "4m", "4n"],
  },
  {
    of: "look",
    plain: "the same kind of browser",
    what: "Accounts that signed up, or logged in on a new device, with the same screen, time zone, language, browser and system.",
    codes: ["4o", "4p", "4q", "4r", "4s"],
  },
  {
    of: "block",
    plain: "an address in the same block",
    what: "Accounts that signed up, or logged in on a new device, from the same /24 or /48.",
    codes: ["4t", "4u", "4v", "4w", "4x"],
  },
];

function placeFields({ of, plain, what, codes }: Place): Field[] {
  const [counted = "", ...ratios] = codes;
  const spans = ["1h", "24h", "7d", "28d"];
  return [
    number(counted, `${of}.new_accounts_24h`, `New accounts with ${plain} in 24 hours`, what),
    ...ratios.map((code, index) =>
      number(
        code,
        `${of}.new_ratio_${spans[index] ?? ""}`,
        `Unusually many new accounts with ${plain} in ${spans[index] ?? ""}`,
        ratioWords,
      ),
    ),
  ];
}

const changed = "Whether it has changed since the session began. Only reports of servers and of verified sessions count.";
const sinceChange = `In the session; ${never} if it did not change.`;

export const entryFields: readonly Field[] = [
  ...places.flatMap(placeFields),
  flag(
    "66",
    "account.device_is_missing",
    "Device missing",
    "A log-in without a device, although at least half of the account's log-ins had one.",
  ),
  number(
    "3s",
    "account.days_since_last_login",
    "Days since the last log-in",
    "Whole days since the previous log-in. Unusual log-ins do not count until they are a habit of the account. 0 if there is none.",
  ),
  flag("3t", "session.network_changed", "Network changed in the session", changed),
  flag("3u", "session.country_changed", "Country changed in the session", changed),
  flag("3v", "session.agent_changed", "User agent changed in the session", changed),
  flag("3w", "session.screen_changed", "Screen changed in the session", changed),
  since("3x", "session.minutes_since_network_change", "Minutes since the network changed", sinceChange),
  since("3y", "session.minutes_since_country_change", "Minutes since the country changed", sinceChange),
  since("3z", "session.minutes_since_agent_change", "Minutes since the user agent changed", sinceChange),
  since("5k", "session.minutes_since_screen_change", "Minutes since the screen changed", sinceChange),
  number(
    "5l",
    "device.fraud_share_90d",
    "Share of accounts with a fraud on the device",
    "Other accounts on the device with a fraud confirmed in the last 90 days, divided by all accounts on the device. 0 if the device has 1,000 or more accounts.",
  ),
];
