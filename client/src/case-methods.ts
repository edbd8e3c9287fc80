// Generated from the service's table of operations by `npm run generate`. Do not edit.
import type { Answer, Body, CallOptions, Input, OperationId, Query } from "./call.ts";

export abstract class CaseMethods {
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
  /** See how similar cases were decided. GET /cases/{case_id}/similar, scope read:case and read:cases. */
  listSimilarCases(case_id: string, options: CallOptions = {}): Answer<"listSimilarCases"> { return this.call("listSimilarCases", { params: { case_id }, ...options }); }
  /** Read a case's handover. GET /cases/{case_id}/handover, scope read:case. */
  getCaseHandover(case_id: string, options: CallOptions = {}): Answer<"getCaseHandover"> { return this.call("getCaseHandover", { params: { case_id }, ...options }); }
  /** Hand over a case. POST /cases/{case_id}/handover, scope update:case. */
  handOverCase(case_id: string, body: Body<"handOverCase">, options: CallOptions = {}): Answer<"handOverCase"> { return this.call("handOverCase", { params: { case_id }, body, ...options }); }
  /** List the caller's inbox. GET /inbox, scope read:case. */
  listInbox(query: Query<"listInbox"> = {}, options: CallOptions = {}): Answer<"listInbox"> { return this.call("listInbox", { query, ...options }); }
  /** Count the unread entries of the caller's inbox. GET /inbox/unread, scope read:case. */
  getUnreadCount(options: CallOptions = {}): Answer<"getUnreadCount"> { return this.call("getUnreadCount", { ...options }); }
  /** Mark entries of the caller's inbox as read. POST /inbox/read, scope read:case. */
  markRead(body: Body<"markRead">, options: CallOptions = {}): Answer<"markRead"> { return this.call("markRead", { body, ...options }); }
  /** Save a case as one file. POST /cases/{case_id}/file, scope read:case. */
  createCaseFile(case_id: string, options: CallOptions = {}): Answer<"createCaseFile"> { return this.call("createCaseFile", { params: { case_id }, ...options }); }
  /** List snoozes. GET /snoozes, scope read:cases. */
  listSnoozes(query: Query<"listSnoozes"> = {}, options: CallOptions = {}): Answer<"listSnoozes"> { return this.call("listSnoozes", { query, ...options }); }
  /** End a snooze. DELETE /snoozes/{snooze_id}, scope update:case. */
  endSnooze(snooze_id: string, options: CallOptions = {}): Answer<"endSnooze"> { return this.call("endSnooze", { params: { snooze_id }, ...options }); }
  /** Read the tenant's own dispositions. GET /dispositions, scope read:case. */
  getDispositions(options: CallOptions = {}): Answer<"getDispositions"> { return this.call("getDispositions", { ...options }); }
  /** Change the tenant's own dispositions. PUT /dispositions, scope update:tenant. */
  updateDispositions(body: Body<"updateDispositions">, options: CallOptions = {}): Answer<"updateDispositions"> { return this.call("updateDispositions", { body, ...options }); }
  /** Read the reason templates. GET /reason-templates, scope read:case. */
  getReasonTemplates(options: CallOptions = {}): Answer<"getReasonTemplates"> { return this.call("getReasonTemplates", { ...options }); }
  /** Change the reason templates. PUT /reason-templates, scope update:tenant. */
  updateReasonTemplates(body: Body<"updateReasonTemplates">, options: CallOptions = {}): Answer<"updateReasonTemplates"> { return this.call("updateReasonTemplates", { body, ...options }); }
  /** Read a case's audit trail. GET /cases/{case_id}/events, scope read:case. */
  listCaseEvents(case_id: string, query: Query<"listCaseEvents"> = {}, options: CallOptions = {}): Answer<"listCaseEvents"> { return this.call("listCaseEvents", { params: { case_id }, query, ...options }); }
  /** List the sessions that a case's occurrences belong to. GET /cases/{case_id}/sessions, scope read:case. */
  listCaseSessions(case_id: string, query: Query<"listCaseSessions"> = {}, options: CallOptions = {}): Answer<"listCaseSessions"> { return this.call("listCaseSessions", { params: { case_id }, query, ...options }); }
  /** List the activity around a case's occurrences. GET /cases/{case_id}/activities, scope read:case. */
  listCaseActivities(case_id: string, query: Query<"listCaseActivities"> = {}, options: CallOptions = {}): Answer<"listCaseActivities"> { return this.call("listCaseActivities", { params: { case_id }, query, ...options }); }
  /** Read the details that a queue shows with its cases. GET /cases/digests, scope read:cases. */
  listCaseDigests(query: Query<"listCaseDigests"> = {}, options: CallOptions = {}): Answer<"listCaseDigests"> { return this.call("listCaseDigests", { query, ...options }); }
  /** Count open cases. GET /cases/counts, scope read:cases. */
  getCaseCounts(options: CallOptions = {}): Answer<"getCaseCounts"> { return this.call("getCaseCounts", { ...options }); }
  /** Read figures on the work on cases. GET /overview, scope read:metrics. */
  getOverview(query: Query<"getOverview"> = {}, options: CallOptions = {}): Answer<"getOverview"> { return this.call("getOverview", { query, ...options }); }
}
