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
