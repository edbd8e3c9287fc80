import { Type, type Static } from "typebox";
import type { Activity } from "./activity.ts";
import { Time } from "./field.ts";

// In rising order.
const memberStates = ["attacked", "created", "entered"] as const;
const MemberState = Type.Enum([...memberStates], {
  description:
    "`attacked`: somebody tried to get in. `created`: the attack signed up the account. `entered`: a log-in or a payment succeeded.",
});
export type MemberState = Static<typeof MemberState>;

export type Member = { account: string; state: MemberState };

const membersShownMax = 20;
// Beyond this number, a case counts only members that were entered, up to as many again.
export const membersMax = 100_000;

const Count = Type.Integer({ minimum: 0 });

export const CaseMembers = Type.Object(
  {
    count: Type.Integer({ minimum: 1, description: "The number of all accounts. `GET /cases/{case_id}/members` lists them." }),
    created: Count,
    entered: Count,
    first: Type.Array(Type.Object({ website_account_id: Type.String(), state: MemberState }, { additionalProperties: false }), {
      description: `At most ${membersShownMax} of the accounts. Entered accounts come first.`,
    }),
  },
  {
    additionalProperties: false,
    $id: "CaseMembers",
    description: "The accounts that the attack tried, created or entered. They are not suspects.",
  },
);
export type CaseMembers = Static<typeof CaseMembers>;

export const CaseMember = Type.Object(
  {
    website_account_id: Type.String(),
    state: MemberState,
    seen_at: Type.String({ ...Time, description: "When the case first listed the account." }),
    case_id: Type.Optional(Type.String({ description: "The account's own case, if the attack opened one." })),
    case_status: Type.Optional(Type.Enum(["OPEN", "CLOSED"], { description: "The status of that case." })),
  },
  { additionalProperties: false, $id: "CaseMember" },
);
export type CaseMember = Static<typeof CaseMember>;

// Returns what the activity did to the account that it names.
export function memberStateOf({ type, status }: Pick<Activity, "type" | "status">): MemberState {
  if (type === "signup") return "created";
  return type === "login_failed" || status === "attempted" || status === "declined" ? "attacked" : "entered";
}

function strongerState(one: MemberState, other: MemberState): MemberState {
  return memberStates.indexOf(one) >= memberStates.indexOf(other) ? one : other;
}

// `before` is undefined for a new member. A state only rises.
export type MemberChange = Member & { before: MemberState | undefined };

// Returns how these sightings change the known members.
export function changesOf(known: ReadonlyMap<string, MemberState>, seen: Member[]): MemberChange[] {
  const latest = new Map<string, MemberState>();
  for (const { account, state } of seen) latest.set(account, strongerState(state, latest.get(account) ?? "attacked"));
  return [...latest].flatMap(([account, state]) => {
    const before = known.get(account);
    const after = before === undefined ? state : strongerState(state, before);
    return after === before ? [] : [{ account, state: after, before }];
  });
}

export function addMembers(members: CaseMembers | undefined, changes: MemberChange[]): CaseMembers | undefined {
  if (changes.length === 0) return members;
  const { count = 0, created = 0, entered = 0, first = [] } = members ?? {};
  const rise = (state: MemberState) =>
    changes.filter((each) => each.state === state).length - changes.filter((each) => each.before === state).length;
  const changed = new Map(changes.map(({ account, state }) => [account, state]));
  const kept = first.map((each) => ({ ...each, state: changed.get(each.website_account_id) ?? each.state }));
  const shown = new Set(first.map((each) => each.website_account_id));
  const added = changes
    .filter(({ account }) => !shown.has(account))
    .map(({ account, state }) => ({ website_account_id: account, state }));
  return {
    count: count + changes.filter(({ before }) => before === undefined).length,
    created: created + rise("created"),
    entered: entered + rise("entered"),
    first: [...kept, ...added].toSorted(byState).slice(0, membersShownMax),
  };
}

type Shown = CaseMembers["first"][number];

// Also sorted by account, so that the result does not depend on how members were spread over batches.
function byState(a: Shown, b: Shown): number {
  const rise = memberStates.indexOf(b.state) - memberStates.indexOf(a.state);
  return rise !== 0 ? rise : a.website_account_id < b.website_account_id ? -1 : 1;
}
