import { Type, type Static } from "typebox";
import { CaseStatus, type CaseDocument } from "./case.ts";
import { Time } from "./field.ts";
import { Score, actions, labels } from "./finding.ts";

export const CaseListItem = Type.Object(
  {
    case_id: Type.String(),
    website_account_id: Type.String(),
    end_user_is_blocked: Type.Boolean(),
    status: CaseStatus,
    case_version: Type.Integer({ minimum: 1 }),
    created_at: Time,
    updated_at: Type.Union([Time, Type.Null()]),
    overall_risk_score: Score,
    primary_fraud_label: Type.Enum([...labels]),
    recommended_action: Type.Enum([...actions]),
    due_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "CaseListItem" },
);
export type CaseListItem = Static<typeof CaseListItem>;

const { end_user_is_blocked: _flag, ...stored } = CaseListItem.properties;
const storedMembers = Object.keys(stored);

// The item of a case in a list, as JSON. Its first member, the flag of the account, is left out, and so is the brace before it.
export function listItemText(document: CaseDocument): string {
  return JSON.stringify({ ...document, ...document.details }, storedMembers).slice(1);
}
