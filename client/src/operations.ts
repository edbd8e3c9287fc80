// Generated from the service's table of operations by `npm run generate`. Do not edit.

export type Scope = "read:cases" | "read:case" | "update:case" | "read:enduseraccount" | "update:enduseraccount" | "read:enduseraccounts" | "create:enduseraccount" | "delete:enduseraccount" | "create:activities" | "read:metrics" | "read:snippet" | "read:tenant" | "update:tenant" | "update:tenant_auth_secret" | "read:events" | "manage:webhooks" | "read:rules" | "manage:rules";

export type CaseListItem = { case_id: string; website_account_id: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE" };

export type Case = { case_id: string; tenant_id: string; website_account_id: string; session_id?: string; end_user_is_blocked: boolean; status: "OPEN" | "CLOSED"; case_version: number; created_at: string; updated_at: string | null; current_state: CaseState; state_history: (CaseState)[]; details: CaseDetails; fraud_occurrences: Record<string, FraudOccurrence> };

export type CaseState = { state_id: string; case_status: "OPEN" | "CLOSED"; session_status: "ACTIVE" | "FINISHED"; score: number; changed_at: string; changed_by: string; reason: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" };

export type CaseDetails = { overall_risk_score: number; primary_fraud_label: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; fraud_labels: ("Account Takeover" | "Bot" | "Synthetic" | "Organic")[]; summary: string; highlights: (string)[]; recommended_action: "MONITOR" | "CHALLENGE" | "BLOCK" | "ESCALATE" };

export type FraudOccurrence = { occurrence_id: string; prediction_id: string; session_id?: string; generated_at: string; risk_score: number; explanation: { fraud_reason: string; fraud_reason_description: string; fraud_types: ("Account Takeover" | "Bot Creation" | "Synthetic Fraud" | "Organic Fraud")[]; model_behaviour: ({ type: string; model_name: string; top_contributors: ({ feature: string; plain_name: string; feature_value: string | number | boolean; shap_value: number; direction: "toward_fraud" | "toward_safe"; impact_level: "LOW" | "MEDIUM" | "HIGH"; description: string })[] })[] | null } };

export type CaseChange = { status: "OPEN" | "CLOSED"; case_version: number; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" };

export type BulkClose = { cases: ({ case_id: string; case_version: number })[]; reason?: string; disposition?: "CONFIRMED_FRAUD" | "FALSE_POSITIVE" | "INCONCLUSIVE" };

export type BulkCloseResult = { case_id: string; status: 200 | 404 | 409; case_version?: number; type?: "item-not-found" | "item-version-conflict" | "transaction-contended"; current_version?: number };

export type EndUserAccount = { tenant_id: string; website_account_id: string; crm_account_id?: string; is_blocked: boolean; is_quarantined: boolean; is_fraudulent: boolean; last_session_updated_on?: string; created_at: string; updated_at: string };

export type NewEndUserAccount = { website_account_id: string; is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string | null };

export type EndUserAccountChange = { is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string | null };

export type ActivityBatch = { activities: (Activity)[] };

export type Activity = { activity_id: string; type: string; occurred_at: string; website_account_id?: string; session_id?: string; device_id?: string; ip?: string; user_agent?: string; attributes?: Record<string, string | number | boolean> };

export type Tenant = { tenant_name: string; tenant_id: string; client_id?: string; clickstream_app_id: string; allowed_origins: (string)[]; created_at: string };

export type RotateAuthSecret = { revoke_now?: boolean };

export type RotatedSecret = { client_id: string; client_secret: string; previous_secret_expires_at?: string };

export type Operations = {
  listCases: { params: undefined; query: { status?: "OPEN" | "CLOSED"; website_account_id?: string; user_is_blocked?: boolean; label?: "Account Takeover" | "Bot" | "Synthetic" | "Organic"; min_score?: number; created_after?: string; created_before?: string; updated_since?: string; sort?: "-created_at" | "created_at" | "-overall_risk_score" | "-updated_at"; limit?: number; cursor?: string }; body: undefined; data: { cases: (CaseListItem)[]; next_cursor: string | null } };
  getCase: { params: { case_id: string }; query: undefined; body: undefined; data: Case };
  updateCase: { params: { case_id: string }; query: undefined; body: CaseChange; data: Case };
  closeCases: { params: undefined; query: undefined; body: BulkClose; data: { results: (BulkCloseResult)[] } };
  listEndUserAccounts: { params: undefined; query: { is_blocked?: boolean; is_quarantined?: boolean; is_fraudulent?: boolean; crm_account_id?: string; limit?: number; cursor?: string }; body: undefined; data: { end_user_accounts: (EndUserAccount)[]; next_cursor: string | null } };
  createEndUserAccount: { params: undefined; query: undefined; body: NewEndUserAccount; data: EndUserAccount };
  getEndUserAccount: { params: { website_account_id: string }; query: undefined; body: undefined; data: EndUserAccount };
  updateEndUserAccount: { params: { website_account_id: string }; query: undefined; body: EndUserAccountChange; data: EndUserAccount };
  deleteEndUserAccount: { params: { website_account_id: string }; query: undefined; body: undefined; data: undefined };
  createActivities: { params: undefined; query: undefined; body: ActivityBatch; data: { accepted: number; duplicates: number } };
  getTenant: { params: undefined; query: undefined; body: undefined; data: Tenant };
  rotateAuthSecret: { params: undefined; query: undefined; body: RotateAuthSecret; data: RotatedSecret };
};

// `isRepeatable`: to send it twice is to have sent it once, so that it may be retried.
export const operations = {
  listCases: { method: "GET", path: "/cases", wantsKey: false, isRepeatable: true },
  getCase: { method: "GET", path: "/cases/{case_id}", wantsKey: false, isRepeatable: true },
  updateCase: { method: "PUT", path: "/cases/{case_id}", wantsKey: true, isRepeatable: true },
  closeCases: { method: "POST", path: "/cases/close", wantsKey: true, isRepeatable: true },
  listEndUserAccounts: { method: "GET", path: "/enduseraccounts", wantsKey: false, isRepeatable: true },
  createEndUserAccount: { method: "POST", path: "/enduseraccounts", wantsKey: false, isRepeatable: false },
  getEndUserAccount: { method: "GET", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: true },
  updateEndUserAccount: { method: "PUT", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: true },
  deleteEndUserAccount: { method: "DELETE", path: "/enduseraccounts/{website_account_id}", wantsKey: false, isRepeatable: false },
  createActivities: { method: "POST", path: "/activities", wantsKey: false, isRepeatable: true },
  getTenant: { method: "GET", path: "/tenants", wantsKey: false, isRepeatable: true },
  rotateAuthSecret: { method: "POST", path: "/tenants/rotate-auth-secret", wantsKey: false, isRepeatable: false },
} as const;
