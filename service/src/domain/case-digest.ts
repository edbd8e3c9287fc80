import { Type, type Static } from "typebox";
import type { Case } from "./case.ts";
import { Time } from "./field.ts";
import { labels } from "./finding.ts";
import { Score } from "./finding.ts";

export const digestsMax = 100;
export const linkedCasesShownMax = 10;

export const newEvidenceMeaning =
  "Whether an open case got an occurrence after a person or a system of yours last changed it; or, where nobody has, more than its first. A closed case has none.";

// Each change adds a state. There is new evidence if detection made the last change and it is not the opening. `npm run generate`
// copies this function into the client.
export function hasNewEvidence(found: Pick<Case, "status" | "current_state" | "state_history">): boolean {
  return found.status === "OPEN" && found.current_state.changed_by === "system" && found.state_history.length > 0;
}

// What a row of the queue shows in addition to the fields of the case list.
export const CaseDigest = Type.Object(
  {
    case_id: Type.String(),
    summary: Type.String(),
    fraud_labels: Type.Array(Type.Enum([...labels])),
    has_new_evidence: Type.Boolean({ description: newEvidenceMeaning }),
    is_blocked: Type.Boolean({ description: "The account's flags now; false where there is no account." }),
    is_quarantined: Type.Boolean(),
    is_fraudulent: Type.Boolean(),
    linked_cases: Type.Integer({
      description:
        "Open cases of other accounts or sources that share a device or an address with this one. Looked for behind the 10 latest devices and addresses of the account, and 50 accounts of each.",
    }),
    linked_case_ids: Type.Array(Type.String(), { description: `${linkedCasesShownMax} of them at the most.` }),
  },
  { additionalProperties: false, $id: "CaseDigest" },
);
export type CaseDigest = Static<typeof CaseDigest>;

const Count = Type.Integer({ minimum: 0 });

export const CaseCounts = Type.Object(
  {
    open: Count,
    new_evidence: Type.Integer({ minimum: 0, description: newEvidenceMeaning }),
    blocked_accounts: Type.Integer({ minimum: 0, description: "Open cases of blocked accounts." }),
    no_account: Type.Integer({ minimum: 0, description: "Open cases without an account." }),
    last_activity_at: Type.Union([Time, Type.Null()], {
      description: "When the last activity that was scored came in; null where there is none.",
    }),
  },
  { additionalProperties: false, $id: "CaseCounts" },
);

// Upper bounds of the age of an open case, in hours. The last bucket has none.
export const ageHours = [1, 24, 72, 168, 720] as const;

export const Overview = Type.Object(
  {
    start_date: Type.String({ description: "The first day, in UTC." }),
    end_date: Type.String({ description: "The day after the last." }),
    days: Type.Array(
      Type.Object({ day: Type.String(), opened: Count, closed: Count, reopened: Count }, { additionalProperties: false }),
      { description: "Every day of the range, oldest first." },
    ),
    opened: Count,
    closed: Count,
    reopened: Count,
    outcomes: Type.Object(
      { confirmed: Count, false_positives: Count, inconclusive: Count, none: Count },
      { additionalProperties: false, description: "Of those closed in the range; `none`: closed without a disposition." },
    ),
    median_seconds_to_close: Type.Union([Type.Integer(), Type.Null()], {
      description: "From the opening to the close, of those closed in the range, within 5 per cent; null where there are none.",
    }),
    open_cases: Count,
    backlog: Type.Array(
      Type.Object(
        {
          created_after: Type.Union([Time, Type.Null()], { description: "As a filter of the case list; null: no bound." }),
          created_before: Type.Union([Time, Type.Null()]),
          cases: Count,
        },
        { additionalProperties: false },
      ),
      { description: "Open cases now by age, youngest first: to 1 hour, 1 day, 3 days, 7 days, 30 days, and older." },
    ),
    scores: Type.Array(Type.Object({ score: Score, cases: Count }, { additionalProperties: false }), {
      description: "Open cases now by risk score.",
    }),
    last_activity_at: Type.Union([Time, Type.Null()]),
  },
  { additionalProperties: false, $id: "Overview" },
);
export type Overview = Static<typeof Overview>;
