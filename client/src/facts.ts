// Generated from the service's domain by `npm run generate`. Do not edit.
import type { Case, FraudOccurrence as Occurrence } from "./types.ts";

export const labels = ["Account Takeover","Bot","Synthetic","Organic"] as const;
export const dispositions = ["CONFIRMED_FRAUD","FALSE_POSITIVE","INCONCLUSIVE"] as const;
export const roles = ["investigator","lead","admin"] as const;
export const ruleStates = ["on","shadow","off"] as const;
export const unknownAccount = "UNKNOWN" as const;
export const reasonCharactersMax = 1000 as const;
export const noteCharactersMax = 4000 as const;
export const defaultReasons = {"CLOSED":"The case was closed.","OPEN":"The case was reopened."} as const;
export const eventTypes = ["case.opened","case.evidence_added","case.closed","case.reopened","case.note_added","case.claimed","case.released","case.snooze_ended","case.saved_as_file","case.pseudonymised","account.created","account.updated","account.erased","activity.decided","tenant.secret_rotated","tenant.identity_secret_rotated","tenant.updated","tenant.list_exported","rule.changed","thresholds.updated","list.created","list.updated","list.deleted","list.entries_changed","policy.updated","model.trained","model.promoted","model.retired","model.drifted","model.settings_updated","labels.stored","history.stored","history.started","user.invited","user.joined","user.updated","user.link_made","user.password_changed","user.sessions_ended","client.created","client.secret_rotated","client.revoked","webhook.created","webhook.updated","webhook.secret_rotated","webhook.deleted"] as const;
export const webhookTypes = {"case.opened":"A case is opened","case.evidence_added":"A case gets more evidence","case.closed":"A case is closed","case.reopened":"A case is reopened","case.note_added":"A note is added to a case","account.created":"An account is created","account.updated":"An account's flags change","account.erased":"An account is erased","activity.decided":"A decision differs from the answer to an assessment","rule.changed":"A rule changes"} as const;
export const eventDeeds = {"case.opened":"Opened the case","case.evidence_added":"Added evidence","case.closed":"Closed the case","case.reopened":"Opened the case again","case.note_added":"Added a note","case.claimed":"Claimed the case","case.released":"Released the case","case.snooze_ended":"Ended the quiet period of the case's rules","case.saved_as_file":"Saved the case as a file","case.pseudonymised":"Erased the account: the case has a pseudonym","account.created":"Created the account","account.erased":"Erased the account","activity.decided":"Decided differently from the answer","tenant.list_exported":"Exported a list","list.created":"Created the list","list.updated":"Changed the list","list.deleted":"Deleted the list","list.entries_changed":"Changed entries of the list","policy.updated":"Changed the policy","model.trained":"Trained a model","model.promoted":"Promoted the model","model.retired":"Retired the model","model.drifted":"Found that activity differs from what the model learned","model.settings_updated":"Changed the model settings"} as const;
export const versionlessEvents = ["case.claimed","case.released"] as const;
export const caseListMembers = ["case_id","website_account_id","end_user_is_blocked","status","case_version","created_at","updated_at","overall_risk_score","primary_fraud_label","recommended_action"] as const;
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
