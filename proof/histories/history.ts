// What the checker reads. A register is anything with one value at a time: the version of a case, the open case of an account,
// who last changed an account, whether it is blocked.
export type Value = string | number | boolean | null;

// One register as one response showed it. `facts` are what the log knows too; `hash` covers everything that was shown.
export type Sight = { register: string; value: Value; facts?: string; hash?: string };

// Bound: the response is the outcome for this call and every repeat. Partial: a bulk close changed some cases, and the same request
// may close the others later. Refused: nothing was applied. Unknown: no response.
export type Outcome = "bound" | "partial" | "refused" | "unknown";

export type MadeVersion = { case_id: string; version: number };

// What a call wanted to change. The marker is written into the change, so the log shows whose change it is.
export type Deed = {
  kind: "case" | "report" | "account";
  marker: string;
  outcome: Outcome;
  made: MadeVersion[];
  isReplay: boolean;
  bytes: string;
  isBulk?: boolean;
  // For an account change, the log stores who, when and which flags, but no marker.
  account?: { account: string; actor: string; flags: string };
};

// All times are from one clock. A call without a response ends at Infinity.
export type Call = { begin: number; end: number; what: string; sights: Sight[]; deed?: Deed; listed?: Listing };

// All cases of an account. A case that is not listed did not exist.
export type Listing = { account: string; cases: Set<string> };

export type LogEntry = {
  event_id: number;
  type: string;
  occurred_at: string;
  actor: string;
  resource: { type: string; id: string; version?: number };
  data?: Record<string, unknown>;
};

// A case's final states, oldest first: index 0 is version 1.
export type FinalState = { status: string; at: string; by: string; marker: string };
export type FinalCase = { account: string; states: FinalState[] };

export type History = { calls: Call[]; log: LogEntry[]; cases: Map<string, FinalCase> };

// `orElse`: other values that the register may have instead, if the log does not tell which of several changes this is.
type Setting = Sight & { orElse?: Value[] };

// One log entry that changed something, with the registers it set. All changes of one transaction become visible with its last
// one. `isUnclear`: the entry may belong to another call that looks the same.
export type Change = {
  position: number;
  visibleAt: number;
  marker: string;
  sets: Setting[];
  made?: MadeVersion;
  isUnclear?: boolean;
};

export const registerOf = {
  case: (caseId: string) => `case/${caseId}`,
  openCase: (account: string) => `open/${account}`,
  account: (account: string) => `account/${account}`,
  isBlocked: (account: string) => `blocked/${account}`,
};
