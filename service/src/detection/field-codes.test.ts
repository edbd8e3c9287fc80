import { expect, test } from "vitest";
import { fields } from "./catalogue.ts";
import { placesOf } from "./vector.ts";

// Every code that was ever assigned, with its field. Decisions are stored under these codes. Add a line for a new field. Never
// change a line, and keep the line of a removed field, so that its code is not reused.
const given = `
00 event.type
01 event.origin
02 event.value
03 event.country
04 event.asn
05 event.browser
06 event.os
07 event.is_bot_agent
08 event.email_is_disposable
09 event.signs
0a event.attributes
0b account.is_known
0c account.age_minutes
0d account.is_blocked
0e account.is_quarantined
0f account.is_fraudulent
0g account.logins
0h account.events_1h
0i account.events_24h
0j account.failed_logins_10m
0k account.failed_logins_1h
0l account.failed_logins_24h
0m account.failed_ips_24h
0n account.devices_1h
0o account.devices_24h
0p account.ips_1h
0q account.ips_24h
0r account.countries_24h
0s account.device_is_new
0t account.country_is_new
0u account.asn_is_new
0v account.travel_kmh
0w account.minutes_since_other_country
0x account.values
0y account.value_ratio
0z account.minutes_since_sensitive_change
10 account.reports
11 account.confirmed_frauds
12 account.false_positives
13 device.is_known
14 device.age_minutes
15 device.accounts_10m
16 device.accounts_1h
17 device.accounts_24h
18 device.accounts_total
19 device.failed_logins_10m
1a device.failed_logins_1h
1b device.failed_accounts_1h
1c device.signups_1h
1d device.signups_24h
1e device.ips_1h
1f device.countries_24h
1g device.confirmed_frauds
1h ip.accounts_10m
1i ip.accounts_1h
1j ip.devices_1h
1k ip.logins_1h
1l ip.failed_logins_10m
1m ip.failed_logins_1h
1n ip.failed_accounts_10m
1o ip.failed_accounts_1h
1p ip.signups_1h
1q ip.signups_24h
1r network.failed_accounts_1h
1s network.failed_logins_1h
1t network.logins_1h
1u network.ips_1h
1v session.is_known
1w session.has_browser
1x session.age_seconds
1y session.events
1z session.pages
20 session.scrolls
21 session.engagement_seconds
22 session.gaps
23 session.gap_spread
24 session.gap_mean_ms
25 session.seconds_to_login
26 session.accounts
27 session.sensitive_changes
28 session.is_webdriver
29 session.has_inputs
2a session.inputs
2b session.began_on_new_device
2c session.began_in_new_country
2d login.ratio
2e login.history
2f tenant.has_browser
2g device.confirmed_frauds_90d
2h event.source
2i ip.login_accounts_1h
2j network.login_accounts_1h
2k ip.block_signups_1h
2l account.ip_is_known
30 event.hour
31 event.is_weekend
32 event.status
33 event.currency
34 event.instrument_type
35 account.minutes_since_payment
36 account.payments_1d
37 account.payments_7d
38 account.payments_30d
39 account.amount_mean_1d
3a account.amount_mean_7d
3b account.amount_mean_30d
3c account.amount_z
3d account.amount_ratio
3e account.high_amounts_7d
3f account.high_amounts_14d
3g account.very_high_amounts_7d
3h account.very_high_amounts_14d
3i account.amount_z_max_7d
3j account.frauds_7d
3k account.frauds_14d
3l account.frauds_28d
3m account.days_since_fraud
3n account.declined_1d
3o account.payee_is_new
3p account.instrument_is_new
3q device.frauds_28d
3r device.days_since_fraud
3s account.days_since_last_login
3t session.network_changed
3u session.country_changed
3v session.agent_changed
3w session.screen_changed
3x session.minutes_since_network_change
3y session.minutes_since_country_change
3z session.minutes_since_agent_change
40 payee.is_known
41 payee.payments_1d
42 payee.payments_7d
43 payee.payments_28d
44 payee.declined_1d
45 payee.frauds_3d
46 payee.frauds_7d
47 payee.frauds_14d
48 payee.frauds_28d
49 payee.fraud_rate
4a payee.compromise
4b payee.days_since_first
4c payee.days_since_last
4d payee.days_since_fraud
4e payee.new_accounts_24h
4f payee.new_ratio_1h
4g payee.new_ratio_24h
4h payee.new_ratio_7d
4i payee.new_ratio_28d
4j mailbox.new_accounts_24h
4k mailbox.new_ratio_1h
4l mailbox.new_ratio_24h
4m mailbox.new_ratio_7d
4n mailbox.new_ratio_28d
4o look.new_accounts_24h
4p look.new_ratio_1h
4q look.new_ratio_24h
4r look.new_ratio_7d
4s look.new_ratio_28d
4t block.new_accounts_24h
4u block.new_ratio_1h
4v block.new_ratio_24h
4w block.new_ratio_7d
4x block.new_ratio_28d
4y payee.days_since_first_fraud
4z payee.fraud_rate_7d
50 instrument.is_known
51 instrument.payments_1d
52 instrument.payments_7d
53 instrument.payments_28d
54 instrument.declined_1d
55 instrument.frauds_3d
56 instrument.frauds_7d
57 instrument.frauds_14d
58 instrument.frauds_28d
59 instrument.fraud_rate
5a instrument.compromise
5b instrument.days_since_first
5c instrument.days_since_last
5d instrument.days_since_fraud
5e instrument.new_accounts_24h
5f instrument.new_ratio_1h
5g instrument.new_ratio_24h
5h instrument.new_ratio_7d
5i instrument.new_ratio_28d
5j instrument.accounts
5k session.minutes_since_screen_change
5l device.fraud_share_90d
5m instrument.days_since_first_fraud
5n instrument.fraud_rate_7d
60 tenant.card_tests_1d
61 tenant.card_tests_ratio
62 payee.strangers_7d
63 payee.strangers_ratio_7d
64 tenant.guesses_1d
65 tenant.guesses_ratio
66 account.device_is_missing
67 account.last_sensitive_change
`;

const pairs = given
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

test("catalogue: every field has the code that was assigned to it", () => {
  const byName = new Map(pairs.map(([code, name]) => [name, code]));
  expect(fields.map(({ code, name }) => `${code} ${name}`)).toEqual(fields.map(({ name }) => `${byName.get(name)} ${name}`));
  expect(new Set(pairs.map(([code]) => code)).size).toBe(pairs.length);
  expect(fields.filter(({ code }) => !/^[0-9a-z]{2}$/.test(code))).toEqual([]);
});

test("catalogue: inserting a field in the middle changes no other field's code", () => {
  const added = { code: "zz", name: "session.clicks", type: "number" as const, plain: "Clicks", description: "Clicks." };
  const middle = fields.findIndex(({ name }) => name === "session.pages");
  const places = placesOf([...fields.slice(0, middle), added, ...fields.slice(middle)]);
  expect(places.filter(({ name }) => name !== added.name)).toEqual(placesOf(fields));
  expect(places.find(({ name }) => name === added.name)?.code).toBe("zz");
});

test("catalogue: two fields with the same code or the same name are rejected", () => {
  const [first, ...others] = fields;
  if (!first) throw new Error("the catalogue is empty");
  expect(() => placesOf([first, { ...first, name: "event.other" }, ...others])).toThrow("the catalogue has two fields with 00");
  expect(() => placesOf([first, { ...first, code: "zz" }, ...others])).toThrow("the catalogue has two fields with event.type");
});
