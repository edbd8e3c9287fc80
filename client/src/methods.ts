// Generated from the service's table of operations by `npm run generate`. Do not edit.
import type { Answer, Body, CallOptions, Query } from "./call.ts";
import { CaseMethods } from "./case-methods.ts";

export abstract class OperationMethods extends CaseMethods {
  /** List approval requests. GET /approvals, scope read:case. */
  listApprovals(query: Query<"listApprovals"> = {}, options: CallOptions = {}): Answer<"listApprovals"> { return this.call("listApprovals", { query, ...options }); }
  /** Check whether a change needs a second person. POST /approvals/check, scope update:case. */
  checkApproval(body: Body<"checkApproval">, options: CallOptions = {}): Answer<"checkApproval"> { return this.call("checkApproval", { body, ...options }); }
  /** Request approval of a close. POST /approvals, scope update:case. */
  requestApproval(body: Body<"requestApproval">, options: CallOptions = {}): Answer<"requestApproval"> { return this.call("requestApproval", { body, ...options }); }
  /** Read an approval request. GET /approvals/{approval_id}, scope read:case. */
  getApproval(approval_id: string, options: CallOptions = {}): Answer<"getApproval"> { return this.call("getApproval", { params: { approval_id }, ...options }); }
  /** Approve, reject or withdraw an approval request. PUT /approvals/{approval_id}, scope update:case. */
  decideApproval(approval_id: string, body: Body<"decideApproval">, options: CallOptions = {}): Answer<"decideApproval"> { return this.call("decideApproval", { params: { approval_id }, body, ...options }); }
  /** Read which changes need a second person. GET /approval-settings, scope read:case. */
  getApprovalSettings(options: CallOptions = {}): Answer<"getApprovalSettings"> { return this.call("getApprovalSettings", { ...options }); }
  /** Set which changes need a second person. PUT /approval-settings, scope update:tenant. */
  updateApprovalSettings(body: Body<"updateApprovalSettings">, options: CallOptions = {}): Answer<"updateApprovalSettings"> { return this.call("updateApprovalSettings", { body, ...options }); }
  /** Read the caller's notification settings. GET /notifications, scope read:case. */
  getNotifications(options: CallOptions = {}): Answer<"getNotifications"> { return this.call("getNotifications", { ...options }); }
  /** Change the caller's notification settings. PUT /notifications, scope read:case. */
  updateNotifications(body: Body<"updateNotifications">, options: CallOptions = {}): Answer<"updateNotifications"> { return this.call("updateNotifications", { body, ...options }); }
  /** Send a test e-mail to the caller. POST /notifications/test, scope read:case. */
  testNotifications(options: CallOptions = {}): Answer<"testNotifications"> { return this.call("testNotifications", { ...options }); }
  /** List the e-mails to the tenant's people. GET /notifications/mails, scope manage:users. */
  listNotificationMails(query: Query<"listNotificationMails"> = {}, options: CallOptions = {}): Answer<"listNotificationMails"> { return this.call("listNotificationMails", { query, ...options }); }
  /** Find accounts, cases, devices, addresses, payees and orders. GET /search, scope read:cases and read:enduseraccounts. */
  search(query: Query<"search"> = {}, options: CallOptions = {}): Answer<"search"> { return this.call("search", { query, ...options }); }
  /** List saved views. GET /views, scope read:cases. */
  listViews(options: CallOptions = {}): Answer<"listViews"> { return this.call("listViews", { ...options }); }
  /** Save a view. POST /views, scope update:views. */
  createView(body: Body<"createView">, options: CallOptions = {}): Answer<"createView"> { return this.call("createView", { body, ...options }); }
  /** Count the cases of saved views. GET /views/counts, scope read:cases. */
  getViewCounts(options: CallOptions = {}): Answer<"getViewCounts"> { return this.call("getViewCounts", { ...options }); }
  /** Change or move a view. PUT /views/{view_id}, scope update:views. */
  updateView(view_id: string, body: Body<"updateView">, options: CallOptions = {}): Answer<"updateView"> { return this.call("updateView", { params: { view_id }, body, ...options }); }
  /** Delete a view. DELETE /views/{view_id}, scope update:views. */
  deleteView(view_id: string, options: CallOptions = {}): Answer<"deleteView"> { return this.call("deleteView", { params: { view_id }, ...options }); }
  /** Read the feed of changes. GET /events, scope read:events. */
  listEvents(query: Query<"listEvents"> = {}, options: CallOptions = {}): Answer<"listEvents"> { return this.call("listEvents", { query, ...options }); }
  /** Read an account's history. GET /enduseraccounts/{website_account_id}/events, scope read:enduseraccount. */
  listEndUserAccountEvents(website_account_id: string, query: Query<"listEndUserAccountEvents"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountEvents"> { return this.call("listEndUserAccountEvents", { params: { website_account_id }, query, ...options }); }
  /** Read a session. GET /sessions/{session_id}, scope read:case. */
  getSession(session_id: string, options: CallOptions = {}): Answer<"getSession"> { return this.call("getSession", { params: { session_id }, ...options }); }
  /** List a session's events. GET /sessions/{session_id}/activities, scope read:case. */
  listSessionActivities(session_id: string, query: Query<"listSessionActivities"> = {}, options: CallOptions = {}): Answer<"listSessionActivities"> { return this.call("listSessionActivities", { params: { session_id }, query, ...options }); }
  /** List an account's sessions. GET /enduseraccounts/{website_account_id}/sessions, scope read:enduseraccount. */
  listEndUserAccountSessions(website_account_id: string, query: Query<"listEndUserAccountSessions"> = {}, options: CallOptions = {}): Answer<"listEndUserAccountSessions"> { return this.call("listEndUserAccountSessions", { params: { website_account_id }, query, ...options }); }
  /** List the latest activity. GET /activities, scope read:enduseraccounts. */
  listActivities(query: Query<"listActivities"> = {}, options: CallOptions = {}): Answer<"listActivities"> { return this.call("listActivities", { query, ...options }); }
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
  /** List what each person closed on each day. GET /figures/days, scope read:figures. */
  listPersonDays(query: Query<"listPersonDays"> = {}, options: CallOptions = {}): Answer<"listPersonDays"> { return this.call("listPersonDays", { query, ...options }); }
  /** List what each person closed in the period. GET /figures/people, scope read:figures. */
  listPersonFigures(query: Query<"listPersonFigures"> = {}, options: CallOptions = {}): Answer<"listPersonFigures"> { return this.call("listPersonFigures", { query, ...options }); }
  /** List the precision of rules and models. GET /figures/precision, scope read:figures. */
  listPrecision(query: Query<"listPrecision"> = {}, options: CallOptions = {}): Answer<"listPrecision"> { return this.call("listPrecision", { query, ...options }); }
  /** List the money in confirmed cases. GET /figures/money, scope read:figures. */
  listMoney(query: Query<"listMoney"> = {}, options: CallOptions = {}): Answer<"listMoney"> { return this.call("listMoney", { query, ...options }); }
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
  /** See what values would have hit. POST /lists/{list_name}/preview, scope read:lists and read:enduseraccounts. */
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
  /** Read the due times. GET /due-times, scope read:tenant. */
  getDueTimes(options: CallOptions = {}): Answer<"getDueTimes"> { return this.call("getDueTimes", { ...options }); }
  /** Change the due times. PUT /due-times, scope update:tenant. */
  updateDueTimes(body: Body<"updateDueTimes">, options: CallOptions = {}): Answer<"updateDueTimes"> { return this.call("updateDueTimes", { body, ...options }); }
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
  /** Reset a person's second factor. DELETE /users/{user_id}/second-factor, scope manage:users. */
  resetSecondFactor(user_id: string, options: CallOptions = {}): Answer<"resetSecondFactor"> { return this.call("resetSecondFactor", { params: { user_id }, ...options }); }
  /** List the roles that people can have. GET /roles, scope read:users. */
  listRoles(options: CallOptions = {}): Answer<"listRoles"> { return this.call("listRoles", { ...options }); }
  /** Create a role from scopes. POST /roles, scope manage:users. */
  createRole(body: Body<"createRole">, options: CallOptions = {}): Answer<"createRole"> { return this.call("createRole", { body, ...options }); }
  /** Change a role of the tenant. PUT /roles/{role_name}, scope manage:users. */
  updateRole(role_name: string, body: Body<"updateRole">, options: CallOptions = {}): Answer<"updateRole"> { return this.call("updateRole", { params: { role_name }, body, ...options }); }
  /** Delete a role of the tenant. DELETE /roles/{role_name}, scope manage:users. */
  deleteRole(role_name: string, options: CallOptions = {}): Answer<"deleteRole"> { return this.call("deleteRole", { params: { role_name }, ...options }); }
  /** List the issuers that people sign in with. GET /issuers, scope read:users. */
  listSignInIssuers(options: CallOptions = {}): Answer<"listSignInIssuers"> { return this.call("listSignInIssuers", { ...options }); }
  /** Add an issuer. POST /issuers, scope manage:users. */
  createSignInIssuer(body: Body<"createSignInIssuer">, options: CallOptions = {}): Answer<"createSignInIssuer"> { return this.call("createSignInIssuer", { body, ...options }); }
  /** Change an issuer. PUT /issuers/{issuer_key}, scope manage:users. */
  updateSignInIssuer(issuer_key: string, body: Body<"updateSignInIssuer">, options: CallOptions = {}): Answer<"updateSignInIssuer"> { return this.call("updateSignInIssuer", { params: { issuer_key }, body, ...options }); }
  /** Delete an issuer. DELETE /issuers/{issuer_key}, scope manage:users. */
  deleteSignInIssuer(issuer_key: string, options: CallOptions = {}): Answer<"deleteSignInIssuer"> { return this.call("deleteSignInIssuer", { params: { issuer_key }, ...options }); }
  /** Read the provisioning settings. GET /scim, scope read:users. */
  getProvisioning(options: CallOptions = {}): Answer<"getProvisioning"> { return this.call("getProvisioning", { ...options }); }
  /** Set the roles by group. PUT /scim, scope manage:users. */
  updateProvisioning(body: Body<"updateProvisioning">, options: CallOptions = {}): Answer<"updateProvisioning"> { return this.call("updateProvisioning", { body, ...options }); }
  /** List the SCIM tokens. GET /scim/tokens, scope read:users. */
  listScimTokens(options: CallOptions = {}): Answer<"listScimTokens"> { return this.call("listScimTokens", { ...options }); }
  /** Create a SCIM token for a directory. POST /scim/tokens, scope manage:users. */
  createScimToken(body: Body<"createScimToken">, options: CallOptions = {}): Answer<"createScimToken"> { return this.call("createScimToken", { body, ...options }); }
  /** Revoke a SCIM token. DELETE /scim/tokens/{scim_token_id}, scope manage:users. */
  revokeScimToken(scim_token_id: string, options: CallOptions = {}): Answer<"revokeScimToken"> { return this.call("revokeScimToken", { params: { scim_token_id }, ...options }); }
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
