// What the checker reads. A register is anything that has one value at a time: the version of a case, which case of an account is
// open, who last changed an account, whether it is blocked.
export type Value = string | number | boolean | null;

// One register as one answer showed it. Facts are what the log knows as well; the hash is of all that was shown.
export type Sight = { register: string; value: Value; facts?: string; hash?: string };

// Bound: the answer is the outcome, for this call and every repeat. Refused: surely nothing was applied. Unknown: no answer.
export type Outcome = "bound" | "refused" | "unknown";

export type MadeVersion = { case_id: string; version: number };

// What a call wanted to change. The marker is written into what is changed, so that the log tells whose change it is.
export type Deed = {
  kind: "case" | "report" | "account";
  marker: string;
  outcome: Outcome;
  made: MadeVersion[];
  isReplay: boolean;
  bytes: string;
  // Of an account's change: the log says of it who, when and which flags, and no marker.
  account?: { account: string; actor: string; flags: string };
};

// Times are of one clock. An answer that never came has the end Infinity.
export type Call = { begin: number; end: number; what: string; sights: Sight[]; deed?: Deed; listed?: Listing };

// All cases of an account that there are: what is not among them was not there.
export type Listing = { account: string; cases: Set<string> };

export type LogEntry = {
  event_id: number;
  type: string;
  occurred_at: string;
  actor: string;
  resource: { type: string; id: string; version?: number };
  data?: Record<string, unknown>;
};

// A case's states in the end, oldest first: the one at index 0 is version 1.
export type FinalState = { status: string; at: string; by: string; marker: string };
export type FinalCase = { account: string; states: FinalState[] };

export type History = { calls: Call[]; log: LogEntry[]; cases: Map<string, FinalCase> };

// One entry of the log that changed something: the registers that it set. All changes of one transaction become visible with its
// last one.
export type Change = { position: number; visibleAt: number; marker: string; sets: Sight[]; made?: MadeVersion };

export const registerOf = {
  case: (caseId: string) => `case/${caseId}`,
  openCase: (account: string) => `open/${account}`,
  account: (account: string) => `account/${account}`,
  isBlocked: (account: string) => `blocked/${account}`,
};
