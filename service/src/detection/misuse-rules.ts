import type { RuleDefinition } from "../domain/rule.ts";

export const isMoney = `event.type in ["payment", "transfer"]`;

// Default rules about many payments or sign-ups together.
export const misuseRules: (RuleDefinition & { rule_id: string })[] = [
  {
    rule_id: "card_testing",
    name: "Card testing",
    // Most new cards of honest customers work. So the share of declined new cards is compared with the tenant's usual share.
    expression: `${isMoney} && event.status == "declined" && instrument.is_known && instrument.days_since_first < 1 && tenant.card_tests_1d >= 8 && tenant.card_tests_ratio >= 5`,
    sentence:
      "{tenant.card_tests_1d} instruments that had never been used here before were declined within a day, far more than usual.",
    label: "Bot",
    weight: 2.8,
    about: "campaign",
    state: "on",
  },
  {
    rule_id: "instrument_many_accounts",
    name: "One instrument used by several accounts",
    expression: `${isMoney} && instrument.new_accounts_24h >= 3 && instrument.new_ratio_24h >= 1.2`,
    sentence: "{instrument.new_accounts_24h} accounts paid with one instrument for the first time within a day.",
    label: "Synthetic",
    weight: 2.7,
    about: "instrument",
    state: "on",
  },
  {
    rule_id: "instrument_known_fraud",
    name: "Instrument of a known fraud",
    expression: `${isMoney} && instrument.frauds_28d >= 1 && instrument.compromise >= 2`,
    sentence:
      "Known frauds with this instrument in the last 28 days: {instrument.frauds_28d}. Its payments in that time: {instrument.payments_28d}.",
    label: "Organic",
    weight: 2.7,
    about: "instrument",
    state: "on",
  },
  {
    rule_id: "payee_strangers",
    name: "Payee of several taken-over accounts",
    expression: `${isMoney} && login.ratio >= 1 && payee.strangers_7d >= 3 && payee.strangers_ratio_7d >= 2`,
    sentence: "{payee.strangers_7d} accounts paid this payee for the first time within 7 days, each after an unusual log-in.",
    label: "Account Takeover",
    weight: 2.7,
    about: "payee",
    state: "on",
  },
  {
    rule_id: "payee_known_fraud",
    name: "Payee of known frauds",
    // Labels come late, so the honest payments of the newest days do not count in `compromise`. Without the last condition, two
    // frauds that were reported at once made a payee with 28,000 payments suspicious.
    expression: `${isMoney} && payee.frauds_28d >= 2 && payee.compromise >= 3 && payee.payments_28d <= 250 * payee.frauds_28d`,
    sentence:
      "Known frauds to this payee in the last 28 days: {payee.frauds_28d}. Its payments in that time: {payee.payments_28d}.",
    label: "Organic",
    weight: 2.7,
    about: "payee",
    state: "on",
  },
  {
    rule_id: "signups_mailbox",
    name: "Many sign-ups with similar e-mail addresses",
    expression: `event.type == "signup" && mailbox.new_accounts_24h >= 4 && mailbox.new_ratio_24h >= 2.5`,
    sentence:
      "{mailbox.new_accounts_24h} accounts signed up within a day with e-mail addresses that differ only by digits, dots or a part after a plus sign.",
    label: "Synthetic",
    weight: 2.7,
    about: "campaign",
    state: "on",
  },
];
