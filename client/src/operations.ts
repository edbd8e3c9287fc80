// Generated from the service's table of operations by `npm run generate`. Do not edit.

export type Scope = "read:cases" | "read:case" | "update:case" | "read:enduseraccount" | "update:enduseraccount" | "read:enduseraccounts" | "create:enduseraccount" | "delete:enduseraccount" | "create:activities" | "read:decisions" | "import:activities" | "read:labels" | "create:labels" | "read:metrics" | "read:snippet" | "read:tenant" | "update:tenant" | "update:tenant_auth_secret" | "read:events" | "manage:webhooks" | "read:rules" | "manage:rules" | "read:lists" | "update:lists" | "manage:lists" | "read:models" | "manage:models" | "read:users" | "manage:users" | "read:clients" | "manage:clients";

export type ProblemType = "bad-request" | "invalid-operation-id" | "unauthorized" | "access-denied" | "item-not-found" | "method-not-allowed" | "item-already-exists" | "item-version-conflict" | "operation-idempotency-conflict" | "transaction-contended" | "payload-too-large" | "unsupported-media-type" | "validation-error" | "precondition-required" | "rate-limited" | "headers-too-large" | "internal-error" | "bad-gateway" | "service-unavailable";

export type CaseListItem = { case_id: string; website_account_id: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE" };

export type Case = { case_id: string; tenant_id: string; website_account_id: string; session_id: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; current_state: CaseState; state_history: (CaseState)[]; details: CaseDetails; fraud_occurrences: Record<string, FraudOccurrence> };

export type CaseState = { state_id: string; case_status: "OPEN" | "CLOSED"; session_status: "ACTIVE" | "FINISHED"; score: number; changed_at: string; changed_by: string; reason: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE"; occurrence_ids?: (string)[] };

export type CaseDetails = { overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; fraud_labels: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; summary: string; highlights: (string)[]; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE"; claimed_accounts?: (string)[]; subject?: CaseSubject; members?: CaseMembers; campaign_case_id?: string; random_check?: boolean };

export type CaseSubject = { kind: "device" | "session" | "address" | "network" | "payee" | "instrument" | "campaign" | "activity"; id: string };

export type CaseMembers = { count: number; created: number; entered: number; first: ({ website_account_id: string; state: "attacked" | "created" | "entered" })[] };

export type FraudOccurrence = { occurrence_id: string; prediction_id: string; session_id: string; generated_at: string; risk_score: number; count?: number; first_at?: string; last_at?: string; explanation: { fraud_reason: string; fraud_reason_description: string; evidence_source?: "page" | "verified_session" | "server"; evidence?: "claimed by a page" | "seen in a verified session" | "reported by your server"; fraud_types: ("Account Takeover" | "Bot Creation" | "Synthetic Fraud" | "Organic Fraud")[]; model_behaviour: ({ type: string; model_name: string; top_contributors: ({ feature: string; plain_name: string; feature_value: string | number | boolean; shap_value: number; direction: "toward_fraud" | "toward_safe"; impact_level: "LOW" | "MEDIUM" | "HIGH"; description: string })[] })[] | null } };

export type CaseMember = { website_account_id: string; state: "attacked" | "created" | "entered"; seen_at: string; case_id?: string; case_status?: "OPEN" | "CLOSED" };

export type CaseChange = { status: "OPEN" | "CLOSED"; case_version: number; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE"; occurrence_ids?: (string)[]; members?: "same"; snooze?: { days: number; scope: "account" | "device" | "address" | "payee" } };

export type BulkClose = { cases: ({ case_id: string; case_version: number })[]; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" };

export type BulkCloseResult = { case_id: string; status: 200 | 404 | 409; case_version?: number; type?: "item-not-found" | "item-version-conflict" | "transaction-contended"; current_version?: number };

export type Snooze = { snooze_id: string; case_id: string; subject: string; scope: "account" | "device" | "address" | "payee"; value?: string; rules: (string)[]; created_at: string; created_by: string; until: string; hits: number; kept: number; last_kept_at?: string; is_active: boolean; ended_at?: string; ended_by?: string; ended_because?: "expired" | "stronger_evidence" | "reported" | "confirmed_fraud" | "reopened" | "by_hand" };

export type Event = { event_id: number; type: string; occurred_at: string; actor: string; resource: { type: string; id: string; version?: number }; data?: Record<string, unknown>; current?: Record<string, unknown> };

export type Session = { session_id: string; session_status: "ACTIVE" | "FINISHED"; website_account_id?: string; device_id?: string; started_at: string; last_activity_at: string; ended_at: string | null; activities: number; page_views: number; accounts: number; is_webdriver: boolean; ips: (string)[]; user_agent?: string; client?: { sdk?: string; locale?: string; zone_offset_minutes?: number; screen?: string; viewport?: string; referrer?: string; session_started_at?: string } };

export type ScoredActivity = { activity_id: string; type: string; origin: "server" | "browser"; source: "page" | "verified_session" | "server"; occurred_at: string; received_at: string; website_account_id?: string; claimed_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; page_url?: string; page_title?: string; signs?: (string)[]; amount?: number; currency?: string; payee_id?: string; order_id?: string; instrument?: Instrument; status?: "attempted" | "approved" | "declined"; attributes?: Record<string, string | number | boolean>; score: number; log_odds?: number; rules: (string)[]; lists?: (string)[]; prediction_id?: string; case_id?: string; label?: { fraudulent: boolean; source: "case" | "api" | "report" | "account_report"; known_at: string; case_id?: string } };

export type Instrument = { type?: string; bin?: string; last4?: string; fingerprint?: string };

export type AccountLink = { kind: "device" | "ip"; value: string; first_seen: string; last_seen: string; shared_with: number };

export type LinkedAccount = { website_account_id: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; first_seen: string; last_seen: string; open_case?: { case_id: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; created_at: string } };

export type LinkTable = { shared: (SharedLink)[]; nodes: ({ node_id: string; kind: "account" | "device" | "ip"; value: string; is_origin: boolean; flags?: { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean }; open_case?: { case_id: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; created_at: string } })[]; edges: ({ from: string; to: string; first_seen: string; last_seen: string })[]; is_cut: boolean };

export type SharedLink = { kind: "device" | "ip"; value: string; accounts: number; website_account_ids: (string)[]; first_seen: string; last_seen: string };

export type CaseDigest = { case_id: string; summary: string; fraud_labels: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; has_new_evidence: boolean; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; subject?: CaseSubject; members?: number; random_check?: boolean; linked_cases: number; linked_case_ids: (string)[] };

export type CaseCounts = { open: number; new_evidence: number; blocked_accounts: number; no_account: number; last_activity_at: string | null };

export type Overview = { start_date: string; end_date: string; days: ({ day: string; opened: number; closed: number; reopened: number })[]; opened: number; closed: number; reopened: number; outcomes: { confirmed: number; false_positives: number; inconclusive: number; none: number }; median_seconds_to_close: number | null; open_cases: number; backlog: ({ created_after: string | null; created_before: string | null; cases: number })[]; scores: ({ score: number; cases: number })[]; last_activity_at: string | null };

export type EndUserAccount = { tenant_id: string; website_account_id: string; crm_account_id?: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; last_session_updated_on?: string; created_at: string; updated_at: string };

export type NewEndUserAccount = { website_account_id: string; is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string | null };

export type EndUserAccountChange = { is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string | null };

export type ActivityBatch = { activities: (Activity)[] };

export type Activity = { activity_id: string; type: string; occurred_at: string; website_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; amount?: number; currency?: string; payee_id?: string; order_id?: string; instrument?: Instrument; status?: "attempted" | "approved" | "declined"; attributes?: Record<string, string | number | boolean> };

export type AssessmentRequest = { activity_id: string; type: string; occurred_at: string; website_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; amount?: number; currency?: string; payee_id?: string; order_id?: string; instrument?: Instrument; status?: "attempted" | "approved" | "declined"; attributes?: Record<string, string | number | boolean>; deadline_ms?: number; otherwise?: "ALLOW" | "CHALLENGE" | "BLOCK" };

export type Assessment = { activity_id: string; prediction_id: string; action: "ALLOW" | "CHALLENGE" | "BLOCK"; would_be?: "ALLOW" | "CHALLENGE" | "BLOCK"; score: number | null; log_odds: number | null; is_final: boolean; verdict_from: "engine" | "snapshot" | "otherwise"; reasons: (AssessmentReason)[]; case_id: string | null; lists: (string)[]; took_ms: number; is_stored: boolean };

export type AssessmentReason = { fraud_reason: string; description: string; contribution: number };

export type HistoryStatus = { waiting: number; is_running: boolean; oldest_at?: string; kept_from: string };

export type HistoryBatch = { activities: (PastActivity)[] };

export type PastActivity = { activity_id: string; type: string; occurred_at: string; website_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; amount?: number; currency?: string; payee_id?: string; order_id?: string; instrument?: Instrument; status?: "attempted" | "approved" | "declined"; attributes?: Record<string, string | number | boolean>; fraudulent?: boolean; known_at?: string };

export type HistoryBatchResult = { accepted: number; duplicates: number; reused: number; too_old: number; unlabelled: number };

export type HistoryReport = { activities: number; cases: number; moments: { entry: { frauds: number; found: number }; signup: { frauds: number; found: number }; value: { frauds: number; found: number } } };

export type Label = { activity_id: string; order_id?: string; source: "case" | "api" | "report" | "account_report"; fraudulent: boolean; weight: number; event_at: string; labelled_at: string; known_at: string; case_id?: string; actor: string };

export type LabelBatch = { labels: (NewLabel)[] };

export type NewLabel = { activity_id?: string; order_id?: string; fraudulent: boolean; known_at?: string };

export type LabelBatchResult = { stored: number; unchanged: number; not_found: (number)[] };

export type CaseListValue = { type: "account" | "device" | "ip" | "country" | "asn" | "email" | "email_domain" | "payee" | "instrument" | "user_agent" | "text"; value: string; source: "page" | "verified_session" | "server"; activities: number; lists: (string)[] };

export type ListEntry = { value: string; expires_at?: string; reason?: string; from_case_id?: string; is_expired: boolean; added_at: string; added_by: string };

export type ListEntryBatch = { entries: (NewListEntry)[] };

export type NewListEntry = { value: string; expires_at?: string; reason?: string; from_case_id?: string };

export type ListEntriesChanged = { added: number; updated: number; unchanged: number };

export type ListValues = { values: (string)[] };

export type ListCsvImport = { csv: string; first_line?: number };

export type ListCsvImportResult = { added: number; updated: number; unchanged: number; refused: number; reasons: ({ reason: string; count: number })[]; refusals: ({ line: number; value: string; reason: string })[] };

export type ListPreviewRequest = { values: (string)[] };

export type ListPreview = { from: string; until: string; is_complete: boolean; is_exact: boolean; activities: number; from_pages: number; accounts: number; suspicious: number; cases: number; confirmed_frauds: number; honest: number };

export type List = { name: string; type: "account" | "device" | "ip" | "country" | "asn" | "email" | "email_domain" | "payee" | "instrument" | "user_agent" | "text"; kind: "allow" | "block" | "watch" | "custom"; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; description: string; entries: number; hits_7d: number; used_by: (string)[]; created_at: string; created_by: string; updated_at: string; updated_by: string };

export type NewList = { name: string; type: "account" | "device" | "ip" | "country" | "asn" | "email" | "email_domain" | "payee" | "instrument" | "user_agent" | "text"; kind: "allow" | "block" | "watch" | "custom"; label?: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; description?: string };

export type ListChange = { kind?: "allow" | "block" | "watch" | "custom"; label?: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; description?: string };

export type Rule = { rule_id: string; name: string; expression: string; sentence: string; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; weight: number; about: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; state: "on" | "shadow" | "off"; rule_version: number; updated_at: string; updated_by: string; is_limited: boolean; limited_until?: string; hits_7d: number; shadow_hits_7d: number; outcomes_7d: Precision; precision: Precision };

export type Precision = { confirmed: number; false_positives: number; inconclusive: number; precision: number | null };

export type RuleChange = { name: string; expression: string; sentence: string; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; weight: number; about: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; state: "on" | "shadow" | "off"; rule_version: number };

export type RuleVersion = { rule_id: string; name: string; expression: string; sentence: string; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; weight: number; about: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; state: "on" | "shadow" | "off"; rule_version: number; updated_at: string; updated_by: string };

export type RuleReport = { rule_id: string; days: number; hits_per_day: ({ day: string; hits: number; shadow_hits: number })[]; subjects: number; shadow_subjects: number; precision: Precision; shadow_precision: Precision; examples: ({ subject: string; is_shadow: boolean; hits: number; activity_id: string; website_account_id?: string; occurred_at: string; sentence: string })[]; overlap: ({ rule_id: string; subjects: number })[] };

export type Feature = { name: string; type: "number" | "string" | "boolean" | "map"; plain_name: string; description: string; maximum?: number };

export type Thresholds = { score_2: number; score_3: number; score_4: number; score_5: number; thresholds_version: number; updated_at: string; updated_by: string; cases_per_day?: number; expected_cases_per_day?: number; frauds_of_100?: Record<string, number>; labels_by_score?: Record<string, number> };

export type ThresholdsChange = { score_2?: number; score_3?: number; score_4?: number; score_5?: number; cases_per_day?: number; thresholds_version?: number };

export type Policy = { mode: "on" | "shadow"; rows: (PolicyRow)[]; policy_version: number; updated_at: string; updated_by: string };

export type PolicyRow = { name?: string; moments?: ("login" | "signup" | "change" | "payment" | "other")[]; min_score?: number; max_score?: number; labels?: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; lists?: (string)[]; action: "ALLOW" | "CHALLENGE" | "BLOCK"; set_quarantined?: boolean };

export type PolicyChange = { mode: "on" | "shadow"; rows: (PolicyRow)[]; policy_version: number };

export type PolicyDefinition = { mode: "on" | "shadow"; rows: (PolicyRow)[] };

export type PolicyTrial = { from: string; until: string; tried: PolicyOutcome; current: PolicyOutcome };

export type PolicyOutcome = { moments: ({ moment: "login" | "signup" | "change" | "payment" | "other"; all: { activities: number; frauds: number }; allowed: { activities: number; frauds: number }; challenged: { activities: number; frauds: number }; blocked: { activities: number; frauds: number } })[]; rows: ({ activities: number; frauds: number })[] };

export type BacktestListItem = { backtest_id: string; status: "QUEUED" | "RUNNING" | "DONE" | "CANCELLED" | "FAILED"; expression: string; label?: string; about: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; days: number; from: string; until: string; progress: { done: number; total: number; percent: number }; fault?: string; created_at: string; created_by: string; finished_at?: string };

export type NewBacktest = { expression: string; label?: string; about?: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; days?: number; from?: string };

export type Backtest = { backtest_id: string; status: "QUEUED" | "RUNNING" | "DONE" | "CANCELLED" | "FAILED"; expression: string; label?: string; about: "account" | "device" | "address" | "network" | "campaign" | "payee" | "instrument"; days: number; from: string; until: string; progress: { done: number; total: number; percent: number }; fault?: string; created_at: string; created_by: string; finished_at?: string; result?: BacktestResult };

export type BacktestResult = { decisions: number; hits: number; hits_per_day: ({ day: string; hits: number; decisions: number })[]; accounts: number; overlap: ({ rule_id: string; hits: number })[]; caught_already: number | null; precision: Precision; examples: ({ activity_id: string; type: string; occurred_at: string; website_account_id?: string; score: number; values: (FeatureValue)[] })[] };

export type FeatureValue = { name: string; plain_name: string; value: string | number | boolean };

export type Decision = { prediction_id: string; case_id?: string; activity: { activity_id: string; type: string; origin: string; source: "page" | "verified_session" | "server"; occurred_at: string; received_at: string; website_account_id?: string; claimed_account_id?: string; session_id?: string; device_id?: string; ip?: string }; score: number; log_odds: number; thresholds: { score_2: number; score_3: number; score_4: number; score_5: number }; revision: number; features: (FeatureValue)[]; rules: (FiredRule)[]; other_rules: (FiredRule)[]; lists: (string)[]; lists_revision?: number; shadow_rules: (FiredRule)[]; contributions: ({ name: string; plain_name: string; log_odds: number })[]; model?: { model_id: string; log_odds: number; contributions: ({ name: string; plain_name: string; log_odds: number })[] }; recomputed: { log_odds: number; score: number } };

export type FiredRule = { rule_id: string; rule_version: number; name: string; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; weight: number; expression: string; sentence: string; values: (FeatureValue)[] };

export type Model = { model_id: string; moment: "entry" | "signup" | "value"; state: "CHALLENGER" | "CHAMPION" | "RETIRED"; figures: { trees: number; rows: number; frauds: number; offset: number; held_out: ModelComparison | null; shadow?: ModelComparison; profile?: Record<string, { limits: (number)[]; shares: (number)[] }>; drift?: { measured_at: string; is_drifted?: boolean; cases_per_day: number; frauds_per_day?: { last_7_days: number; before: number }; recall?: number | null; fields: Record<string, number> } }; trained_from: string; trained_until: string; created_at: string; created_by: string; promoted_at?: string; promoted_by?: string; retired_at?: string; retired_by?: string; obstacles?: (string)[] };

export type ModelComparison = { from: string; until: string; rows: number; frauds: number; calibration_error: number | null; model: { auc: number | null; average_precision: number | null; recall: number | null; precision: number | null; cases_per_day: number }; before: { auc: number | null; average_precision: number | null; recall: number | null; precision: number | null; cases_per_day: number }; days: ({ day: string; rows: number; frauds: number; average_precision: number | null; average_precision_before: number | null; found: number; found_before: number })[] };

export type ModelRun = { run_id: string; moment: "entry" | "signup" | "value"; status: "QUEUED" | "RUNNING" | "DONE" | "FAILED"; progress: { phase: "waiting" | "reading" | "measuring" | "training" | "done"; percent: number }; model_id?: string; reason?: string; created_at: string; created_by: string; finished_at?: string };

export type ModelSettings = { released_rules: (string)[] };

export type ModelLabels = { moment: "entry" | "signup" | "value"; labels: number; frauds: number; frauds_needed: number };

export type NewModelRun = { moment?: "entry" | "signup" | "value" };

export type RandomChecks = { per_day: number; recall: (EstimatedRecall)[] };

export type EstimatedRecall = { moment: "entry" | "signup" | "value"; checks: number; decided: number; frauds: number; found: number; missed: number | null; recall: number | null; recall_low: number | null };

export type RandomChecksChange = { per_day: number };

export type QuarantineEntry = { quarantine_id: string; received_at: string; reason: "bad-gzip" | "unpacked-too-large" | "too-deep" | "too-many-members" | "not-json" | "not-an-array" | "too-many-events" | "not-an-object" | "no-event-id" | "no-event-type" | "bad-timestamp" | "too-old" | "unstorable" | "id-reused" | "over-quota" | "wrong-hash" | "foreign-tenant-id"; detail: string; excerpt: string };

export type QuarantineCount = { day: string; reason: "bad-gzip" | "unpacked-too-large" | "too-deep" | "too-many-members" | "not-json" | "not-an-array" | "too-many-events" | "not-an-object" | "no-event-id" | "no-event-type" | "bad-timestamp" | "too-old" | "unstorable" | "id-reused" | "over-quota" | "wrong-hash" | "foreign-tenant-id"; count: number };

export type Tenant = { tenant_name: string; tenant_id: string; client_id?: string; clickstream_app_id: string; allowed_origins: (string)[]; ip_policy: "full" | "truncate" | "hash"; url_parameters: (string)[]; retention_days?: number; identity_verification: "off" | "observe" | "required"; time_zone: string; created_at: string };

export type TenantChange = { allowed_origins?: (string)[]; ip_policy?: "full" | "truncate" | "hash"; url_parameters?: (string)[]; retention_days?: number; identity_verification?: "off" | "observe" | "required"; time_zone?: string };

export type RotateAuthSecret = { revoke_now?: boolean };

export type RotatedSecret = { client_id: string; client_secret: string; previous_secret_expires_at?: string };

export type Identity = { identity_verification: "off" | "observe" | "required"; secrets: (IdentitySecret)[]; days: (IdentityDay)[]; is_snippet_only: boolean };

export type IdentitySecret = { secret_id: string; created_at: string; expires_at?: string };

export type IdentityDay = { day: string; signed: number; tied: number; unvouched: number; bad_token: number };

export type IdentitySecretChange = { revoke_now?: boolean };

export type NewIdentitySecret = { secret_id: string; secret: string; identity_verification: "off" | "observe" | "required"; previous_secret_expires_at?: string };

export type ApiClient = { client_id: string; scopes: (string)[]; is_primary: boolean; created_at: string; previous_secret_expires_at?: string; revoked_at?: string };

export type NewApiClient = { scopes: ("read:cases" | "read:case" | "update:case" | "read:enduseraccount" | "update:enduseraccount" | "read:enduseraccounts" | "create:enduseraccount" | "delete:enduseraccount" | "create:activities" | "read:decisions" | "import:activities" | "read:labels" | "create:labels" | "read:metrics" | "read:snippet" | "read:tenant" | "update:tenant" | "update:tenant_auth_secret" | "read:events" | "manage:webhooks" | "read:rules" | "manage:rules" | "read:lists" | "update:lists" | "manage:lists" | "read:models" | "manage:models" | "read:users" | "manage:users" | "read:clients" | "manage:clients")[] };

export type MadeClient = { client: ApiClient; client_secret: string };

export type RotateClientSecret = { revoke_now?: boolean };

export type User = { user_id: string; email: string; name: string; role: "investigator" | "lead" | "admin"; is_disabled: boolean; has_password: boolean; has_external_sign_in: boolean; created_at: string; last_sign_in_at?: string };

export type NewUser = { email: string; name: string; role: "investigator" | "lead" | "admin" };

export type InvitedUser = { user: User; link: UserLink };

export type UserLink = { purpose: "set-up" | "invitation" | "password-reset"; url: string; expires_at: string };

export type UserChange = { name?: string; role?: "investigator" | "lead" | "admin"; is_disabled?: boolean };

export type Snippets = { snippets: ({ framework: string; snippet: string })[]; tenant_name: string; app_id: string; tenant_id: string };

export type MetricPoint = { timestamp: string; total_events?: number; guest_sessions?: number; non_guest_sessions?: number; unique_sessions?: number; unique_ids?: number; session_starts?: number };

export type Webhook = { webhook_id: string; url: string; types: (string)[]; is_enabled: boolean; disabled_reason?: string; waiting: number; dead: number; previous_secret_expires_at?: string; created_at: string; updated_at: string };

export type NewWebhook = { url: string; types?: ("case.opened" | "case.evidence_added" | "case.closed" | "case.reopened" | "account.created" | "account.updated" | "account.erased" | "activity.decided" | "rule.changed")[] };

export type WebhookSecret = { webhook: Webhook; secret: string };

export type WebhookChange = { url?: string; types?: ("case.opened" | "case.evidence_added" | "case.closed" | "case.reopened" | "account.created" | "account.updated" | "account.erased" | "activity.decided" | "rule.changed")[]; is_enabled?: boolean };

export type WebhookTest = { delivered: boolean; status?: number; error?: string; milliseconds: number };

export type WebhookDelivery = { event_id: number; type: string; resource: { type: string; id: string }; state: "WAITING" | "DELIVERED" | "DEAD"; attempts: number; created_at: string; last_attempt_at?: string; next_attempt_at?: string; waits_for?: number; last_status?: number; last_error?: string };

export type ResendWebhook = { event_id?: number };

export type Operations = {
  listCases: { params: undefined; query: { status?: "OPEN" | "CLOSED"; website_account_id?: string; user_is_blocked?: boolean; label?: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; min_score?: number; max_score?: number; new_evidence?: boolean; created_after?: string; created_before?: string; updated_since?: string; updated_before?: string; sort?: "-created_at" | "created_at" | "-overall_risk_score" | "-updated_at"; limit?: number; cursor?: string }; body: undefined; data: { cases: (CaseListItem)[]; next_cursor: string | null } };
  getCase: { params: { case_id: string }; query: undefined; body: undefined; data: Case };
  listCaseMembers: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { members: (CaseMember)[]; next_cursor: string | null } };
  updateCase: { params: { case_id: string }; query: undefined; body: CaseChange; data: Case };
  closeCases: { params: undefined; query: undefined; body: BulkClose; data: { results: (BulkCloseResult)[] } };
  listSnoozes: { params: undefined; query: { is_active?: boolean; limit?: number; cursor?: string }; body: undefined; data: { snoozes: (Snooze)[]; next_cursor: string | null } };
  endSnooze: { params: { snooze_id: string }; query: undefined; body: undefined; data: undefined };
  listEvents: { params: undefined; query: { after?: number; limit?: number; wait?: number }; body: undefined; data: { events: (Event)[]; next_after: number } };
  listCaseEvents: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { events: (Event)[]; next_cursor: string | null } };
  listEndUserAccountEvents: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { events: (Event)[]; next_cursor: string | null } };
  getSession: { params: { session_id: string }; query: undefined; body: undefined; data: Session };
  listSessionActivities: { params: { session_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listCaseSessions: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { sessions: (Session)[]; next_cursor: string | null } };
  listEndUserAccountSessions: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { sessions: (Session)[]; next_cursor: string | null } };
  listActivities: { params: undefined; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listCaseActivities: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listEndUserAccountActivities: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listEndUserAccountLinks: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { links: (AccountLink)[]; next_cursor: string | null } };
  listDeviceAccounts: { params: { device_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { accounts: (LinkedAccount)[]; next_cursor: string | null } };
  listAddressAccounts: { params: { ip: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { accounts: (LinkedAccount)[]; next_cursor: string | null } };
  getLinks: { params: undefined; query: { website_account_id?: string; case_ids?: string }; body: undefined; data: LinkTable };
  listCaseDigests: { params: undefined; query: { case_ids?: string }; body: undefined; data: { case_digests: (CaseDigest)[] } };
  getCaseCounts: { params: undefined; query: undefined; body: undefined; data: CaseCounts };
  getOverview: { params: undefined; query: { start_date?: string; end_date?: string }; body: undefined; data: Overview };
  listEndUserAccounts: { params: undefined; query: { is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string; limit?: number; cursor?: string }; body: undefined; data: { end_user_accounts: (EndUserAccount)[]; next_cursor: string | null } };
  createEndUserAccount: { params: undefined; query: undefined; body: NewEndUserAccount; data: EndUserAccount };
  getEndUserAccount: { params: { website_account_id: string }; query: undefined; body: undefined; data: EndUserAccount };
  updateEndUserAccount: { params: { website_account_id: string }; query: undefined; body: EndUserAccountChange; data: EndUserAccount };
  deleteEndUserAccount: { params: { website_account_id: string }; query: undefined; body: undefined; data: undefined };
  createActivities: { params: undefined; query: undefined; body: ActivityBatch; data: { accepted: number; duplicates: number } };
  createAssessment: { params: undefined; query: undefined; body: AssessmentRequest; data: Assessment };
  getImport: { params: undefined; query: undefined; body: undefined; data: HistoryStatus };
  importActivities: { params: undefined; query: undefined; body: HistoryBatch; data: HistoryBatchResult };
  startImport: { params: undefined; query: undefined; body: undefined; data: HistoryStatus };
  getImportReport: { params: undefined; query: { from?: string; until?: string }; body: undefined; data: HistoryReport };
  listLabels: { params: undefined; query: { activity_id?: string; order_id?: string; source?: "case" | "api" | "report" | "account_report"; since?: string; limit?: number; cursor?: string }; body: undefined; data: { labels: (Label)[]; next_cursor: string | null } };
  createLabels: { params: undefined; query: undefined; body: LabelBatch; data: LabelBatchResult };
  listCaseValues: { params: { case_id: string }; query: undefined; body: undefined; data: { values: (CaseListValue)[] } };
  listListEntries: { params: { list_name: string }; query: { prefix?: string; limit?: number; cursor?: string }; body: undefined; data: { entries: (ListEntry)[]; next_cursor: string | null } };
  addListEntries: { params: { list_name: string }; query: undefined; body: ListEntryBatch; data: ListEntriesChanged };
  removeListEntries: { params: { list_name: string }; query: undefined; body: ListValues; data: { removed: number } };
  importList: { params: { list_name: string }; query: undefined; body: ListCsvImport; data: ListCsvImportResult };
  exportList: { params: { list_name: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { csv: string; next_cursor: string | null } };
  previewListValues: { params: { list_name: string }; query: undefined; body: ListPreviewRequest; data: ListPreview };
  listLists: { params: undefined; query: undefined; body: undefined; data: { lists: (List)[] } };
  createList: { params: undefined; query: undefined; body: NewList; data: List };
  getList: { params: { list_name: string }; query: undefined; body: undefined; data: List };
  updateList: { params: { list_name: string }; query: undefined; body: ListChange; data: List };
  deleteList: { params: { list_name: string }; query: undefined; body: undefined; data: undefined };
  listRules: { params: undefined; query: undefined; body: undefined; data: { rules: (Rule)[] } };
  getRule: { params: { rule_id: string }; query: undefined; body: undefined; data: Rule };
  updateRule: { params: { rule_id: string }; query: undefined; body: RuleChange; data: RuleVersion };
  listRuleVersions: { params: { rule_id: string }; query: undefined; body: undefined; data: { versions: (RuleVersion)[] } };
  getRuleReport: { params: { rule_id: string }; query: { days?: number }; body: undefined; data: RuleReport };
  listFeatures: { params: undefined; query: undefined; body: undefined; data: { features: (Feature)[] } };
  getThresholds: { params: undefined; query: { cases_per_day?: number }; body: undefined; data: Thresholds };
  updateThresholds: { params: undefined; query: undefined; body: ThresholdsChange; data: Thresholds };
  getPolicy: { params: undefined; query: undefined; body: undefined; data: Policy };
  updatePolicy: { params: undefined; query: undefined; body: PolicyChange; data: Policy };
  listPolicyVersions: { params: undefined; query: undefined; body: undefined; data: { versions: (Policy)[] } };
  tryPolicy: { params: undefined; query: undefined; body: PolicyDefinition; data: PolicyTrial };
  listBacktests: { params: undefined; query: undefined; body: undefined; data: { backtests: (BacktestListItem)[] } };
  createBacktest: { params: undefined; query: undefined; body: NewBacktest; data: Backtest };
  getBacktest: { params: { backtest_id: string }; query: undefined; body: undefined; data: Backtest };
  cancelBacktest: { params: { backtest_id: string }; query: undefined; body: undefined; data: Backtest };
  getDecision: { params: { prediction_id: string }; query: undefined; body: undefined; data: Decision };
  listModels: { params: undefined; query: undefined; body: undefined; data: { models: (Model)[]; runs: (ModelRun)[]; settings: ModelSettings; labels: (ModelLabels)[] } };
  trainModels: { params: undefined; query: undefined; body: NewModelRun; data: { runs: (ModelRun)[] } };
  compareModels: { params: undefined; query: { a?: string; b?: string }; body: undefined; data: { models: (Model)[] } };
  updateModelSettings: { params: undefined; query: undefined; body: ModelSettings; data: ModelSettings };
  getModel: { params: { model_id: string }; query: undefined; body: undefined; data: Model };
  downloadModel: { params: { model_id: string }; query: undefined; body: undefined; data: { text: string } };
  promoteModel: { params: { model_id: string }; query: undefined; body: undefined; data: Model };
  retireModel: { params: { model_id: string }; query: undefined; body: undefined; data: Model };
  getRandomChecks: { params: undefined; query: undefined; body: undefined; data: RandomChecks };
  updateRandomChecks: { params: undefined; query: undefined; body: RandomChecksChange; data: RandomChecks };
  listQuarantine: { params: undefined; query: { reason?: "bad-gzip" | "unpacked-too-large" | "too-deep" | "too-many-members" | "not-json" | "not-an-array" | "too-many-events" | "not-an-object" | "no-event-id" | "no-event-type" | "bad-timestamp" | "too-old" | "unstorable" | "id-reused" | "over-quota" | "wrong-hash" | "foreign-tenant-id"; limit?: number; cursor?: string }; body: undefined; data: { quarantine: (QuarantineEntry)[]; counts: (QuarantineCount)[]; next_cursor: string | null } };
  getTenant: { params: undefined; query: undefined; body: undefined; data: Tenant };
  updateTenant: { params: undefined; query: undefined; body: TenantChange; data: Tenant };
  rotateAuthSecret: { params: undefined; query: undefined; body: RotateAuthSecret; data: RotatedSecret };
  getIdentity: { params: undefined; query: undefined; body: undefined; data: Identity };
  createIdentitySecret: { params: undefined; query: undefined; body: IdentitySecretChange; data: NewIdentitySecret };
  listClients: { params: undefined; query: undefined; body: undefined; data: { clients: (ApiClient)[] } };
  createClient: { params: undefined; query: undefined; body: NewApiClient; data: MadeClient };
  rotateClientSecret: { params: { client_id: string }; query: undefined; body: RotateClientSecret; data: RotatedSecret };
  revokeClient: { params: { client_id: string }; query: undefined; body: undefined; data: undefined };
  listUsers: { params: undefined; query: undefined; body: undefined; data: { users: (User)[] } };
  getUser: { params: { user_id: string }; query: undefined; body: undefined; data: User };
  createUser: { params: undefined; query: undefined; body: NewUser; data: InvitedUser };
  updateUser: { params: { user_id: string }; query: undefined; body: UserChange; data: User };
  createUserLink: { params: { user_id: string }; query: undefined; body: undefined; data: UserLink };
  endUserSessions: { params: { user_id: string }; query: undefined; body: undefined; data: undefined };
  getSnippet: { params: undefined; query: undefined; body: undefined; data: Snippets };
  getTenantMetrics: { params: undefined; query: { start_date?: string; end_date?: string; aggregation?: "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year"; metric?: "total_events" | "guest_sessions" | "non_guest_sessions" | "unique_sessions" | "unique_ids" | "session_starts" }; body: undefined; data: { metrics: (MetricPoint)[] } };
  listWebhooks: { params: undefined; query: undefined; body: undefined; data: { webhooks: (Webhook)[] } };
  createWebhook: { params: undefined; query: undefined; body: NewWebhook; data: WebhookSecret };
  getWebhook: { params: { webhook_id: string }; query: undefined; body: undefined; data: Webhook };
  updateWebhook: { params: { webhook_id: string }; query: undefined; body: WebhookChange; data: Webhook };
  rotateWebhookSecret: { params: { webhook_id: string }; query: undefined; body: undefined; data: WebhookSecret };
  testWebhook: { params: { webhook_id: string }; query: undefined; body: undefined; data: WebhookTest };
  listWebhookDeliveries: { params: { webhook_id: string }; query: { state?: "WAITING" | "DELIVERED" | "DEAD"; limit?: number; cursor?: string }; body: undefined; data: { deliveries: (WebhookDelivery)[]; next_cursor: string | null } };
  resendWebhookDeliveries: { params: { webhook_id: string }; query: undefined; body: ResendWebhook; data: { resent: number } };
  deleteWebhook: { params: { webhook_id: string }; query: undefined; body: undefined; data: undefined };
};

// `isRepeatable`: sending the request twice has the same effect as sending it once, so it may be retried. `items`: the member
// that holds the entries of a list.
export const operations = {
  listCases: { method: "GET", path: "/cases", wantsKey: false, isRepeatable: true, items: "cases" },
  getCase: { method: "GET", path: "/cases/{case_id}", wantsKey: false, isRepeatable: true },
  listCaseMembers: { method: "GET", path: "/cases/{case_id}/members", wantsKey: false, isRepeatable: true, items: "members" },
  updateCase: { method: "PUT", path: "/cases/{case_id}", wantsKey: true, isRepeatable: true },
  closeCases: { method: "POST", path: "/cases/close", wantsKey: true, isRepeatable: true },
  listSnoozes: { method: "GET", path: "/snoozes", wantsKey: false, isRepeatable: true, items: "snoozes" },
  endSnooze: { method: "DELETE", path: "/snoozes/{snooze_id}", wantsKey: false, isRepeatable: false },
  listEvents: { method: "GET", path: "/events", wantsKey: false, isRepeatable: true },
  listCaseEvents: { method: "GET", path: "/cases/{case_id}/events", wantsKey: false, isRepeatable: true, items: "events" },
  listEndUserAccountEvents: { method: "GET", path: "/enduseraccounts/{website_account_id}/events", wantsKey: false, isRepeatable: true, items: "events" },
  getSession: { method: "GET", path: "/sessions/{session_id}", wantsKey: false, isRepeatable: true },
  listSessionActivities: { method: "GET", path: "/sessions/{session_id}/activities", wantsKey: false, isRepeatable: true, items: "activities" },
  listCaseSessions: { method: "GET", path: "/cases/{case_id}/sessions", wantsKey: false, isRepeatable: true, items: "sessions" },
  listEndUserAccountSessions: { method: "GET", path: "/enduseraccounts/{website_account_id}/sessions", wantsKey: false, isRepeatable: true, items: "sessions" },
  listActivities: { method: "GET", path: "/activities", wantsKey: false, isRepeatable: true, items: "activities" },
  listCaseActivities: { method: "GET", path: "/cases/{case_id}/activities", wantsKey: false, isRepeatable: true, items: "activities" },
  listEndUserAccountActivities: { method: "GET", path: "/enduseraccounts/{website_account_id}/activities", wantsKey: false, isRepeatable: true, items: "activities" },
  listEndUserAccountLinks: { method: "GET", path: "/enduseraccounts/{website_account_id}/links", wantsKey: false, isRepeatable: true, items: "links" },
  listDeviceAccounts: { method: "GET", path: "/devices/{device_id}/accounts", wantsKey: false, isRepeatable: true, items: "accounts" },
  listAddressAccounts: { method: "GET", path: "/addresses/{ip}/accounts", wantsKey: false, isRepeatable: true, items: "accounts" },
  getLinks: { method: "GET", path: "/links", wantsKey: false, isRepeatable: true },
  listCaseDigests: { method: "GET", path: "/cases/digests", wantsKey: false, isRepeatable: true },
  getCaseCounts: { method: "GET", path: "/cases/counts", wantsKey: false, isRepeatable: true },
  getOverview: { method: "GET", path: "/overview", wantsKey: false, isRepeatable: true },
  listEndUserAccounts: { method: "GET", path: "/enduseraccounts", wantsKey: false, isRepeatable: true, items: "end_user_accounts" },
  createEndUserAccount: { method: "POST", path: "/enduseraccounts", wantsKey: false, isRepeatable: false },
  getEndUserAccount: { method: "GET", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: true },
  updateEndUserAccount: { method: "PUT", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: true },
  deleteEndUserAccount: { method: "DELETE", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: false },
  createActivities: { method: "POST", path: "/activities", wantsKey: false, isRepeatable: true },
  createAssessment: { method: "POST", path: "/assessments", wantsKey: false, isRepeatable: true },
  getImport: { method: "GET", path: "/imports", wantsKey: false, isRepeatable: true },
  importActivities: { method: "POST", path: "/imports", wantsKey: false, isRepeatable: true },
  startImport: { method: "POST", path: "/imports/start", wantsKey: false, isRepeatable: true },
  getImportReport: { method: "GET", path: "/imports/report", wantsKey: false, isRepeatable: true },
  listLabels: { method: "GET", path: "/labels", wantsKey: false, isRepeatable: true, items: "labels" },
  createLabels: { method: "POST", path: "/labels", wantsKey: false, isRepeatable: true },
  listCaseValues: { method: "GET", path: "/cases/{case_id}/values", wantsKey: false, isRepeatable: true },
  listListEntries: { method: "GET", path: "/lists/{list_name}/entries", wantsKey: false, isRepeatable: true, items: "entries" },
  addListEntries: { method: "POST", path: "/lists/{list_name}/entries", wantsKey: false, isRepeatable: true },
  removeListEntries: { method: "POST", path: "/lists/{list_name}/entries/remove", wantsKey: false, isRepeatable: true },
  importList: { method: "POST", path: "/lists/{list_name}/csv", wantsKey: false, isRepeatable: true },
  exportList: { method: "GET", path: "/lists/{list_name}/csv", wantsKey: false, isRepeatable: true },
  previewListValues: { method: "POST", path: "/lists/{list_name}/preview", wantsKey: false, isRepeatable: true },
  listLists: { method: "GET", path: "/lists", wantsKey: false, isRepeatable: true },
  createList: { method: "POST", path: "/lists", wantsKey: false, isRepeatable: false },
  getList: { method: "GET", path: "/lists/{list_name}", wantsKey: false, isRepeatable: true },
  updateList: { method: "PUT", path: "/lists/{list_name}", wantsKey: false, isRepeatable: true },
  deleteList: { method: "DELETE", path: "/lists/{list_name}", wantsKey: false, isRepeatable: false },
  listRules: { method: "GET", path: "/rules", wantsKey: false, isRepeatable: true },
  getRule: { method: "GET", path: "/rules/{rule_id}", wantsKey: false, isRepeatable: true },
  updateRule: { method: "PUT", path: "/rules/{rule_id}", wantsKey: false, isRepeatable: true },
  listRuleVersions: { method: "GET", path: "/rules/{rule_id}/history", wantsKey: false, isRepeatable: true },
  getRuleReport: { method: "GET", path: "/rules/{rule_id}/report", wantsKey: false, isRepeatable: true },
  listFeatures: { method: "GET", path: "/features", wantsKey: false, isRepeatable: true },
  getThresholds: { method: "GET", path: "/thresholds", wantsKey: false, isRepeatable: true },
  updateThresholds: { method: "PUT", path: "/thresholds", wantsKey: false, isRepeatable: true },
  getPolicy: { method: "GET", path: "/policy", wantsKey: false, isRepeatable: true },
  updatePolicy: { method: "PUT", path: "/policy", wantsKey: false, isRepeatable: true },
  listPolicyVersions: { method: "GET", path: "/policy/versions", wantsKey: false, isRepeatable: true },
  tryPolicy: { method: "POST", path: "/policy/try-out", wantsKey: false, isRepeatable: false },
  listBacktests: { method: "GET", path: "/backtests", wantsKey: false, isRepeatable: true },
  createBacktest: { method: "POST", path: "/backtests", wantsKey: false, isRepeatable: false },
  getBacktest: { method: "GET", path: "/backtests/{backtest_id}", wantsKey: false, isRepeatable: true },
  cancelBacktest: { method: "POST", path: "/backtests/{backtest_id}/cancel", wantsKey: false, isRepeatable: false },
  getDecision: { method: "GET", path: "/decisions/{prediction_id}", wantsKey: false, isRepeatable: true },
  listModels: { method: "GET", path: "/models", wantsKey: false, isRepeatable: true },
  trainModels: { method: "POST", path: "/models", wantsKey: false, isRepeatable: false },
  compareModels: { method: "GET", path: "/models/compare", wantsKey: false, isRepeatable: true },
  updateModelSettings: { method: "PUT", path: "/models/settings", wantsKey: false, isRepeatable: true },
  getModel: { method: "GET", path: "/models/{model_id}", wantsKey: false, isRepeatable: true },
  downloadModel: { method: "GET", path: "/models/{model_id}/download", wantsKey: false, isRepeatable: true },
  promoteModel: { method: "POST", path: "/models/{model_id}/promote", wantsKey: false, isRepeatable: false },
  retireModel: { method: "POST", path: "/models/{model_id}/retire", wantsKey: false, isRepeatable: false },
  getRandomChecks: { method: "GET", path: "/random-checks", wantsKey: false, isRepeatable: true },
  updateRandomChecks: { method: "PUT", path: "/random-checks", wantsKey: false, isRepeatable: true },
  listQuarantine: { method: "GET", path: "/quarantine", wantsKey: false, isRepeatable: true, items: "quarantine" },
  getTenant: { method: "GET", path: "/tenants", wantsKey: false, isRepeatable: true },
  updateTenant: { method: "PUT", path: "/tenants", wantsKey: false, isRepeatable: true },
  rotateAuthSecret: { method: "POST", path: "/tenants/rotate-auth-secret", wantsKey: false, isRepeatable: false },
  getIdentity: { method: "GET", path: "/tenants/identity", wantsKey: false, isRepeatable: true },
  createIdentitySecret: { method: "POST", path: "/tenants/identity/secrets", wantsKey: false, isRepeatable: false },
  listClients: { method: "GET", path: "/clients", wantsKey: false, isRepeatable: true },
  createClient: { method: "POST", path: "/clients", wantsKey: false, isRepeatable: false },
  rotateClientSecret: { method: "POST", path: "/clients/{client_id}/rotate-secret", wantsKey: false, isRepeatable: false },
  revokeClient: { method: "DELETE", path: "/clients/{client_id}", wantsKey: false, isRepeatable: false },
  listUsers: { method: "GET", path: "/users", wantsKey: false, isRepeatable: true },
  getUser: { method: "GET", path: "/users/{user_id}", wantsKey: false, isRepeatable: true },
  createUser: { method: "POST", path: "/users", wantsKey: false, isRepeatable: false },
  updateUser: { method: "PUT", path: "/users/{user_id}", wantsKey: false, isRepeatable: true },
  createUserLink: { method: "POST", path: "/users/{user_id}/links", wantsKey: false, isRepeatable: false },
  endUserSessions: { method: "DELETE", path: "/users/{user_id}/sessions", wantsKey: false, isRepeatable: false },
  getSnippet: { method: "GET", path: "/snippet", wantsKey: false, isRepeatable: true },
  getTenantMetrics: { method: "GET", path: "/metrics", wantsKey: false, isRepeatable: true },
  listWebhooks: { method: "GET", path: "/webhooks", wantsKey: false, isRepeatable: true },
  createWebhook: { method: "POST", path: "/webhooks", wantsKey: false, isRepeatable: false },
  getWebhook: { method: "GET", path: "/webhooks/{webhook_id}", wantsKey: false, isRepeatable: true },
  updateWebhook: { method: "PUT", path: "/webhooks/{webhook_id}", wantsKey: false, isRepeatable: true },
  rotateWebhookSecret: { method: "POST", path: "/webhooks/{webhook_id}/rotate-secret", wantsKey: false, isRepeatable: false },
  testWebhook: { method: "POST", path: "/webhooks/{webhook_id}/test", wantsKey: false, isRepeatable: false },
  listWebhookDeliveries: { method: "GET", path: "/webhooks/{webhook_id}/deliveries", wantsKey: false, isRepeatable: true, items: "deliveries" },
  resendWebhookDeliveries: { method: "POST", path: "/webhooks/{webhook_id}/resend", wantsKey: false, isRepeatable: false },
  deleteWebhook: { method: "DELETE", path: "/webhooks/{webhook_id}", wantsKey: false, isRepeatable: false },
} as const;
