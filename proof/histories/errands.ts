import { flagsText } from "./accounts.ts";
import { registerOf, type Deed, type MadeVersion, type Outcome, type Sight } from "./history.ts";
import { problemOf, type Reading } from "./recorder.ts";
import { digest, readAccount, readCase, type SeenCase } from "./sights.ts";
import type { Answer, Request } from "./wire.ts";

// A requested change that can be sent more than once, and how to read its responses.
export type Errand = { what: string; request: Omit<Request, "token">; read: (answer: Answer | null) => Reading };

export type Wanted = { case_id: string; case_version: number };
export type Put = Wanted & { account: string; status: string; disposition?: string };

type ErrandResult = { outcome: Outcome; made?: MadeVersion[]; sights?: Sight[]; fault?: string };

// After a status of 500 or above, the change may or may not have been applied. A lost commit is expected, and its response says
// so. Any other 500 is a bug.
function refusalOf(answer: Answer): ErrandResult {
  const { type, detail } = problemOf(answer);
  const isBug = answer.status === 500 && !detail.includes("being committed");
  if (answer.status >= 500) return { outcome: "unknown", ...(isBug && { fault: "an unexpected error" }) };
  const isFree = type === "transaction-contended" || type === "rate-limited";
  return { outcome: "refused", ...(!isFree && { fault: "not in the contract" }) };
}

function reading(kind: Deed["kind"], marker: string, answer: Answer | null, told: ErrandResult): Reading {
  const { outcome, made = [], sights = [], fault } = told;
  const bytes = answer === null ? "" : `${answer.status} ${digest(answer.text)}`;
  const deed = { kind, marker, outcome, made, isReplay: answer?.isReplay ?? false, bytes };
  return { sights, deed, ...(fault !== undefined && { fault }) };
}

// The reason carries the marker, so every state of a case shows whose it is.
export function putCase(key: string, { account, case_id, ...change }: Put, see: (seen: SeenCase) => void): Errand {
  const request = { method: "PUT", path: `/cases/${case_id}`, key, body: JSON.stringify({ ...change, reason: key }) };
  const wanted = { account, case_id, ...change };
  const tell = (answer: Answer | null): ErrandResult => {
    if (answer === null) return { outcome: "unknown" };
    return answer.status === 200 ? changedCase(answer, wanted, see) : refusedCase(answer, wanted);
  };
  return {
    what: `PUT ${case_id} ${change.status} at ${change.case_version}`,
    request,
    read: (answer) => reading("case", key, answer, tell(answer)),
  };
}

function changedCase(answer: Answer, { case_id, case_version, status }: Put, see: (seen: SeenCase) => void): ErrandResult {
  const { seen, sights } = readCase(answer.text);
  if (!answer.isReplay) see(seen);
  const { version } = seen;
  const isChange = version === case_version + 1;
  const isRight = seen.case_id === case_id && seen.status === status && (isChange || version === case_version);
  return {
    outcome: "bound",
    made: isChange ? [{ case_id, version }] : [],
    sights,
    ...(!isRight && { fault: "not what was requested" }),
  };
}

function refusedCase(answer: Answer, { account, case_id, case_version }: Put): ErrandResult {
  if (answer.status !== 409) return refusalOf(answer);
  const { type, detail, current_version: current = 0 } = problemOf(answer);
  const register = registerOf.case(case_id);
  if (type === "item-version-conflict") {
    const fault = current === case_version && { fault: "rejected, although the version was current" };
    return { outcome: "bound", sights: [{ register, value: current }], ...fault };
  }
  if (type !== "item-already-exists") return refusalOf(answer);
  const other = /open case: (\S+)\./.exec(detail)?.[1] ?? "";
  return {
    outcome: "bound",
    sights: [
      { register, value: case_version },
      { register: registerOf.openCase(account), value: other },
    ],
  };
}

type BulkResult = { case_id: string; status: number; case_version?: number; type?: string; current_version?: number };

