const buckets = "level, total_events, session_starts, sessions, identified, ids";

// Every table that expires, with its time column and a row: $1 is the tenant, $2 an id, $3 the time.
export const sweptRows: Record<string, { column: string; into: string; values: string }> = {
  activity_ids: { column: "received_on", into: "id_key, content", values: "$2, 0" },
  assessments: { column: "received_at", into: "id_key, prediction_id, fingerprint", values: "$2, $2, ''" },
  unscorable: { column: "received_at", into: "id_key, activity, fault, failed_at", values: "$2, '{}', 'x', '2020-01-01'" },
  history: { column: "received_at", into: "id_key, activity, actor", values: "$2, '{}', 'x'" },
  sessions: { column: "last_at", into: "session_id, started_at, facts", values: "$2, '2020-01-01', '{}'" },
  labels: {
    column: "received_at",
    into: "id_key, source, case_id, y, weight, event_at, labelled_at, known_at, actor",
    values: "$2, 'api', $2, 1, 1, '2020-01-01', '2020-01-01', '2020-01-01', 'x'",
  },
  random_checks: {
    column: "received_at",
    into: "case_id, id_key, type, weight, chosen_at",
    values: "$2, $2, 'payment', 1, '2020-01-01'",
  },
  links: { column: "last_seen", into: "kind, a, b, first_seen", values: "'account-ip', $2, 'b', '2020-01-01'" },
  rule_subjects: {
    column: "last_at",
    into: "rule_id, is_shadow, subject, hits, first_at, last_activity",
    values: "'rule', false, $2, 1, '2020-01-01', '{}'",
  },
  case_members: { column: "seen_at", into: "case_id, website_account_id, state", values: "$2, 'a', 'attacked'" },
  snoozes: {
    column: "until",
    into: "snooze_id, case_id, subject, scope, rules, score, size, created_at, created_by",
    values: "$2, $2, 'account:a', 'account', '{rule}', 3, 0, '2020-01-01', 'x'",
  },
  approvals: {
    column: "expires_at",
    into: "approval_id, status, closing, because, cases, note, requested_at, requested_by, requested_by_id",
    values: "$2, 'PENDING', '{}', '{}', 1, '', '2020-01-01', 'x', $2",
  },
  approval_cases: { column: "expires_at", into: "approval_id, position, case_id, case_version", values: "$2, 1, $2, 1" },
  case_leases: { column: "expires_at", into: "case_id, claimed_by, claimed_at", values: "$2, 'x', '2020-01-01'" },
  notices: {
    column: "created_at",
    into: "user_id, notice_id, kind, case_id, created_by",
    values: "$2, $2, 'mention', $2, 'x'",
  },
  notification_mails: {
    column: "created_at",
    into: "mail_id, user_id, kind, after_event, last_event, state, attempts, next_at",
    values: "$2, $2, 'digest', 0, 0, 'SENT', 1, '2020-01-01'",
  },
  case_traits: { column: "seen_at", into: "trait, rule_id, case_id, size", values: "$2, 'rule', $2, 1" },
  list_entries: {
    column: "expires_at",
    into: "list_name, key, value, added_at, added_by, revision",
    values: "'a', $2, $2, '2020-01-01', 'x', 1",
  },
  list_removals: { column: "removed_at", into: "revision, list_name, key", values: "1, 'a', $2" },
  rule_hits: { column: "day", into: "rule_id, is_shadow, hits", values: "$2, false, 1" },
  user_agents: { column: "last_seen", into: "agent_key, user_agent", values: "hashtextextended($2::text, 0), 'x'" },
  entity_states: { column: "touched_on", into: "kind, key, ring, facts", values: "'device', $2, '', '{}'" },
  account: { column: "touched_on", into: "kind, key, ring, facts", values: "'account', $2, '', '{}'" },
  minute: { column: "bucket", into: buckets, values: "'minute', 1, 0, '', '', $2::text::bytea" },
  hour: { column: "bucket", into: buckets, values: "'hour', 1, 0, '', '', $2::text::bytea" },
  quarantine: { column: "received_at", into: "quarantine_id, reason, detail, excerpt", values: "$2, 'x', 'x', 'x'" },
  quarantine_counts: { column: "day", into: "reason, count", values: "$2, 1" },
  identity_counts: {
    column: "day",
    into: "source, count",
    values: "'signed', ('x' || substr($2::text, 1, 7))::bit(28)::int",
  },
  identity_secrets: { column: "expires_at", into: "secret_id, secret, created_at", values: "$2, 'x', '2020-01-01'" },
  backtests: {
    column: "created_at",
    into: "backtest_id, status, request, progress, created_by",
    values: "$2, 'DONE', '{}', '{}', 'x'",
  },
  model_runs: {
    column: "created_at",
    into: "run_id, moment, status, progress, created_by",
    values: "$2, 'value', 'DONE', '{}', 'x'",
  },
  idempotency_keys: { column: "created_at", into: "key, fingerprint", values: "$2, ''" },
  user_links: {
    column: "expires_at",
    into: "token_hash, purpose, created_at",
    values: "$2::text::bytea, 'set-up', '2020-01-01'",
  },
  webhook_deliveries: {
    column: "next_at",
    into: "webhook_id, event_id, resource, state, attempts, created_at",
    values:
      "(select webhook_id from webhooks where tenant_id = $1), ('x' || substr($2::text, 1, 7))::bit(28)::int, 1, 'DEAD', 1, '2020-01-01'",
  },
  web_sessions: {
    column: "expires_at",
    into: "token_hash, user_id, created_at, seen_at",
    values: "$2::text::bytea, (select user_id from users where tenant_id = $1), '2020-01-01', '2020-01-01'",
  },
};
