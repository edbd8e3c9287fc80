import { Type, type Static } from "typebox";
import { OwnDispositionName, type Case } from "./case.ts";
import { dispositions } from "./disposition.ts";
import { Claim } from "./claim.ts";
import { Time } from "./field.ts";
import { labels } from "./finding.ts";
import { Score } from "./finding.ts";
import { Handover } from "./handover.ts";
import { CaseSubject } from "./subject.ts";

export const digestsMax = 100;
export const linkedCasesShownMax = 10;

export const newEvidenceMeaning =
  "Whether an open case has new evidence: an occurrence that was added after a person or one of your systems last changed the case or, if nobody has changed it, any occurrence after the first. A closed case has no new evidence.";

// Each change adds a state. There is new evidence if detection made the last change and it is not the opening. `npm run generate`
// copies this function into the client.
export function hasNewEvidence(found: Pick<Case, "status" | "current_state" | "state_history">): boolean {
  return found.status === "OPEN" && found.current_state.changed_by === "system" && found.state_history.length > 0;
}

const { handed_to, handed_by, handed_at } = Handover.properties;

// What a row of the queue shows in addition to the fields of the case list.
export const CaseDigest = Type.Object(
  {
    case_id: Type.String(),
    summary: Type.String(),
    fraud_labels: Type.Array(Type.Enum([...labels])),
    has_new_evidence: Type.Boolean({ description: newEvidenceMeaning }),
    is_blocked: Type.Boolean({
      description: "The account's current flag. The three flags are false if the case has no account.",
    }),
    is_quarantined: Type.Boolean(),
    is_fraudulent: Type.Boolean(),
    subject: Type.Optional(CaseSubject),
    members: Type.Optional(Type.Integer({ minimum: 1, description: "How many accounts the case lists." })),
    random_check: Type.Optional(
      Type.Literal(true, { description: "The case was opened for an activity that was chosen at random." }),
    ),
    closed: Type.Optional(
      Type.Object(
        {
          at: Time,
          by: Type.String(),
          disposition: Type.Optional(Type.Enum([...dispositions])),
          own_disposition: Type.Optional(OwnDispositionName),
        },
        { additionalProperties: false, description: "Who closed the case, when, and with which outcome. Absent if it is open." },
      ),
    ),
    claim: Type.Optional(Claim),
    handover: Type.Optional(Type.Object({ handed_to, handed_by, handed_at }, { additionalProperties: false })),
    notes: Type.Optional(Type.Integer({ minimum: 1, description: "How many notes the case has." })),
    linked_cases: Type.Integer({
      description:
        "The number of open cases about other accounts or sources that share a device or an address with this case. Only the account's 10 latest devices and addresses are examined, and 50 accounts for each of them.",
    }),
    linked_case_ids: Type.Array(Type.String(), { description: `The ids of at most ${linkedCasesShownMax} of them.` }),
  },
  { additionalProperties: false, $id: "CaseDigest" },
);
export type CaseDigest = Static<typeof CaseDigest>;

const Count = Type.Integer({ minimum: 0 });

export const CaseCounts = Type.Object(
  {
    open: Count,
    new_evidence: Type.Integer({ minimum: 0, description: "The number of open cases whose has_new_evidence is true." }),
    blocked_accounts: Type.Integer({ minimum: 0, description: "Open cases of blocked accounts." }),
    no_account: Type.Integer({ minimum: 0, description: "Open cases without an account." }),
    claimed_by_me: Type.Integer({ minimum: 0, description: "Open cases that the caller has claimed." }),
    handed_to_me: Type.Integer({
      minimum: 0,
      description: "Open cases that were handed over to the caller or to the caller's role.",
    }),
    overdue: Type.Integer({ minimum: 0, description: "Open cases whose due time has passed." }),
    waiting_for_approval: Type.Integer({
      minimum: 0,
      description: "Pending approval requests by others.",
    }),
    last_activity_at: Type.Union([Time, Type.Null()], {
      description: "When the latest scored activity was received; null if there is none.",
    }),
  },
  { additionalProperties: false, $id: "CaseCounts" },
);

// Upper bounds of the age of an open case, in hours. The last bucket has none.
export const ageHours = [1, 24, 72, 168, 720] as const;

export const Overview = Type.Object(
  {
    start_date: Type.String({ description: "The first day, in UTC." }),
    end_date: Type.String({ description: "The day after the last day, in UTC." }),
    days: Type.Array(
      Type.Object({ day: Type.String(), opened: Count, closed: Count, reopened: Count }, { additionalProperties: false }),
      { description: "Every day of the range, oldest first." },
    ),
    opened: Count,
    closed: Count,
    reopened: Count,
    outcomes: Type.Object(
      { confirmed: Count, false_positives: Count, inconclusive: Count, none: Count },
      {
        additionalProperties: false,
        description:
          "Outcomes of the cases that were closed in the range. `none` counts those that were closed without a disposition.",
      },
    ),
    median_seconds_to_close: Type.Union([Type.Integer(), Type.Null()], {
      description:
        "The median time from opening to closing, for cases that were closed in the range, accurate to 5 %; null if there are none.",
    }),
    open_cases: Count,
    backlog: Type.Array(
      Type.Object(
        {
          created_after: Type.Union([Time, Type.Null()], {
            description: "For use as a filter of the case list; null means no bound.",
          }),
          created_before: Type.Union([Time, Type.Null()]),
          cases: Count,
        },
        { additionalProperties: false },
      ),
      { description: "The current open cases by age, newest first: up to 1 hour, 1 day, 3 days, 7 days, 30 days, and older." },
    ),
    scores: Type.Array(Type.Object({ score: Score, cases: Count }, { additionalProperties: false }), {
      description: "The current open cases by risk score.",
    }),
    last_activity_at: Type.Union([Time, Type.Null()]),
  },
  { additionalProperties: false, $id: "Overview" },
);
export type Overview = Static<typeof Overview>;
