// The requests that are measured.
import type { CaseChange } from "../../service/src/domain/case.ts";
import type { Shot } from "./drive.ts";
import type { Closable, Stand } from "./stand.ts";

export function closeOf({ case_version }: Closable): CaseChange {
  return { status: "CLOSED", case_version, disposition: "CONFIRMED_FRAUD", reason: "The customer confirmed it by phone." };
}

export function readShots({ tenant, cases }: Stand): Shot[] {
  return cases.map((id) => ({ method: "GET", path: `/v2/${tenant.slug}/cases/${id}` }));
}

export function accountShots({ tenant, accounts }: Stand): Shot[] {
  return accounts.map((id) => ({ method: "GET", path: `/v2/${tenant.slug}/enduseraccounts/${id}` }));
}

export function listShots({ tenant }: Stand, limit?: number): Shot[] {
  return [{ method: "GET", path: `/v2/${tenant.slug}/cases${limit === undefined ? "" : `?limit=${limit}`}` }];
}

export function closeShots({ tenant, closable }: Stand, count: number): Shot[] {
  return closable.slice(0, count).map((each) => ({
    method: "PUT",
    path: `/v2/${tenant.slug}/cases/${each.case_id}`,
    body: JSON.stringify(closeOf(each)),
  }));
}

// Four reads for each close.
export function mixedShots(stand: Stand, closes: number): Shot[] {
  const reads = readShots(stand);
  return closeShots(stand, closes).flatMap((close, each) => [
    close,
    ...[0, 1, 2, 3].flatMap((more) => reads[(each * 4 + more) % reads.length] ?? []),
  ]);
}

// Every account twice, with a new value each time and in each run, so that every request is a change.
export function accountPutShots({ tenant, accounts }: Stand, run: number): Shot[] {
  return accounts.flatMap((id) =>
    [`CRM-${run}-a`, `CRM-${run}-b`].map((crm_account_id) => ({
      method: "PUT",
      path: `/v2/${tenant.slug}/enduseraccounts/${id}`,
      body: JSON.stringify({ crm_account_id }),
    })),
  );
}
