// Generated from the service's table of operations by `npm run generate`. Do not edit.
import type { CallOptions, Input, OperationId } from "./call.ts";
import type { Operations } from "./operations.ts";

export abstract class OperationMethods {
  abstract call<Id extends OperationId>(id: Id, input: Input<Id>): Promise<Operations[Id]["data"]>;

  /** List cases. GET /cases, scope read:cases. */
  listCases(query: Operations["listCases"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listCases"]["data"]> {
    return this.call("listCases", { query, ...options });
  }

  /** Read a case. GET /cases/{case_id}, scope read:case. */
  getCase(case_id: string, options: CallOptions = {}): Promise<Operations["getCase"]["data"]> {
    return this.call("getCase", { params: { case_id }, ...options });
  }

  /** Close or reopen a case. PUT /cases/{case_id}, scope update:case. */
  updateCase(case_id: string, body: Operations["updateCase"]["body"], options: CallOptions = {}): Promise<Operations["updateCase"]["data"]> {
    return this.call("updateCase", { params: { case_id }, body, ...options });
  }

  /** Close many cases. POST /cases/close, scope update:case. */
  closeCases(body: Operations["closeCases"]["body"], options: CallOptions = {}): Promise<Operations["closeCases"]["data"]> {
    return this.call("closeCases", { body, ...options });
  }

  /** Read the feed of changes. GET /events, scope read:events. */
  listEvents(query: Operations["listEvents"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEvents"]["data"]> {
    return this.call("listEvents", { query, ...options });
  }

  /** Read a case's audit trail. GET /cases/{case_id}/events, scope read:case. */
  listCaseEvents(case_id: string, query: Operations["listCaseEvents"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listCaseEvents"]["data"]> {
    return this.call("listCaseEvents", { params: { case_id }, query, ...options });
  }

  /** Read an account's history. GET /enduseraccounts/{website_account_id}/events, scope read:enduseraccount. */
  listEndUserAccountEvents(website_account_id: string, query: Operations["listEndUserAccountEvents"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEndUserAccountEvents"]["data"]> {
    return this.call("listEndUserAccountEvents", { params: { website_account_id }, query, ...options });
  }

  /** Read a session. GET /sessions/{session_id}, scope read:case. */
  getSession(session_id: string, options: CallOptions = {}): Promise<Operations["getSession"]["data"]> {
    return this.call("getSession", { params: { session_id }, ...options });
  }

  /** List a session's events. GET /sessions/{session_id}/activities, scope read:case. */
  listSessionActivities(session_id: string, query: Operations["listSessionActivities"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listSessionActivities"]["data"]> {
    return this.call("listSessionActivities", { params: { session_id }, query, ...options });
  }

  /** List the sessions that a case's occurrences belong to. GET /cases/{case_id}/sessions, scope read:case. */
  listCaseSessions(case_id: string, query: Operations["listCaseSessions"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listCaseSessions"]["data"]> {
    return this.call("listCaseSessions", { params: { case_id }, query, ...options });
  }

  /** List an account's sessions. GET /enduseraccounts/{website_account_id}/sessions, scope read:enduseraccount. */
  listEndUserAccountSessions(website_account_id: string, query: Operations["listEndUserAccountSessions"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEndUserAccountSessions"]["data"]> {
    return this.call("listEndUserAccountSessions", { params: { website_account_id }, query, ...options });
  }

  /** List the activity that came in last. GET /activities, scope read:enduseraccounts. */
  listActivities(query: Operations["listActivities"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listActivities"]["data"]> {
    return this.call("listActivities", { query, ...options });
  }

  /** List the activity around a case's occurrences. GET /cases/{case_id}/activities, scope read:case. */
  listCaseActivities(case_id: string, query: Operations["listCaseActivities"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listCaseActivities"]["data"]> {
    return this.call("listCaseActivities", { params: { case_id }, query, ...options });
  }

  /** List an account's activity. GET /enduseraccounts/{website_account_id}/activities, scope read:enduseraccount. */
  listEndUserAccountActivities(website_account_id: string, query: Operations["listEndUserAccountActivities"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEndUserAccountActivities"]["data"]> {
    return this.call("listEndUserAccountActivities", { params: { website_account_id }, query, ...options });
  }

  /** List an account's devices and addresses. GET /enduseraccounts/{website_account_id}/links, scope read:enduseraccount. */
  listEndUserAccountLinks(website_account_id: string, query: Operations["listEndUserAccountLinks"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEndUserAccountLinks"]["data"]> {
    return this.call("listEndUserAccountLinks", { params: { website_account_id }, query, ...options });
  }

  /** List the accounts behind a device. GET /devices/{device_id}/accounts, scope read:enduseraccounts. */
  listDeviceAccounts(device_id: string, query: Operations["listDeviceAccounts"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listDeviceAccounts"]["data"]> {
    return this.call("listDeviceAccounts", { params: { device_id }, query, ...options });
  }

  /** List the accounts behind an address. GET /addresses/{ip}/accounts, scope read:enduseraccounts. */
  listAddressAccounts(ip: string, query: Operations["listAddressAccounts"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listAddressAccounts"]["data"]> {
    return this.call("listAddressAccounts", { params: { ip }, query, ...options });
  }

  /** Read what accounts share. GET /links, scope read:enduseraccounts. */
  getLinks(query: Operations["getLinks"]["query"] = {}, options: CallOptions = {}): Promise<Operations["getLinks"]["data"]> {
    return this.call("getLinks", { query, ...options });
  }

  /** Read what a queue shows beside its cases. GET /cases/digests, scope read:cases. */
  listCaseDigests(query: Operations["listCaseDigests"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listCaseDigests"]["data"]> {
    return this.call("listCaseDigests", { query, ...options });
  }

  /** Count open cases. GET /cases/counts, scope read:cases. */
  getCaseCounts(options: CallOptions = {}): Promise<Operations["getCaseCounts"]["data"]> {
    return this.call("getCaseCounts", { ...options });
  }

  /** Read how the work on cases goes. GET /overview, scope read:metrics. */
  getOverview(query: Operations["getOverview"]["query"] = {}, options: CallOptions = {}): Promise<Operations["getOverview"]["data"]> {
    return this.call("getOverview", { query, ...options });
  }

  /** List end-user accounts. GET /enduseraccounts, scope read:enduseraccounts. */
  listEndUserAccounts(query: Operations["listEndUserAccounts"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listEndUserAccounts"]["data"]> {
    return this.call("listEndUserAccounts", { query, ...options });
  }

  /** Create an end-user account. POST /enduseraccounts, scope create:enduseraccount. */
  createEndUserAccount(body: Operations["createEndUserAccount"]["body"], options: CallOptions = {}): Promise<Operations["createEndUserAccount"]["data"]> {
    return this.call("createEndUserAccount", { body, ...options });
  }

  /** Read an end-user account. GET /enduseraccounts/{website_account_id}, scope read:enduseraccount. */
  getEndUserAccount(website_account_id: string, options: CallOptions = {}): Promise<Operations["getEndUserAccount"]["data"]> {
    return this.call("getEndUserAccount", { params: { website_account_id }, ...options });
  }

  /** Change an account's flags and CRM id. PUT /enduseraccounts/{website_account_id}, scope update:enduseraccount. */
  updateEndUserAccount(website_account_id: string, body: Operations["updateEndUserAccount"]["body"], options: CallOptions = {}): Promise<Operations["updateEndUserAccount"]["data"]> {
    return this.call("updateEndUserAccount", { params: { website_account_id }, body, ...options });
  }

  /** Erase an end-user account. DELETE /enduseraccounts/{website_account_id}, scope delete:enduseraccount. */
  deleteEndUserAccount(website_account_id: string, options: CallOptions = {}): Promise<Operations["deleteEndUserAccount"]["data"]> {
    return this.call("deleteEndUserAccount", { params: { website_account_id }, ...options });
  }

  /** Send activity of your website. POST /activities, scope create:activities. */
  createActivities(body: Operations["createActivities"]["body"], options: CallOptions = {}): Promise<Operations["createActivities"]["data"]> {
    return this.call("createActivities", { body, ...options });
  }

  /** List the rules. GET /rules, scope read:rules. */
  listRules(options: CallOptions = {}): Promise<Operations["listRules"]["data"]> {
    return this.call("listRules", { ...options });
  }

  /** Read a rule. GET /rules/{rule_id}, scope read:rules. */
  getRule(rule_id: string, options: CallOptions = {}): Promise<Operations["getRule"]["data"]> {
    return this.call("getRule", { params: { rule_id }, ...options });
  }

  /** Make or change a rule. PUT /rules/{rule_id}, scope manage:rules. */
  updateRule(rule_id: string, body: Operations["updateRule"]["body"], options: CallOptions = {}): Promise<Operations["updateRule"]["data"]> {
    return this.call("updateRule", { params: { rule_id }, body, ...options });
  }

  /** Read a rule's history. GET /rules/{rule_id}/history, scope read:rules. */
  listRuleVersions(rule_id: string, options: CallOptions = {}): Promise<Operations["listRuleVersions"]["data"]> {
    return this.call("listRuleVersions", { params: { rule_id }, ...options });
  }

  /** Read what a rule hit. GET /rules/{rule_id}/report, scope read:rules. */
  getRuleReport(rule_id: string, query: Operations["getRuleReport"]["query"] = {}, options: CallOptions = {}): Promise<Operations["getRuleReport"]["data"]> {
    return this.call("getRuleReport", { params: { rule_id }, query, ...options });
  }

  /** List what rules can read. GET /features, scope read:rules. */
  listFeatures(options: CallOptions = {}): Promise<Operations["listFeatures"]["data"]> {
    return this.call("listFeatures", { ...options });
  }

  /** Read the thresholds. GET /thresholds, scope read:rules. */
  getThresholds(options: CallOptions = {}): Promise<Operations["getThresholds"]["data"]> {
    return this.call("getThresholds", { ...options });
  }

  /** Change the thresholds. PUT /thresholds, scope manage:rules. */
  updateThresholds(body: Operations["updateThresholds"]["body"], options: CallOptions = {}): Promise<Operations["updateThresholds"]["data"]> {
    return this.call("updateThresholds", { body, ...options });
  }

  /** List backtests. GET /backtests, scope read:rules. */
  listBacktests(options: CallOptions = {}): Promise<Operations["listBacktests"]["data"]> {
    return this.call("listBacktests", { ...options });
  }

  /** Try a draft on stored decisions. POST /backtests, scope manage:rules. */
  createBacktest(body: Operations["createBacktest"]["body"], options: CallOptions = {}): Promise<Operations["createBacktest"]["data"]> {
    return this.call("createBacktest", { body, ...options });
  }

  /** Read a backtest. GET /backtests/{backtest_id}, scope read:rules. */
  getBacktest(backtest_id: string, options: CallOptions = {}): Promise<Operations["getBacktest"]["data"]> {
    return this.call("getBacktest", { params: { backtest_id }, ...options });
  }

  /** Cancel a backtest. POST /backtests/{backtest_id}/cancel, scope manage:rules. */
  cancelBacktest(backtest_id: string, options: CallOptions = {}): Promise<Operations["cancelBacktest"]["data"]> {
    return this.call("cancelBacktest", { params: { backtest_id }, ...options });
  }

  /** Explain a decision. GET /decisions/{prediction_id}, scope read:case. */
  getDecision(prediction_id: string, options: CallOptions = {}): Promise<Operations["getDecision"]["data"]> {
    return this.call("getDecision", { params: { prediction_id }, ...options });
  }

  /** What browsers sent that was not taken as it came. GET /quarantine, scope read:metrics. */
  listQuarantine(query: Operations["listQuarantine"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listQuarantine"]["data"]> {
    return this.call("listQuarantine", { query, ...options });
  }

  /** Read your own tenant. GET /tenants, scope read:tenant. */
  getTenant(options: CallOptions = {}): Promise<Operations["getTenant"]["data"]> {
    return this.call("getTenant", { ...options });
  }

  /** Change your own tenant. PUT /tenants, scope update:tenant. */
  updateTenant(body: Operations["updateTenant"]["body"], options: CallOptions = {}): Promise<Operations["updateTenant"]["data"]> {
    return this.call("updateTenant", { body, ...options });
  }

  /** Rotate the client secret. POST /tenants/rotate-auth-secret, scope update:tenant_auth_secret. */
  rotateAuthSecret(body: Operations["rotateAuthSecret"]["body"], options: CallOptions = {}): Promise<Operations["rotateAuthSecret"]["data"]> {
    return this.call("rotateAuthSecret", { body, ...options });
  }

  /** List the tenant's clients. GET /clients, scope read:clients. */
  listClients(options: CallOptions = {}): Promise<Operations["listClients"]["data"]> {
    return this.call("listClients", { ...options });
  }

  /** Make a further client. POST /clients, scope manage:clients. */
  createClient(body: Operations["createClient"]["body"], options: CallOptions = {}): Promise<Operations["createClient"]["data"]> {
    return this.call("createClient", { body, ...options });
  }

  /** Rotate a client's secret. POST /clients/{client_id}/rotate-secret, scope manage:clients. */
  rotateClientSecret(client_id: string, body: Operations["rotateClientSecret"]["body"], options: CallOptions = {}): Promise<Operations["rotateClientSecret"]["data"]> {
    return this.call("rotateClientSecret", { params: { client_id }, body, ...options });
  }

  /** Revoke a client. DELETE /clients/{client_id}, scope manage:clients. */
  revokeClient(client_id: string, options: CallOptions = {}): Promise<Operations["revokeClient"]["data"]> {
    return this.call("revokeClient", { params: { client_id }, ...options });
  }

  /** List the tenant's people. GET /users, scope read:users. */
  listUsers(options: CallOptions = {}): Promise<Operations["listUsers"]["data"]> {
    return this.call("listUsers", { ...options });
  }

  /** Read one person. GET /users/{user_id}, scope read:users. */
  getUser(user_id: string, options: CallOptions = {}): Promise<Operations["getUser"]["data"]> {
    return this.call("getUser", { params: { user_id }, ...options });
  }

  /** Invite a person. POST /users, scope manage:users. */
  createUser(body: Operations["createUser"]["body"], options: CallOptions = {}): Promise<Operations["createUser"]["data"]> {
    return this.call("createUser", { body, ...options });
  }

  /** Change a person's name or role, or disable them. PUT /users/{user_id}, scope manage:users. */
  updateUser(user_id: string, body: Operations["updateUser"]["body"], options: CallOptions = {}): Promise<Operations["updateUser"]["data"]> {
    return this.call("updateUser", { params: { user_id }, body, ...options });
  }

  /** Make a new link for a person. POST /users/{user_id}/links, scope manage:users. */
  createUserLink(user_id: string, options: CallOptions = {}): Promise<Operations["createUserLink"]["data"]> {
    return this.call("createUserLink", { params: { user_id }, ...options });
  }

  /** Sign a person out everywhere. DELETE /users/{user_id}/sessions, scope manage:users. */
  endUserSessions(user_id: string, options: CallOptions = {}): Promise<Operations["endUserSessions"]["data"]> {
    return this.call("endUserSessions", { params: { user_id }, ...options });
  }

  /** What a web page pastes in. GET /snippet, scope read:snippet. */
  getSnippet(options: CallOptions = {}): Promise<Operations["getSnippet"]["data"]> {
    return this.call("getSnippet", { ...options });
  }

  /** Read the tenant's metrics. GET /metrics, scope read:metrics. */
  getTenantMetrics(query: Operations["getTenantMetrics"]["query"] = {}, options: CallOptions = {}): Promise<Operations["getTenantMetrics"]["data"]> {
    return this.call("getTenantMetrics", { query, ...options });
  }

  /** List the tenant's webhooks. GET /webhooks, scope manage:webhooks. */
  listWebhooks(options: CallOptions = {}): Promise<Operations["listWebhooks"]["data"]> {
    return this.call("listWebhooks", { ...options });
  }

  /** Have changes sent to an address. POST /webhooks, scope manage:webhooks. */
  createWebhook(body: Operations["createWebhook"]["body"], options: CallOptions = {}): Promise<Operations["createWebhook"]["data"]> {
    return this.call("createWebhook", { body, ...options });
  }

  /** Read a webhook. GET /webhooks/{webhook_id}, scope manage:webhooks. */
  getWebhook(webhook_id: string, options: CallOptions = {}): Promise<Operations["getWebhook"]["data"]> {
    return this.call("getWebhook", { params: { webhook_id }, ...options });
  }

  /** Change a webhook, or switch it off or on. PUT /webhooks/{webhook_id}, scope manage:webhooks. */
  updateWebhook(webhook_id: string, body: Operations["updateWebhook"]["body"], options: CallOptions = {}): Promise<Operations["updateWebhook"]["data"]> {
    return this.call("updateWebhook", { params: { webhook_id }, body, ...options });
  }

  /** Rotate a webhook's secret. POST /webhooks/{webhook_id}/rotate-secret, scope manage:webhooks. */
  rotateWebhookSecret(webhook_id: string, options: CallOptions = {}): Promise<Operations["rotateWebhookSecret"]["data"]> {
    return this.call("rotateWebhookSecret", { params: { webhook_id }, ...options });
  }

  /** Send a test message. POST /webhooks/{webhook_id}/test, scope manage:webhooks. */
  testWebhook(webhook_id: string, options: CallOptions = {}): Promise<Operations["testWebhook"]["data"]> {
    return this.call("testWebhook", { params: { webhook_id }, ...options });
  }

  /** List what was sent, waits, or was given up. GET /webhooks/{webhook_id}/deliveries, scope manage:webhooks. */
  listWebhookDeliveries(webhook_id: string, query: Operations["listWebhookDeliveries"]["query"] = {}, options: CallOptions = {}): Promise<Operations["listWebhookDeliveries"]["data"]> {
    return this.call("listWebhookDeliveries", { params: { webhook_id }, query, ...options });
  }

  /** Send again what was given up. POST /webhooks/{webhook_id}/resend, scope manage:webhooks. */
  resendWebhookDeliveries(webhook_id: string, body: Operations["resendWebhookDeliveries"]["body"], options: CallOptions = {}): Promise<Operations["resendWebhookDeliveries"]["data"]> {
    return this.call("resendWebhookDeliveries", { params: { webhook_id }, body, ...options });
  }

  /** Delete a webhook. DELETE /webhooks/{webhook_id}, scope manage:webhooks. */
  deleteWebhook(webhook_id: string, options: CallOptions = {}): Promise<Operations["deleteWebhook"]["data"]> {
    return this.call("deleteWebhook", { params: { webhook_id }, ...options });
  }
}
