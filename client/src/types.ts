// Generated from the service's table of operations by `npm run generate`. Do not edit.

export type Scope = "read:cases" | "read:case" | "update:case" | "read:enduseraccount" | "update:enduseraccount" | "read:enduseraccounts" | "create:enduseraccount" | "delete:enduseraccount" | "create:activities" | "read:decisions" | "import:activities" | "read:labels" | "create:labels" | "read:metrics" | "read:snippet" | "read:tenant" | "update:tenant" | "update:tenant_auth_secret" | "read:events" | "manage:webhooks" | "read:rules" | "manage:rules" | "read:lists" | "update:lists" | "manage:lists" | "read:models" | "manage:models" | "read:users" | "manage:users" | "read:clients" | "manage:clients";

export type ProblemType = "bad-request" | "invalid-operation-id" | "unauthorized" | "access-denied" | "item-not-found" | "method-not-allowed" | "item-already-exists" | "item-version-conflict" | "operation-idempotency-conflict" | "transaction-contended" | "payload-too-large" | "unsupported-media-type" | "validation-error" | "precondition-required" | "rate-limited" | "headers-too-large" | "internal-error" | "bad-gateway" | "service-unavailable";

export type CaseListItem = { case_id: string; website_account_id: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE" };

export type Case = { case_id: string; tenant_id: string; website_account_id: string; session_id: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; current_state: CaseState; state_history: (CaseState)[]; details: CaseDetails; fraud_occurrences: Record<string, FraudOccurrence> };

export type CaseState = { state_id: string; case_status: "OPEN" | "CLOSED"; session_status: "ACTIVE" | "FINISHED"; score: number; changed_at: string; changed_by: string; reason: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE"; occurrence_ids?: (string)[] };

export type CaseDetails = { overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; fraud_labels: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; summary: string; highlights: (string)[]; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE"; claimed_accounts?: (string)[]; subject?: CaseSubject; members?: CaseMembers; campaign_case_id?: string; random_check?: boolean };

export type CaseSubject = { kind: "device" | "session" | "address" | "network" | "payee" | "instrument" | "campaign" | "activity"; id: string };

export type CaseMembers = { count: number; created: number; entered: number; first: ({ website_account_id: string; state: "attacked" | "created" | "entered" })[] };

export type FraudOccurrence = { occurrence_id: string; prediction_id: string; session_id: string; activity_type?: string; is_attempt?: boolean; generated_at: string; risk_score: number; count?: number; first_at?: string; last_at?: string; explanation: { fraud_reason: string; fraud_reason_description: string; evidence_source?: "page" | "verified_session" | "server"; evidence?: "claimed by a page" | "seen in a verified session" | "reported by your server"; fraud_types: ("Account Takeover" | "Bot Creation" | "Synthetic Fraud" | "Organic Fraud")[]; model_behaviour: ({ type: string; model_name: string; top_contributors: ({ feature: string; plain_name: string; feature_value: string | number | boolean; shap_value: number; direction: "toward_fraud" | "toward_safe"; impact_level: "LOW" | "MEDIUM" | "HIGH"; description: string })[] })[] | null } };

export type CaseMember = { website_account_id: string; state: "attacked" | "created" | "entered"; seen_at: string; case_id?: string; case_status?: "OPEN" | "CLOSED" };

export type CaseChange = { status: "OPEN" | "CLOSED"; case_version: number; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE"; occurrence_ids?: (string)[]; members?: "same"; snooze?: { days: number; scope: "account" | "device" | "address" | "payee" }; account?: { is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean } };

export type BulkClose = { cases: ({ case_id: string; case_version: number })[]; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" };

export type BulkCloseResult = { case_id: string; status: 200 | 404 | 409; case_version?: number; type?: "item-not-found" | "item-version-conflict" | "transaction-contended"; current_version?: number };

export type CaseClaim = { case_id: string; claim?: Claim };

export type Claim = { claimed_by: string; claimed_at: string; expires_at: string };

export type ClaimRequest = { take_over?: boolean };

export type Note = { note_id: string; case_id: string; text: string; mentions: (string)[]; created_at: string; created_by: string; case_version: number };

export type NewNote = { text: string };

export type CaseFile = { file_name: string; html: string; sha256: string };

export type Snooze = { snooze_id: string; case_id: string; subject: string; scope: "account" | "device" | "address" | "payee"; value?: string; rules: (string)[]; created_at: string; created_by: string; until: string; hits: number; kept: number; last_kept_at?: string; is_active: boolean; ended_at?: string; ended_by?: string; ended_because?: "expired" | "stronger_evidence" | "reported" | "confirmed_fraud" | "reopened" | "by_hand" };

export type SearchResult = { accounts: (AccountHit)[]; cases: (CaseHit)[]; devices: (SharedHit)[]; addresses: (SharedHit)[]; payees: (SharedHit)[]; orders: (OrderHit)[]; more: ("accounts" | "cases" | "devices" | "addresses" | "payees" | "orders")[]; is_complete: boolean };

export type AccountHit = { website_account_id: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; open_case?: { case_id: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; created_at: string }; matched: "website_account_id" | "email" | "crm_account_id"; value: string };

export type CaseHit = { case_id: string; website_account_id: string; status: "OPEN" | "CLOSED"; created_at: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; matched: "case_id" | "subject" | "reason"; value: string };

export type SharedHit = { value: string; accounts: number; website_account_ids: (string)[]; last_seen: string };

export type OrderHit = { order_id: string; occurred_at: string; website_account_id?: string; case_id?: string };

export type Event = { event_id: number; type: string; occurred_at: string; actor: string; resource: { type: string; id: string; version?: number }; data?: Record<string, unknown>; current?: Record<string, unknown> };

export type Session = { session_id: string; session_status: "ACTIVE" | "FINISHED"; website_account_id?: string; device_id?: string; started_at: string; last_activity_at: string; ended_at: string | null; activities: number; page_views: number; accounts: number; is_webdriver: boolean; ips: (string)[]; user_agent?: string; client?: { sdk?: string; locale?: string; zone_offset_minutes?: number; screen?: string; viewport?: string; referrer?: string; session_started_at?: string } };

export type ScoredActivity = { activity_id: string; type: string; origin: "server" | "browser"; source: "page" | "verified_session" | "server"; occurred_at: string; received_at: string; website_account_id?: string; claimed_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; page_url?: string; page_title?: string; signs?: (string)[]; amount?: number; currency?: string; payee_id?: string; order_id?: string; instrument?: Instrument; status?: "attempted" | "approved" | "declined"; attributes?: Record<string, string | number | boolean>; score: number; log_odds?: number; rules: (string)[]; lists?: (string)[]; prediction_id?: string; case_id?: string; cases?: ({ case_id: string; score: number })[]; label?: { fraudulent: boolean; source: "case" | "api" | "report" | "account_report"; known_at: string; case_id?: string } };

export type Instrument = { type?: string; bin?: string; last4?: string; fingerprint?: string };

export type AccountLink = { kind: "device" | "ip"; value: string; first_seen: string; last_seen: string; country?: string; asn?: number; user_agent?: string; shared_with: number };

export type LinkedAccount = { website_account_id: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; first_seen: string; last_seen: string; open_case?: { case_id: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; created_at: string } };

export type LinkTable = { shared: (SharedLink)[]; nodes: ({ node_id: string; kind: "account" | "device" | "ip"; value: string; is_origin: boolean; flags?: { is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean }; open_case?: { case_id: string; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; created_at: string } })[]; edges: ({ from: string; to: string; first_seen: string; last_seen: string })[]; is_cut: boolean };

export type SharedLink = { kind: "device" | "ip"; value: string; accounts: number; website_account_ids: (string)[]; first_seen: string; last_seen: string; country?: string; asn?: number; user_agent?: string };

export type CaseDigest = { case_id: string; summary: string; fraud_labels: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; has_new_evidence: boolean; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; subject?: CaseSubject; members?: number; random_check?: boolean; closed?: { at: string; by: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" }; claim?: Claim; notes?: number; linked_cases: number; linked_case_ids: (string)[] };

export type CaseCounts = { open: number; new_evidence: number; blocked_accounts: number; no_account: number; claimed_by_me: number; last_activity_at: string | null };

export type Overview = { start_date: string; end_date: string; days: ({ day: string; opened: number; closed: number; reopened: number })[]; opened: number; closed: number; reopened: number; outcomes: { confirmed: number; false_positives: number; inconclusive: number; none: number }; median_seconds_to_close: number | null; open_cases: number; backlog: ({ created_after: string | null; created_before: string | null; cases: number })[]; scores: ({ score: number; cases: number })[]; last_activity_at: string | null };

export type EndUserAccount = { tenant_id: string; website_account_id: string; crm_account_id?: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; last_session_updated_on?: string; first_activity_at?: string; created_at: string; updated_at: string };

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

export type List = { name: string; type: "account" | "device" | "ip" | "country" | "asn" | "email" | "email_domain" | "payee" | "instrument" | "user_agent" | "text"; kind: "allow" | "block" | "watch" | "custom"; label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; description: string; entries: number; hits_7d: number; used_by: (string)[]; is_in_policy: boolean; created_at: string; created_by: string; updated_at: string; updated_by: string };

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

export type Decision = { prediction_id: string; case_id?: string; cases?: ({ case_id: string; score: number })[]; activity: { activity_id: string; type: string; origin: string; source: "page" | "verified_session" | "server"; occurred_at: string; received_at: string; website_account_id?: string; claimed_account_id?: string; session_id?: string; device_id?: string; ip?: string }; score: number; log_odds: number; thresholds: { score_2: number; score_3: number; score_4: number; score_5: number }; revision: number; features: (FeatureValue)[]; rules: (FiredRule)[]; other_rules: (FiredRule)[]; lists: (string)[]; lists_revision?: number; shadow_rules: (FiredRule)[]; contributions: ({ name: string; plain_name: string; log_odds: number })[]; model?: { model_id: string; log_odds: number; contributions: ({ name: string; plain_name: string; log_odds: number })[] }; recomputed: { log_odds: number; score: number } };

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

export type Colleague = { user_id: string; email: string; name: string; role: "investigator" | "lead" | "admin" };

export type User = { user_id: string; email: string; name: string; role: "investigator" | "lead" | "admin"; is_disabled: boolean; has_password: boolean; has_external_sign_in: boolean; created_at: string; last_sign_in_at?: string };

export type NewUser = { email: string; name: string; role: "investigator" | "lead" | "admin" };

export type InvitedUser = { user: User; link: UserLink };

export type UserLink = { purpose: "set-up" | "invitation" | "password-reset"; url: string; expires_at: string };

export type UserChange = { name?: string; role?: "investigator" | "lead" | "admin"; is_disabled?: boolean };

export type Snippets = { snippets: ({ framework: string; snippet: string })[]; tenant_name: string; app_id: string; tenant_id: string };

export type MetricPoint = { timestamp: string; total_events?: number; guest_sessions?: number; non_guest_sessions?: number; unique_sessions?: number; unique_ids?: number; session_starts?: number };

export type Webhook = { webhook_id: string; url: string; types: (string)[]; is_enabled: boolean; disabled_reason?: string; waiting: number; dead: number; previous_secret_expires_at?: string; created_at: string; updated_at: string };

export type NewWebhook = { url: string; types?: ("case.opened" | "case.evidence_added" | "case.closed" | "case.reopened" | "case.note_added" | "account.created" | "account.updated" | "account.erased" | "activity.decided" | "rule.changed")[] };

export type WebhookSecret = { webhook: Webhook; secret: string };

export type WebhookChange = { url?: string; types?: ("case.opened" | "case.evidence_added" | "case.closed" | "case.reopened" | "case.note_added" | "account.created" | "account.updated" | "account.erased" | "activity.decided" | "rule.changed")[]; is_enabled?: boolean };

export type WebhookTest = { delivered: boolean; status?: number; error?: string; milliseconds: number };

export type WebhookDelivery = { event_id: number; type: string; resource: { type: string; id: string }; state: "WAITING" | "DELIVERED" | "DEAD"; attempts: number; created_at: string; last_attempt_at?: string; next_attempt_at?: string; waits_for?: number; last_status?: number; last_error?: string };

export type ResendWebhook = { event_id?: number };
