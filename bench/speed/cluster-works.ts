// The requests that are measured on a cluster.
import type { Shot } from "./drive.ts";
import type { Served } from "./cluster-stores.ts";
import { caseShots } from "./growth-shots.ts";
import { listPath, listShapes } from "./list-shapes.ts";

type Counts = { reads: number; lists: number; closes: number };
// `shots` is called for each round, because a change can be made only once.
export type Work = { name: string; isAimed: boolean; shots: (served: Served) => Promise<Shot[]>; isChange?: boolean };
const pathOf = ({ store }: Served) => `/v2/${store.tenants[0]?.slug}`;

export function worksFor({ reads, lists, closes }: Counts): Work[] {
  let run = 0;
  const shapes = ["all", "status=OPEN", "user_is_blocked=false", "status, label, min_score", "updated_since"];
  const pageOf = (name: string): Work => ({
    name: `a page of 50 cases: ${name}`,
    isAimed: true,
    shots: async ({ store }) => {
      const shape = listShapes(store).find((each) => each.name === name);
      if (!shape) throw new Error(`there is no list ${name}`);
      const path = await listPath(store, { shape, sort: "-created_at", depth: "first" });
      return Array.from({ length: lists }, () => ({ method: "GET", path }));
    },
  });
  const accounts = (query: string): Work => ({
    name: `a page of 50 accounts${query === "" ? "" : `: ${query}`}`,
    isAimed: true,
    shots: async (served) =>
      Array.from({ length: lists }, () => ({ method: "GET", path: `${pathOf(served)}/enduseraccounts?limit=50&${query}` })),
  });
  return [
    {
      name: "GET case",
      isAimed: true,
      shots: ({ store, service: { tokens } }) => caseShots(store, { count: reads, tenants: 1, isOpen: false, tokens }),
    },
    {
      name: "GET account",
      isAimed: false,
      shots: async (served) =>
        Array.from({ length: reads }, (_, index) => ({
          method: "GET",
          path: `${pathOf(served)}/enduseraccounts/member-${index + 1}`,
        })),
    },
    {
      name: "PUT account",
      isAimed: false,
      isChange: true,
      shots: async (served) =>
        Array.from({ length: closes }, (_, index) => ({
          method: "PUT",
          path: `${pathOf(served)}/enduseraccounts/member-${index + 1}`,
          body: JSON.stringify({ crm_account_id: `CRM-${++run}` }),
        })),
    },
    {
      name: "close",
      isAimed: true,
      isChange: true,
      shots: ({ store, service: { tokens } }) => caseShots(store, { count: closes, tenants: 1, isOpen: true, tokens }),
    },
    ...shapes.map(pageOf),
    accounts(""),
    accounts("is_blocked=true"),
  ];
}
