// Generated from the service's table of operations by `npm run generate`. Do not edit.
import type { Answer, Body, CallOptions, Input, OperationId, Query } from "./call.ts";

export abstract class OperationMethods {
  abstract call<Id extends OperationId>(id: Id, input: Input<Id>): Answer<Id>;
  /** List cases. GET /cases, scope read:cases. */
  listCases(query: Query<"listCases"> = {}, options: CallOptions = {}): Answer<"listCases"> { return this.call("listCases", { query, ...options }); }
  /** Read a case. GET /cases/{case_id}, scope read:case. */
  getCase(case_id: string, options: CallOptions = {}): Answer<"getCase"> { return this.call("getCase", { params: { case_id }, ...options }); }
  /** List the accounts of an attack. GET /cases/{case_id}/members, scope read:case. */
  listCaseMembers(case_id: string, query: Query<"listCaseMembers"> = {}, options: CallOptions = {}): Answer<"listCaseMembers"> { return this.call("listCaseMembers", { params: { case_id }, query, ...options }); }
  /** Close or reopen a case. PUT /cases/{case_id}, scope update:case. */
  updateCase(case_id: string, body: Body<"updateCase">, options: CallOptions = {}): Answer<"updateCase"> { return this.call("updateCase", { params: { case_id }, body, ...options }); }
  /** Close many cases. POST /cases/close, scope update:case. */
  closeCases(body: Body<"closeCases">, options: CallOptions = {}): Answer<"closeCases"> { return this.call("closeCases", { body, ...options }); }
  /** Read who works on a case. GET /cases/{case_id}/claim, scope read:case. */
  getCaseClaim(case_id: string, options: CallOptions = {}): Answer<"getCaseClaim"> { return this.call("getCaseClaim", { params: { case_id }, ...options }); }
  /** Claim a case. PUT /cases/{case_id}/claim, scope update:case. */
  claimCase(case_id: string, body: Body<"claimCase">, options: CallOptions = {}): Answer<"claimCase"> { return this.call("claimCase", { params: { case_id }, body, ...options }); }
  /** Release a case. DELETE /cases/{case_id}/claim, scope update:case. */
  releaseCase(case_id: string, options: CallOptions = {}): Answer<"releaseCase"> { return this.call("releaseCase", { params: { case_id }, ...options }); }
  /** List the notes of a case. GET /cases/{case_id}/notes, scope read:case. */
  listCaseNotes(case_id: string, query: Query<"listCaseNotes"> = {}, options: CallOptions = {}): Answer<"listCaseNotes"> { return this.call("listCaseNotes", { params: { case_id }, query, ...options }); }
  /** Add a note to a case. POST /cases/{case_id}/notes, scope update:case. */
  addCaseNote(case_id: string, body: Body<"addCaseNote">, options: CallOptions = {}): Answer<"addCaseNote"> { return this.call("addCaseNote", { params: { case_id }, body, ...options }); }
  /** Save a case as one file. POST /cases/{case_id}/file, scope read:case. */
  createCaseFile(case_id: string, options: CallOptions = {}): Answer<"createCaseFile"> { return this.call("createCaseFile", { params: { case_id }, ...options }); }
  /** List snoozes. GET /snoozes, scope read:cases. */
  listSnoozes(query: Query<"listSnoozes"> = {}, options: CallOptions = {}): Answer<"listSnoozes"> { return this.call("listSnoozes", { query, ...options }); }
  /** End a snooze. DELETE /snoozes/{snooze_id}, scope update:case. */
  endSnooze(snooze_id: string, options: CallOptions = {}): Answer<"endSnooze"> { return this.call("endSnooze", { params: { snooze_id }, ...options }); }
  /** Find accounts, cases, devices, addresses, payees and orders. GET /search, scope read:cases and read:enduseraccounts. */
  search(query: Query<"search"> = {}, options: CallOptions = {}): Answer<"search"> { return this.call("search", { query, ...options }); }
  /** Read the feed of changes. GET /events, scope read:events. */
  listEvents(query: Query<"listEvents"> = {}, options: CallOptions = {}): Answer<"listEvents"> { return this.call("listEvents", { query, ...options }); }
  /** Read a case's audit trail. GET /cases/{case_id}/events, scope read:case. */
  listCaseEvents(case_id: string, query: Query<"listCaseEvents"> = {}, options: CallOptions = {}): Answer<"listCaseEvents"> { return this.call("listCaseEvents", { params: { case_id }, query, ...options }); }
  /** Read an account's history. GET /enduseraccounts/{website_account_id}/events, scope read:enduseraccount. */
  listEndUserAccountEvents(website_account_id: string, query: Query<"listEndUserAccountEvents"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountEvents"> { return this.call("listEndUserAccountEvents", { params: { website_account_id }, query, ...options }); }
  /** Read a session. GET /sessions/{session_id}, scope read:case. */
  getSession(session_id: string, options: CallOptions = {}): Answer<"getSession"> { return this.call("getSession", { params: { session_id }, ...options }); }
  /** List a session's events. GET /sessions/{session_id}/activities, scope read:case. */
  listSessionActivities(session_id: string, query: Query<"listSessionActivities"> = {}, options: CallOptions = {}): Answer<"listSessionActivities"> { return this.call("listSessionActivities", { params: { session_id }, query, ...options }); }
  /** List the sessions that a case's occurrences belong to. GET /cases/{case_id}/sessions, scope read:case. */
  listCaseSessions(case_id: string, query: Query<"listCaseSessions"> = {}, options: CallOptions = {}): Answer<"listCaseSessions"> { return this.call("listCaseSessions", { params: { case_id }, query, ...options }); }
  /** List an account's sessions. GET /enduseraccounts/{website_account_id}/sessions, scope read:enduseraccount. */
  listEndUserAccountSessions(website_account_id: string, query: Query<"listEndUserAccountSessions"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountSessions"> { return this.call("listEndUserAccountSessions", { params: { website_account_id }, query, ...options }); }
  /** List the latest activity. GET /activities, scope read:enduseraccounts. */
  listActivities(query: Query<"listActivities"> = {}, options: CallOptions = {}): Answer<"listActivities"> { return this.call("listActivities", { query, ...options }); }
  /** List the activity around a case's occurrences. GET /cases/{case_id}/activities, scope read:case. */
  listCaseActivities(case_id: string, query: Query<"listCaseActivities"> = {}, options: CallOptions = {}): Answer<"listCaseActivities"> { return this.call("listCaseActivities", { params: { case_id }, query, ...options }); }
  /** List an account's activity. GET /enduseraccounts/{website_account_id}/activities, scope read:enduseraccount. */
  listEndUserAccountActivities(website_account_id: string, query: Query<"listEndUserAccountActivities"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountActivities"> { return this.call("listEndUserAccountActivities", { params: { website_account_id }, query, ...options }); }
  /** List an account's devices and addresses. GET /enduseraccounts/{website_account_id}/links, scope read:enduseraccount. */
  listEndUserAccountLinks(website_account_id: string, query: Query<"listEndUserAccountLinks"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountLinks"> { return this.call("listEndUserAccountLinks", { params: { website_account_id }, query, ...options }); }
  /** List the accounts behind a device. GET /devices/{device_id}/accounts, scope read:enduseraccounts. */
  listDeviceAccounts(device_id: string, query: Query<"listDeviceAccounts"> = {}, options: CallOptions = {}): Answer<"listDeviceAccounts"> { return this.call("listDeviceAccounts", { params: { device_id }, query, ...options }); }
  /** List the accounts behind an address. GET /addresses/{ip}/accounts, scope read:enduseraccounts. */
  listAddressAccounts(ip: string, query: Query<"listAddressAccounts"> = {}, options: CallOptions = {}): Answer<"listAddressAccounts"> { return this.call("listAddressAccounts", { params: { ip }, query, ...options }); }
  /** Read what accounts share. GET /links, scope read:enduseraccounts. */
  getLinks(query: Query<"getLinks"> = {}, options: CallOptions = {}): Answer<"getLinks"> { return this.call("getLinks", { query, ...options }); }
  /** Read the details that a queue shows with its cases. GET /cases/digests, scope read:cases. */
  listCaseDigests(query: Query<"listCaseDigests"> = {}, options: CallOptions = {}): Answer<"listCaseDigests"> { return this.call("listCaseDigests", { query, ...options }); }
  /** Count open cases. GET /cases/counts, scope read:cases. */
  getCaseCounts(options: CallOptions = {}): Answer<"getCaseCounts"> { return this.call("getCaseCounts", { ...options }); }
  /** Read figures on the work on cases. GET /overview, scope read:metrics. */
  getOverview(query: Query<"getOverview"> = {}, options: CallOptions = {}): Answer<"getOverview"> { return this.call("getOverview", { query, ...options }); }
  /** List end-user accounts. GET /enduseraccounts, scope read:enduseraccounts. */
  listEndUserAccounts(query: Query<"listEndUserAccounts"> = {}, options: CallOptions = {}): Answer<"listEndUserAccounts"> { return this.call("listEndUserAccounts", { query, ...options }); }
  /** Create an end-user account. POST /enduseraccounts, scope create:enduseraccount. */
  createEndUserAccount(body: Body<"createEndUserAccount">, options: CallOptions = {}): Answer<"createEndUserAccount"> { return this.call("createEndUserAccount", { body, ...options }); }
  /** Read an end-user account. GET /enduseraccounts/{website_account_id}, scope read:enduseraccount. */
  getEndUserAccount(website_account_id: string, options: CallOptions = {}): Answer<"getEndUserAccount"> { return this.call("getEndUserAccount", { params: { website_account_id }, ...options }); }
  /** Change an account's flags and CRM id. PUT /enduseraccounts/{website_account_id}, scope update:enduseraccount. */
  updateEndUserAccount(website_account_id: string, body: Body<"updateEndUserAccount">, options: CallOptions = {}): Answer<"updateEndUserAccount"> { return this.call("updateEndUserAccount", { params: { website_account_id }, body, ...options }); }
  /** Erase an end-user account. DELETE /enduseraccounts/{website_account_id}, scope delete:enduseraccount. */
  deleteEndUserAccount(website_account_id: string, options: CallOptions = {}): Answer<"deleteEndUserAccount"> { return this.call("deleteEndUserAccount", { params: { website_account_id }, ...options }); }
  /** Send activity of your website. POST /activities, scope create:activities. */
  createActivities(body: Body<"createActivities">, options: CallOptions = {}): Answer<"createActivities"> { return this.call("createActivities", { body, ...options }); }
  /** Send an activity and get a verdict. POST /assessments, scope create:activities and read:decisions. */
  createAssessment(body: Body<"createAssessment">, options: CallOptions = {}): Answer<"createAssessment"> { return this.call("createAssessment", { body, ...options }); }
  /** Get the progress of the import. GET /imports, scope import:activities. */
  getImport(options: CallOptions = {}): Answer<"getImport"> { return this.call("getImport", { ...options }); }
  /** Send activity from before you started to use Casehound. POST /imports, scope import:activities. */
  importActivities(body: Body<"importActivities">, options: CallOptions = {}): Answer<"importActivities"> { return this.call("importActivities", { body, ...options }); }
  /** Start scoring the history. POST /imports/start, scope import:activities. */
  startImport(options: CallOptions = {}): Answer<"startImport"> { return this.call("startImport", { ...options }); }
  /** Compare the scores with the known frauds. GET /imports/report, scope import:activities. */
  getImportReport(query: Query<"getImportReport"> = {}, options: CallOptions = {}): Answer<"getImportReport"> { return this.call("getImportReport", { query, ...options }); }
  /** List labels. GET /labels, scope read:labels. */
  listLabels(query: Query<"listLabels"> = {}, options: CallOptions = {}): Answer<"listLabels"> { return this.call("listLabels", { query, ...options }); }
  /** Say which activities were frauds. POST /labels, scope create:labels. */
  createLabels(body: Body<"createLabels">, options: CallOptions = {}): Answer<"createLabels"> { return this.call("createLabels", { body, ...options }); }
  /** List what a case could add to lists. GET /cases/{case_id}/values, scope read:case. */
  listCaseValues(case_id: string, options: CallOptions = {}): Answer<"listCaseValues"> { return this.call("listCaseValues", { params: { case_id }, ...options }); }
  /** List the entries of a list. GET /lists/{list_name}/entries, scope read:lists. */
  listListEntries(list_name: string, query: Query<"listListEntries"> = {}, options: CallOptions = {}): Answer<"listListEntries"> { return this.call("listListEntries", { params: { list_name }, query, ...options }); }
  /** Add entries. POST /lists/{list_name}/entries, scope update:lists. */
  addListEntries(list_name: string, body: Body<"addListEntries">, options: CallOptions = {}): Answer<"addListEntries"> { return this.call("addListEntries", { params: { list_name }, body, ...options }); }
  /** Remove entries. POST /lists/{list_name}/entries/remove, scope update:lists. */
  removeListEntries(list_name: string, body: Body<"removeListEntries">, options: CallOptions = {}): Answer<"removeListEntries"> { return this.call("removeListEntries", { params: { list_name }, body, ...options }); }
  /** Read a list as CSV. GET /lists/{list_name}/csv, scope read:lists. */
  exportList(list_name: string, query: Query<"exportList"> = {}, options: CallOptions = {}): Answer<"exportList"> { return this.call("exportList", { params: { list_name }, query, ...options }); }
  /** Add entries from CSV. POST /lists/{list_name}/csv, scope update:lists. */
  importList(list_name: string, body: Body<"importList">, options: CallOptions = {}): Answer<"importList"> { return this.call("importList", { params: { list_name }, body, ...options }); }
  /** See what values would have hit. POST /lists/{list_name}/preview, scope read:lists. */
  previewListValues(list_name: string, body: Body<"previewListValues">, options: CallOptions = {}): Answer<"previewListValues"> { return this.call("previewListValues", { params: { list_name }, body, ...options }); }
  /** List the lists. GET /lists, scope read:lists. */
  listLists(options: CallOptions = {}): Answer<"listLists"> { return this.call("listLists", { ...options }); }
  /** Create a list. POST /lists, scope manage:lists. */
  createList(body: Body<"createList">, options: CallOptions = {}): Answer<"createList"> { return this.call("createList", { body, ...options }); }
  /** Read a list. GET /lists/{list_name}, scope read:lists. */
  getList(list_name: string, options: CallOptions = {}): Answer<"getList"> { return this.call("getList", { params: { list_name }, ...options }); }
  /** Change a list. PUT /lists/{list_name}, scope manage:lists. */
  updateList(list_name: string, body: Body<"updateList">, options: CallOptions = {}): Answer<"updateList"> { return this.call("updateList", { params: { list_name }, body, ...options }); }
  /** Delete a list. DELETE /lists/{list_name}, scope manage:lists. */
  deleteList(list_name: string, options: CallOptions = {}): Answer<"deleteList"> { return this.call("deleteList", { params: { list_name }, ...options }); }
  /** List the rules. GET /rules, scope read:rules. */
  listRules(options: CallOptions = {}): Answer<"listRules"> { return this.call("listRules", { ...options }); }
  /** Read a rule. GET /rules/{rule_id}, scope read:rules. */
  getRule(rule_id: string, options: CallOptions = {}): Answer<"getRule"> { return this.call("getRule", { params: { rule_id }, ...options }); }
  /** Create or change a rule. PUT /rules/{rule_id}, scope manage:rules. */
  updateRule(rule_id: string, body: Body<"updateRule">, options: CallOptions = {}): Answer<"updateRule"> { return this.call("updateRule", { params: { rule_id }, body, ...options }); }
  /** Read a rule's history. GET /rules/{rule_id}/history, scope read:rules. */
  listRuleVersions(rule_id: string, options: CallOptions = {}): Answer<"listRuleVersions"> { return this.call("listRuleVersions", { params: { rule_id }, ...options }); }
  /** Read what a rule hit. GET /rules/{rule_id}/report, scope read:rules. */
  getRuleReport(rule_id: string, query: Query<"getRuleReport"> = {}, options: CallOptions = {}): Answer<"getRuleReport"> { return this.call("getRuleReport", { params: { rule_id }, query, ...options }); }
  /** List what rules can read. GET /features, scope read:rules. */
  listFeatures(options: CallOptions = {}): Answer<"listFeatures"> { return this.call("listFeatures", { ...options }); }
  /** Read the thresholds. GET /thresholds, scope read:rules. */
  getThresholds(query: Query<"getThresholds"> = {}, options: CallOptions = {}): Answer<"getThresholds"> { return this.call("getThresholds", { query, ...options }); }
  /** Change the thresholds. PUT /thresholds, scope manage:rules. */
  updateThresholds(body: Body<"updateThresholds">, options: CallOptions = {}): Answer<"updateThresholds"> { return this.call("updateThresholds", { body, ...options }); }
  /** Read the policy. GET /policy, scope read:rules. */
  getPolicy(options: CallOptions = {}): Answer<"getPolicy"> { return this.call("getPolicy", { ...options }); }
  /** Change the policy. PUT /policy, scope manage:rules. */
  updatePolicy(body: Body<"updatePolicy">, options: CallOptions = {}): Answer<"updatePolicy"> { return this.call("updatePolicy", { body, ...options }); }
  /** List the versions of the policy. GET /policy/versions, scope read:rules. */
  listPolicyVersions(options: CallOptions = {}): Answer<"listPolicyVersions"> { return this.call("listPolicyVersions", { ...options }); }
  /** Try a policy on recent activity. POST /policy/try-out, scope manage:rules. */
  tryPolicy(body: Body<"tryPolicy">, options: CallOptions = {}): Answer<"tryPolicy"> { return this.call("tryPolicy", { body, ...options }); }
  /** List backtests. GET /backtests, scope read:rules. */
  listBacktests(options: CallOptions = {}): Answer<"listBacktests"> { return this.call("listBacktests", { ...options }); }
  /** Try a draft on stored decisions. POST /backtests, scope manage:rules. */
  createBacktest(body: Body<"createBacktest">, options: CallOptions = {}): Answer<"createBacktest"> { return this.call("createBacktest", { body, ...options }); }
  /** Read a backtest. GET /backtests/{backtest_id}, scope read:rules. */
  getBacktest(backtest_id: string, options: CallOptions = {}): Answer<"getBacktest"> { return this.call("getBacktest", { params: { backtest_id }, ...options }); }
  /** Cancel a backtest. POST /backtests/{backtest_id}/cancel, scope manage:rules. */
  cancelBacktest(backtest_id: string, options: CallOptions = {}): Answer<"cancelBacktest"> { return this.call("cancelBacktest", { params: { backtest_id }, ...options }); }
  /** Explain a decision. GET /decisions/{prediction_id}, scope read:case. */
  getDecision(prediction_id: string, options: CallOptions = {}): Answer<"getDecision"> { return this.call("getDecision", { params: { prediction_id }, ...options }); }
  /** List models and training runs. GET /models, scope read:models. */
  listModels(options: CallOptions = {}): Answer<"listModels"> { return this.call("listModels", { ...options }); }
  /** Train a model on the labels. POST /models, scope manage:models. */
  trainModels(body: Body<"trainModels">, options: CallOptions = {}): Answer<"trainModels"> { return this.call("trainModels", { body, ...options }); }
  /** Compare two models. GET /models/compare, scope read:models. */
  compareModels(query: Query<"compareModels"> = {}, options: CallOptions = {}): Answer<"compareModels"> { return this.call("compareModels", { query, ...options }); }
  /** Set which rules a model may overrule. PUT /models/settings, scope manage:models. */
  updateModelSettings(body: Body<"updateModelSettings">, options: CallOptions = {}): Answer<"updateModelSettings"> { return this.call("updateModelSettings", { body, ...options }); }
  /** Read a model's figures. GET /models/{model_id}, scope read:models. */
  getModel(model_id: string, options: CallOptions = {}): Answer<"getModel"> { return this.call("getModel", { params: { model_id }, ...options }); }
  /** Download a model. GET /models/{model_id}/download, scope read:models. */
  downloadModel(model_id: string, options: CallOptions = {}): Answer<"downloadModel"> { return this.call("downloadModel", { params: { model_id }, ...options }); }
  /** Make a model the champion of its moment. POST /models/{model_id}/promote, scope manage:models. */
  promoteModel(model_id: string, options: CallOptions = {}): Answer<"promoteModel"> { return this.call("promoteModel", { params: { model_id }, ...options }); }
  /** Retire a model. POST /models/{model_id}/retire, scope manage:models. */
  retireModel(model_id: string, options: CallOptions = {}): Answer<"retireModel"> { return this.call("retireModel", { params: { model_id }, ...options }); }
  /** Get the estimate of missed frauds. GET /random-checks, scope read:models. */
  getRandomChecks(options: CallOptions = {}): Answer<"getRandomChecks"> { return this.call("getRandomChecks", { ...options }); }
  /** Set how many random checks are opened each day. PUT /random-checks, scope manage:models. */
  updateRandomChecks(body: Body<"updateRandomChecks">, options: CallOptions = {}): Answer<"updateRandomChecks"> { return this.call("updateRandomChecks", { body, ...options }); }
  /** List quarantined browser events. GET /quarantine, scope read:metrics. */
  listQuarantine(query: Query<"listQuarantine"> = {}, options: CallOptions = {}): Answer<"listQuarantine"> { return this.call("listQuarantine", { query, ...options }); }
  /** Read your own tenant. GET /tenants, scope read:tenant. */
  getTenant(options: CallOptions = {}): Answer<"getTenant"> { return this.call("getTenant", { ...options }); }
  /** Change your own tenant. PUT /tenants, scope update:tenant. */
  updateTenant(body: Body<"updateTenant">, options: CallOptions = {}): Answer<"updateTenant"> { return this.call("updateTenant", { body, ...options }); }
  /** Rotate the client secret. POST /tenants/rotate-auth-secret, scope update:tenant_auth_secret. */
  rotateAuthSecret(body: Body<"rotateAuthSecret">, options: CallOptions = {}): Answer<"rotateAuthSecret"> { return this.call("rotateAuthSecret", { body, ...options }); }
  /** Read the settings of signed identity. GET /tenants/identity, scope read:tenant. */
  getIdentity(options: CallOptions = {}): Answer<"getIdentity"> { return this.call("getIdentity", { ...options }); }
  /** Create a secret for signing identity tokens. POST /tenants/identity/secrets, scope update:tenant_auth_secret. */
  createIdentitySecret(body: Body<"createIdentitySecret">, options: CallOptions = {}): Answer<"createIdentitySecret"> { return this.call("createIdentitySecret", { body, ...options }); }
  /** List the tenant's clients. GET /clients, scope read:clients. */
  listClients(options: CallOptions = {}): Answer<"listClients"> { return this.call("listClients", { ...options }); }
  /** Create another client. POST /clients, scope manage:clients. */
  createClient(body: Body<"createClient">, options: CallOptions = {}): Answer<"createClient"> { return this.call("createClient", { body, ...options }); }
  /** Rotate a client's secret. POST /clients/{client_id}/rotate-secret, scope manage:clients. */
  rotateClientSecret(client_id: string, body: Body<"rotateClientSecret">, options: CallOptions = {}): Answer<"rotateClientSecret"> { return this.call("rotateClientSecret", { params: { client_id }, body, ...options }); }
  /** Revoke a client. DELETE /clients/{client_id}, scope manage:clients. */
  revokeClient(client_id: string, options: CallOptions = {}): Answer<"revokeClient"> { return this.call("revokeClient", { params: { client_id }, ...options }); }
  /** List the people who work on cases. GET /colleagues, scope read:case. */
  listColleagues(options: CallOptions = {}): Answer<"listColleagues"> { return this.call("listColleagues", { ...options }); }
  /** List the tenant's people. GET /users, scope read:users. */
  listUsers(options: CallOptions = {}): Answer<"listUsers"> { return this.call("listUsers", { ...options }); }
  /** Read one person. GET /users/{user_id}, scope read:users. */
  getUser(user_id: string, options: CallOptions = {}): Answer<"getUser"> { return this.call("getUser", { params: { user_id }, ...options }); }
  /** Invite a person. POST /users, scope manage:users. */
  createUser(body: Body<"createUser">, options: CallOptions = {}): Answer<"createUser"> { return this.call("createUser", { body, ...options }); }
  /** Change a person's name or role, or disable them. PUT /users/{user_id}, scope manage:users. */
  updateUser(user_id: string, body: Body<"updateUser">, options: CallOptions = {}): Answer<"updateUser"> { return this.call("updateUser", { params: { user_id }, body, ...options }); }
  /** Create a new link for a person. POST /users/{user_id}/links, scope manage:users. */
  createUserLink(user_id: string, options: CallOptions = {}): Answer<"createUserLink"> { return this.call("createUserLink", { params: { user_id }, ...options }); }
  /** Sign a person out everywhere. DELETE /users/{user_id}/sessions, scope manage:users. */
  endUserSessions(user_id: string, options: CallOptions = {}): Answer<"endUserSessions"> { return this.call("endUserSessions", { params: { user_id }, ...options }); }
  /** Get the snippets to paste into a web page. GET /snippet, scope read:snippet. */
  getSnippet(options: CallOptions = {}): Answer<"getSnippet"> { return this.call("getSnippet", { ...options }); }
  /** Read the tenant's metrics. GET /metrics, scope read:metrics. */
  getTenantMetrics(query: Query<"getTenantMetrics"> = {}, options: CallOptions = {}): Answer<"getTenantMetrics"> { return this.call("getTenantMetrics", { query, ...options }); }
  /** List the tenant's webhooks. GET /webhooks, scope manage:webhooks. */
  listWebhooks(options: CallOptions = {}): Answer<"listWebhooks"> { return this.call("listWebhooks", { ...options }); }
  /** Have changes posted to a URL. POST /webhooks, scope manage:webhooks. */
  createWebhook(body: Body<"createWebhook">, options: CallOptions = {}): Answer<"createWebhook"> { return this.call("createWebhook", { body, ...options }); }
  /** Read a webhook. GET /webhooks/{webhook_id}, scope manage:webhooks. */
  getWebhook(webhook_id: string, options: CallOptions = {}): Answer<"getWebhook"> { return this.call("getWebhook", { params: { webhook_id }, ...options }); }
  /** Change a webhook, or switch it off or on. PUT /webhooks/{webhook_id}, scope manage:webhooks. */
  updateWebhook(webhook_id: string, body: Body<"updateWebhook">, options: CallOptions = {}): Answer<"updateWebhook"> { return this.call("updateWebhook", { params: { webhook_id }, body, ...options }); }
  /** Rotate a webhook's secret. POST /webhooks/{webhook_id}/rotate-secret, scope manage:webhooks. */
  rotateWebhookSecret(webhook_id: string, options: CallOptions = {}): Answer<"rotateWebhookSecret"> { return this.call("rotateWebhookSecret", { params: { webhook_id }, ...options }); }
  /** Send a test message. POST /webhooks/{webhook_id}/test, scope manage:webhooks. */
  testWebhook(webhook_id: string, options: CallOptions = {}): Answer<"testWebhook"> { return this.call("testWebhook", { params: { webhook_id }, ...options }); }
  /** List a webhook's deliveries. GET /webhooks/{webhook_id}/deliveries, scope manage:webhooks. */
  listWebhookDeliveries(webhook_id: string, query: Query<"listWebhookDeliveries"> = {}, options: CallOptions = {}): Answer<"listWebhookDeliveries"> { return this.call("listWebhookDeliveries", { params: { webhook_id }, query, ...options }); }
  /** Resend abandoned and waiting messages. POST /webhooks/{webhook_id}/resend, scope manage:webhooks. */
  resendWebhookDeliveries(webhook_id: string, body: Body<"resendWebhookDeliveries">, options: CallOptions = {}): Answer<"resendWebhookDeliveries"> { return this.call("resendWebhookDeliveries", { params: { webhook_id }, body, ...options }); }
  /** Delete a webhook. DELETE /webhooks/{webhook_id}, scope manage:webhooks. */
  deleteWebhook(webhook_id: string, options: CallOptions = {}): Answer<"deleteWebhook"> { return this.call("deleteWebhook", { params: { webhook_id }, ...options }); }
}
