// Generated from the service's domain by `npm run generate`. Do not edit.
import type { Case, FraudOccurrence as Occurrence } from "./types.ts";

export const labels = ["Account Takeover","Bot","Synthetic","Organic"] as const;
export const dispositions = ["CONFIRMED_FRAUD","FALSE_POSITIVE","INCONCLUSIVE"] as const;
export const roles = ["investigator","lead","admin"] as const;
export const ruleStates = ["on","shadow","off"] as const;
export const unknownAccount = "UNKNOWN" as const;
export const reasonCharactersMax = 1000 as const;
export const noteCharactersMax = 4000 as const;
export const viewNameCharactersMax = 60 as const;
export const notifiedViewsMax = 20 as const;
export const chatTypes = ["case.opened","case.reopened","case.closed","case.overdue","case.handed_over","case.note_added"] as const;
export const defaultReasons = {"CLOSED":"The case was closed.","OPEN":"The case was reopened."} as const;
export const eventTypes = ["case.opened","case.evidence_added","case.closed","case.reopened","case.note_added","case.handed_over","case.overdue","case.claimed","case.released","case.snooze_ended","case.saved_as_file","case.pseudonymised","account.created","account.updated","account.erased","activity.decided","tenant.secret_rotated","tenant.identity_secret_rotated","tenant.updated","tenant.list_exported","rule.changed","thresholds.updated","list.created","list.updated","list.deleted","list.entries_changed","view.created","view.updated","view.deleted","approval.requested","approval.decided","approval_settings.updated","policy.updated","due_times.updated","dispositions.updated","reason_templates.updated","model.trained","model.promoted","model.retired","model.drifted","model.settings_updated","labels.stored","history.stored","history.started","role.created","role.updated","role.deleted","issuer.created","issuer.updated","issuer.deleted","provisioning.updated","provisioning.token_created","provisioning.token_revoked","provisioning.group_created","provisioning.group_updated","provisioning.group_deleted","user.provisioned","user.deprovisioned","user.invited","user.joined","user.updated","user.link_made","user.password_changed","user.sessions_ended","user.second_factor_added","user.second_factor_removed","user.second_factor_reset","user.recovery_codes_made","user.recovery_code_used","client.created","client.secret_rotated","client.revoked","webhook.created","webhook.updated","webhook.secret_rotated","webhook.deleted"] as const;
export const webhookTypes = {"case.opened":"A case is opened","case.evidence_added":"A case gets more evidence","case.closed":"A case is closed","case.reopened":"A case is reopened","case.note_added":"A note is added to a case","case.handed_over":"A case is handed over","case.overdue":"A case is overdue","account.created":"An account is created","account.updated":"An account's flags change","account.erased":"An account is erased","activity.decided":"A decision differs from the answer to an assessment","rule.changed":"A rule changes","approval.requested":"Approval is requested","approval.decided":"An approval request is decided"} as const;
export const eventDeeds = {"case.opened":"Opened the case","case.evidence_added":"Added evidence","case.closed":"Closed the case","case.reopened":"Opened the case again","case.note_added":"Added a note","case.handed_over":"Handed the case over","case.overdue":"The case is overdue","case.claimed":"Claimed the case","case.released":"Released the case","case.snooze_ended":"Ended the quiet period of the case's rules","case.saved_as_file":"Saved the case as a file","case.pseudonymised":"Erased the account: the case has a pseudonym","account.created":"Created the account","account.erased":"Erased the account","activity.decided":"Decided differently from the answer","tenant.list_exported":"Exported a list","list.created":"Created the list","list.updated":"Changed the list","list.deleted":"Deleted the list","list.entries_changed":"Changed entries of the list","view.created":"Saved a view","view.updated":"Changed a view","view.deleted":"Deleted a view","approval.requested":"Requested approval","approval.decided":"Decided the approval request","approval_settings.updated":"Changed the approval settings","policy.updated":"Changed the policy","due_times.updated":"Changed the due times","dispositions.updated":"Changed the tenant's own dispositions","reason_templates.updated":"Changed the reason templates","model.trained":"Trained a model","model.promoted":"Promoted the model","model.retired":"Retired the model","model.drifted":"Found that activity differs from what the model learned","model.settings_updated":"Changed the model settings"} as const;
export const versionlessEvents = ["case.claimed","case.released"] as const;
export const caseListMembers = ["case_id","website_account_id","end_user_is_blocked","status","case_version","created_at","updated_at","overall_risk_score","primary_fraud_label","recommended_action","due_at"] as const;
export const stabilityMax = 0.25 as const;
export const listTypes = ["account","device","ip","country","asn","email","email_domain","payee","instrument","user_agent","text"] as const;
export const listKinds = ["allow","block","watch","custom"] as const;
export const listTypeFacts = {"account":{"noun":"account","field":"event.website_account_id"},"device":{"noun":"device","field":"event.device_id"},"ip":{"noun":"address","field":"event.ip"},"country":{"noun":"country","field":"event.country"},"asn":{"noun":"network","field":"event.asn"},"email":{"noun":"e-mail address","field":"event.email"},"email_domain":{"noun":"e-mail domain","field":"event.email"},"payee":{"noun":"payee","field":"event.payee_id"},"instrument":{"noun":"instrument","field":"event.instrument"},"user_agent":{"noun":"user agent","field":"event.user_agent"},"text":{"noun":"text","field":null}} as const;

export type Role = (typeof roles)[number];

export function hasNewEvidence(found: Pick<Case, "status" | "current_state" | "state_history">): boolean {
  return found.status === "OPEN" && found.current_state.changed_by === "system" && found.state_history.length > 0;
}

export function compareEvidence(one: Occurrence, other: Occurrence): number {
  const [a, b] = [one, other].map(({ risk_score, is_attempt, explanation, generated_at }) => {
    const { evidence_source: source = "server", model_behaviour: models } = explanation;
    const parts = (models ?? []).flatMap(({ top_contributors }) => top_contributors);
    const logOdds = parts.reduce((sum, { shap_value }) => sum + Math.round(shap_value * 1000), 0);
    const trusts = [source === "page" ? 0 : 1, is_attempt === true ? 0 : 1, logOdds, source === "server" ? 1 : 0];
    return [risk_score, ...trusts, -Date.parse(generated_at)];
  });
  const differences = (a ?? []).map((weight, place) => (b?.[place] ?? 0) - weight);
  return differences.find((each) => each !== 0) ?? 0;
}

export function actorOf({ name, email }: { name: string; email: string }): string {
  return `${name} <${email}>`;
}
