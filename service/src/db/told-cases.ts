import type { ToldCase } from "../domain/told-case.ts";
import { countConditions, type CaseList } from "./case-count-conditions.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql, unprepared } from "./postgres/sql.ts";

// If the period is long, only its newest events and cases are read.
const eventsReadMax = 100_000;
const toldCasesMax = 2_500;

export type Window = { after: number; last: number; since: string; types: readonly string[] };
export type Happened = { case_id: string; types: string[] };

// What happened to cases, newest first. Evidence counts only if it changed the score or the label.
export async function listHappened(
  database: Queryable,
  tenantId: string,
  { after, last, since, types }: Window,
): Promise<Happened[]> {
  return database.query<Happened & Row>(sql`
    select resource_id as case_id, array_agg(distinct type) as types
    from events
    where tenant_id = ${tenantId}
      and event_id > ${Math.max(after, last - eventsReadMax)} and event_id <= ${last}
      and type = any(${types}::text[])
      and occurred_at >= ${since}::timestamptz
      and (type <> 'case.evidence_added' or data is not null)
    group by resource_id
    order by max(event_id) desc
    limit ${toldCasesMax}`);
}

// Which of the cases are in the list.
export async function findListed(tx: Queryable, tenantId: string, list: CaseList, ids: string[]): Promise<Set<string>> {
  const values: unknown[] = [tenantId, plainArray(ids)];
  const conditions = countConditions(list, (value) => `$${values.push(value)}`);
  if (conditions === null || ids.length === 0) return new Set();
  const all = ["tenant_id = $1", "case_id = any($2::uuid[])", ...conditions];
  const rows = await tx.query<{ case_id: string }>(unprepared(`select case_id from cases where ${all.join(" and ")}`, values));
  return new Set(rows.map((row) => row.case_id));
}

type ToldRow = Row & Omit<ToldCase, "attack"> & { attack_id: string | null };

// In the order of the ids. A case that is itself about a source with accounts is its own attack.
export async function readToldCases(database: Queryable, tenantId: string, ids: string[]): Promise<ToldCase[]> {
  if (ids.length === 0) return [];
  const rows = await database.query<ToldRow>(sql`
    select c.case_id, c.overall_risk_score as score, c.primary_fraud_label as label, c.website_account_id as account,
      coalesce(
        c.document::json #>> '{details,campaign_case_id}',
        case when c.document::json #> '{details,members}' is not null then c.case_id::text end
      ) as attack_id
    from unnest(${plainArray(ids)}::uuid[]) with ordinality as w (case_id, position)
    join cases as c on c.tenant_id = ${tenantId} and c.case_id = w.case_id
    order by w.position`);
  const attacks = [...new Set(rows.flatMap(({ attack_id }) => (attack_id === null ? [] : [attack_id])))];
  const sizes = await countAccounts(database, tenantId, attacks);
  return rows.map(({ attack_id, ...row }) => ({
    ...row,
    attack: attack_id === null ? null : { case_id: attack_id, accounts: sizes.get(attack_id) ?? 0 },
  }));
}

async function countAccounts(database: Queryable, tenantId: string, attacks: string[]): Promise<Map<string, number>> {
  if (attacks.length === 0) return new Map();
  const rows = await database.query<{ case_id: string; accounts: number }>(sql`
    select case_id, coalesce((document::json #>> '{details,members,count}')::int, 0) as accounts
    from cases
    where tenant_id = ${tenantId} and case_id = any(${plainArray(attacks)}::uuid[])`);
  return new Map(rows.map((row) => [row.case_id, row.accounts]));
}

type Mine = { user_id: string; actor: string; role: string };

// Which of the cases the person has claimed, or were handed over to the person or the person's role.
export async function findMine(
  database: Queryable,
  tenantId: string,
  { user_id, actor, role }: Mine,
  ids: string[],
): Promise<Set<string>> {
  const rows = await database.query<{ case_id: string }>(sql`
    select case_id
    from case_leases
    where tenant_id = ${tenantId} and claimed_by = ${actor} and expires_at > now() and case_id = any(${plainArray(ids)}::uuid[])
    union
    select case_id
    from case_handovers
    where tenant_id = ${tenantId} and handed_to = any(${[user_id, role]}::text[]) and not is_ended
      and case_id = any(${plainArray(ids)}::uuid[])`);
  return new Set(rows.map((row) => row.case_id));
}

// Unread notices about notes in the window, newest first.
export async function listNewNotices(
  database: Queryable,
  tenantId: string,
  { user_id, after, last }: { user_id: string } & Pick<Window, "after" | "last">,
): Promise<{ kind: "mention" | "handover"; case_id: string }[]> {
  return database.query<{ kind: "mention" | "handover"; case_id: string }>(sql`
    select n.kind, n.case_id
    from events as e
    join notices as n
      on n.tenant_id = ${tenantId} and n.user_id = ${user_id} and n.notice_id = (e.data ->> 'note_id')::uuid
    where e.tenant_id = ${tenantId}
      and e.event_id > ${Math.max(after, last - eventsReadMax)} and e.event_id <= ${last}
      and e.type in ('case.note_added', 'case.handed_over')
      and n.read_at is null
    order by e.event_id desc`);
}