export function closeCases(key: string, cases: Wanted[], seeClosed: (closed: MadeVersion) => void): Errand {
  const request = { method: "POST", path: "/cases/close", key, body: JSON.stringify({ cases, reason: key }) };
  const tell = (answer: Answer | null): ErrandResult => {
    if (answer === null) return { outcome: "unknown" };
    if (answer.status !== 200) return refusalOf(answer);
    const { data } = JSON.parse(answer.text) as { data: { results: BulkResult[] } };
    const pairs = data.results.map((result, index) => ({ result, expected: cases[index]?.case_version ?? 0 }));
    const made = pairs.flatMap(({ result: { case_id, case_version: version = 0, status }, expected }) =>
      status === 200 && version === expected + 1 ? [{ case_id, version }] : [],
    );
    if (!answer.isReplay) made.forEach(seeClosed);
    const sights = data.results.flatMap(({ case_id, case_version, current_version }) => {
      const value = case_version ?? current_version;
      return value === undefined ? [] : [{ register: registerOf.case(case_id), value }];
    });
    const isRight = pairs.every(
      ({ result, expected }, index) => isAllowed(result, expected) && result.case_id === cases[index]?.case_id,
    );
    // A response with a contended case does not use up the key, so the next response may differ.
    const isFree = data.results.some(({ type }) => type === "transaction-contended");
    return { outcome: isFree ? "partial" : "bound", made, sights, ...(!isRight && { fault: "not what was requested" }) };
  };
  const what = `BULK ${cases.map(({ case_id, case_version }) => `${case_id} at ${case_version}`).join(", ")}`;
  const read = (answer: Answer | null): Reading => {
    const { deed, ...rest } = reading("case", key, answer, tell(answer));
    return { ...rest, ...(deed && { deed: { ...deed, isBulk: true } }) };
  };
  return { what, request, read };
}

function isAllowed({ status, case_version: version = 0, type, current_version: current }: BulkResult, expected: number): boolean {
  if (status === 200) return version === expected || version === expected + 1;
  return status === 409 && (type === "transaction-contended" || current !== expected);
}

function toldOfMisuse(answer: Answer | null): ErrandResult {
  if (answer === null) return { outcome: "unknown" };
  if (answer.status === 409 && problemOf(answer).type === "operation-idempotency-conflict") return { outcome: "refused" };
  return answer.status < 400 ? { outcome: "refused", fault: "another request under a used key" } : refusalOf(answer);
}

// Another request under a used key: it must be rejected and never applied.
export function misuse(key: string, { what, request }: Errand, body: string): Errand {
  return {
    what: `MISUSE of the key of ${what}`,
    request: { ...request, body },
    read: (answer) => reading("case", `${key}~`, answer, toldOfMisuse(answer)),
  };
}

// The note carries the marker. A report that is sent again counts as a duplicate.
export function reportFraud(marker: string, account: string, now: string): Errand {
  const activity = { activity_id: marker, type: "fraud_report", occurred_at: now, website_account_id: account };
  const body = JSON.stringify({ activities: [{ ...activity, attributes: { note: marker, label: "Bot" } }] });
  const read = (answer: Answer | null): Reading => {
    if (answer?.status !== 202)
      return reading("report", marker, answer, answer === null ? { outcome: "unknown" } : refusalOf(answer));
    const { data } = JSON.parse(answer.text) as { data: { accepted: number; duplicates: number } };
    const isRight = data.accepted + data.duplicates === 1;
    const told = { outcome: "bound" as const, ...(!isRight && { fault: "not what was sent" }) };
    return reading("report", marker, { ...answer, isReplay: data.duplicates === 1 }, told);
  };
  return { what: `REPORT on ${account}`, request: { method: "POST", path: "/activities", body }, read };
}

export type AccountChange = { account: string; actor: string; flags: Record<string, boolean> };

// The CRM id carries the marker, so every call changes the account.
export function putAccount(marker: string, { account, actor, flags }: AccountChange, isNew = false): Errand {
  const change = { crm_account_id: marker, ...flags };
  const request = isNew
    ? { method: "POST", path: "/enduseraccounts", body: JSON.stringify({ website_account_id: account, ...change }) }
    : { method: "PUT", path: `/enduseraccounts/${account}`, body: JSON.stringify(change) };
  const read = (answer: Answer | null): Reading => {
    const isDone = answer !== null && answer.status < 300;
    const done = isDone && { outcome: "bound" as const, sights: readAccount(answer.text) };
    const told = done || (answer === null ? { outcome: "unknown" as const } : refusalOf(answer));
    const { deed, ...rest } = reading("account", marker, answer, told);
    return { ...rest, ...(deed && { deed: { ...deed, account: { account, actor, flags: flagsText(flags) } } }) };
  };
  return { what: `ACCOUNT ${account} ${JSON.stringify(flags)}`, request, read };
}
