// Generated from the service's table of operations by `npm run generate`. Do not edit.
import type { CaseListItem, Case, CaseMember, CaseChange, BulkClose, BulkCloseResult, CaseClaim, ClaimRequest, Note, NewNote, CaseFile, Snooze, SearchResult, Event, Session, ScoredActivity, AccountLink, LinkedAccount, LinkTable, CaseDigest, CaseCounts, Overview, EndUserAccount, NewEndUserAccount, EndUserAccountChange, ActivityBatch, AssessmentRequest, Assessment, HistoryStatus, HistoryBatch, HistoryBatchResult, HistoryReport, Label, LabelBatch, LabelBatchResult, CaseListValue, ListEntry, ListEntryBatch, ListEntriesChanged, ListValues, ListCsvImport, ListCsvImportResult, ListPreviewRequest, ListPreview, List, NewList, ListChange, Rule, RuleChange, RuleVersion, RuleReport, Feature, Thresholds, ThresholdsChange, Policy, PolicyChange, PolicyDefinition, PolicyTrial, BacktestListItem, NewBacktest, Backtest, Decision, Model, ModelRun, ModelSettings, ModelLabels, NewModelRun, RandomChecks, RandomChecksChange, QuarantineEntry, QuarantineCount, Tenant, TenantChange, RotateAuthSecret, RotatedSecret, Identity, IdentitySecretChange, NewIdentitySecret, ApiClient, NewApiClient, MadeClient, RotateClientSecret, Colleague, User, NewUser, InvitedUser, UserLink, UserChange, Snippets, MetricPoint, Webhook, NewWebhook, WebhookSecret, WebhookChange, WebhookTest, WebhookDelivery, ResendWebhook } from "./types.ts";

export type Operations = {
  listCases: { params: undefined; query: { status?: "OPEN" | "CLOSED"; website_account_id?: string; user_is_blocked?: boolean; label?: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; min_score?: number; max_score?: number; new_evidence?: boolean; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE"; closed_by?: string; claimed_by?: string; created_after?: string; created_before?: string; updated_since?: string; updated_before?: string; sort?: "-created_at" | "created_at" | "-overall_risk_score" | "-updated_at"; limit?: number; cursor?: string }; body: undefined; data: { cases: (CaseListItem)[]; next_cursor: string | null } };
  getCase: { params: { case_id: string }; query: undefined; body: undefined; data: Case };
  listCaseMembers: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { members: (CaseMember)[]; next_cursor: string | null } };
  updateCase: { params: { case_id: string }; query: undefined; body: CaseChange; data: Case };
  closeCases: { params: undefined; query: undefined; body: BulkClose; data: { results: (BulkCloseResult)[] } };
  getCaseClaim: { params: { case_id: string }; query: undefined; body: undefined; data: CaseClaim };
  claimCase: { params: { case_id: string }; query: undefined; body: ClaimRequest; data: CaseClaim };
  releaseCase: { params: { case_id: string }; query: undefined; body: undefined; data: undefined };
  listCaseNotes: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { notes: (Note)[]; next_cursor: string | null } };
  addCaseNote: { params: { case_id: string }; query: undefined; body: NewNote; data: Note };
  createCaseFile: { params: { case_id: string }; query: undefined; body: undefined; data: CaseFile };
  listSnoozes: { params: undefined; query: { is_active?: boolean; limit?: number; cursor?: string }; body: undefined; data: { snoozes: (Snooze)[]; next_cursor: string | null } };
  endSnooze: { params: { snooze_id: string }; query: undefined; body: undefined; data: undefined };
  search: { params: undefined; query: { q?: string; limit?: number }; body: undefined; data: SearchResult };
  listEvents: { params: undefined; query: { after?: number; limit?: number; wait?: number }; body: undefined; data: { events: (Event)[]; next_after: number } };
  listCaseEvents: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { events: (Event)[]; next_cursor: string | null } };
  listEndUserAccountEvents: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { events: (Event)[]; next_cursor: string | null } };
  getSession: { params: { session_id: string }; query: undefined; body: undefined; data: Session };
  listSessionActivities: { params: { session_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listCaseSessions: { params: { case_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { sessions: (Session)[]; next_cursor: string | null } };
  listEndUserAccountSessions: { params: { website_account_id: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { sessions: (Session)[]; next_cursor: string | null } };
  listActivities: { params: undefined; query: { limit?: number; cursor?: string }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
  listCaseActivities: { params: { case_id: string }; query: { limit?: number; cursor?: string; evidence?: boolean }; body: undefined; data: { activities: (ScoredActivity)[]; next_cursor: string | null } };
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
  exportList: { params: { list_name: string }; query: { limit?: number; cursor?: string }; body: undefined; data: { csv: string; next_cursor: string | null } };
  importList: { params: { list_name: string }; query: undefined; body: ListCsvImport; data: ListCsvImportResult };
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
  listColleagues: { params: undefined; query: undefined; body: undefined; data: { colleagues: (Colleague)[] } };
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
  getCaseClaim: { method: "GET", path: "/cases/{case_id}/claim", wantsKey: false, isRepeatable: true },
  claimCase: { method: "PUT", path: "/cases/{case_id}/claim", wantsKey: false, isRepeatable: true },
  releaseCase: { method: "DELETE", path: "/cases/{case_id}/claim", wantsKey: false, isRepeatable: false },
  listCaseNotes: { method: "GET", path: "/cases/{case_id}/notes", wantsKey: false, isRepeatable: true, items: "notes" },
  addCaseNote: { method: "POST", path: "/cases/{case_id}/notes", wantsKey: true, isRepeatable: true },
  createCaseFile: { method: "POST", path: "/cases/{case_id}/file", wantsKey: false, isRepeatable: false },
  listSnoozes: { method: "GET", path: "/snoozes", wantsKey: false, isRepeatable: true, items: "snoozes" },
  endSnooze: { method: "DELETE", path: "/snoozes/{snooze_id}", wantsKey: false, isRepeatable: false },
  search: { method: "GET", path: "/search", wantsKey: false, isRepeatable: true },
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
  exportList: { method: "GET", path: "/lists/{list_name}/csv", wantsKey: false, isRepeatable: true },
  importList: { method: "POST", path: "/lists/{list_name}/csv", wantsKey: false, isRepeatable: true },
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
  listColleagues: { method: "GET", path: "/colleagues", wantsKey: false, isRepeatable: true },
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
