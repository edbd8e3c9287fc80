import type { LinkTable, LinkedAccount } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListFilter, UserRound, Waypoints } from "lucide-react";
import { useMemo, type ReactNode, type RefObject } from "react";
import { linkQueriesOf } from "../../data/link-queries.ts";
import { FlagMarks } from "../../parts/Badges.tsx";
import { Id } from "../../parts/Id.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { CaseLabel } from "../../parts/RandomCheck.tsx";
import { Score } from "../../parts/Score.tsx";
import { Loading } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { AccountLink } from "../account/AccountLink.tsx";
import { KindIcon } from "./LinkTable.tsx";
import { Trace } from "./Trace.tsx";
import { accountsWords, kindWords, type LinkNode, type LinkRow } from "./rows.ts";

type Props = {
  table: LinkTable;
  rows: LinkRow[];
  focusedId: string | null;
  pane: RefObject<HTMLElement | null>;
  onFocus: (id: string) => void;
};

// Details of the item in focus: the accounts behind a device or an address, or what an account shares.
export function Pane({ table, rows, focusedId, pane, onFocus }: Props) {
  const row = rows.find((each) => each.id === focusedId);
  const node = table.nodes.find((each) => each.node_id === focusedId && each.kind === "account");
  return (
    <aside
      ref={pane}
      aria-label="Item in focus"
      className="flex w-[25rem] shrink-0 flex-col border-l border-line bg-surface max-[85rem]:w-[19rem] max-lg:h-1/2 max-lg:w-full max-lg:border-t max-lg:border-l-0"
    >
      {row && <SharedPane key={row.id} row={row} />}
      {!row && node && (
        <AccountPane node={node} rows={rows.filter((each) => each.website_account_ids.includes(node.value))} onFocus={onFocus} />
      )}
    </aside>
  );
}

type HeadProps = { icon: ReactNode; title: string; trace?: ReactNode; children: ReactNode };

function PaneHead({ icon, title, trace, children }: HeadProps) {
  return (
    <header className="border-b border-line px-4 py-3">
      <h2 className="flex items-start gap-2 font-medium">
        <span className="mt-0.5">{icon}</span>
        <span className="min-w-0 [overflow-wrap:anywhere]">
          <Id id={title} />
        </span>
      </h2>
      {trace}
      <p className="mt-0.5 text-xs text-soft">{children}</p>
    </header>
  );
}

function SharedPane({ row }: { row: LinkRow }) {
  const { client } = useWorkspace();
  const queries = useMemo(() => linkQueriesOf(client), [client]);
  const list = useInfiniteQuery(queries.accountsOf(row.kind, row.value));
  const origins = new Set(row.known.filter((node) => node.is_origin).map((node) => node.value));
  const accounts = (list.data?.pages ?? []).flatMap((page) => page.accounts);
  return (
    <>
      <PaneHead icon={<KindIcon kind={row.kind} size={15} />} title={row.value} trace={<Trace link={row} />}>
        {kindWords[row.kind].one} of {accountsWords(row.accounts)} accounts · first seen <Age at={row.first_seen} suffix=" ago" />{" "}
        · last <Age at={row.last_seen} suffix=" ago" />
      </PaneHead>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {list.isPending && <Loading lines={6} name="Loading the accounts" />}
        <ul aria-label="Accounts that share it">
          {accounts.map((account) => (
            <li key={account.website_account_id} className="border-b border-line px-4 py-2.5">
              <AccountFacts account={account} isOrigin={origins.has(account.website_account_id)} />
            </li>
          ))}
        </ul>
        <ListFoot list={list} what="The accounts" more="Show more accounts" />
      </div>
    </>
  );
}

type Shown = Pick<LinkedAccount, "website_account_id" | "is_blocked" | "is_quarantined" | "is_fraudulent" | "open_case"> & {
  last_seen?: string;
};

const smallLink = "inline-flex size-6 items-center justify-center rounded text-faint hover:bg-hover hover:text-ink";

function AccountFacts({ account, isOrigin }: { account: Shown; isOrigin: boolean }) {
  const { website_account_id: id, open_case: found, last_seen } = account;
  return (
    <>
      <div className="flex items-center gap-2">
        <AccountLink id={id} look="truncate font-medium" />
        {isOrigin && (
          <span className="shrink-0 rounded bg-accent-soft px-1.5 text-xs font-medium text-accent">selected account</span>
        )}
        <span className="flex-1" />
        <Link
          to="/links"
          search={{ account: id }}
          className={smallLink}
          aria-label={`Links around ${visible(id)}`}
          title="Links around it"
        >
          <Waypoints size={14} aria-hidden />
        </Link>
        <Link
          to="/"
          search={{ account: id, status: "all" }}
          className={`${smallLink} -ml-1`}
          aria-label={`Cases of ${visible(id)}`}
          title="Its cases"
        >
          <ListFilter size={14} aria-hidden />
        </Link>
      </div>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-soft">
        {found ? (
          <Link
            to="/cases/$caseId"
            params={{ caseId: found.case_id }}
            className="inline-flex items-center gap-2 rounded hover:underline"
          >
            <span className="sr-only">Open case:</span>
            <Score score={found.overall_risk_score} />
            <CaseLabel row={{ ...found, website_account_id: id }} />
          </Link>
        ) : (
          <span className="text-xs text-faint">No open case</span>
        )}
        <FlagMarks flags={account} />
        {last_seen !== undefined && (
          <span className="ml-auto text-xs text-faint">
            <Age at={last_seen} suffix=" ago" />
          </span>
        )}
      </div>
    </>
  );
}

const noFlags = { is_blocked: false, is_quarantined: false, is_fraudulent: false };

function AccountPane({ node, rows, onFocus }: { node: LinkNode; rows: LinkRow[]; onFocus: (id: string) => void }) {
  const account: Shown = {
    website_account_id: node.value,
    ...(node.flags ?? noFlags),
    ...(node.open_case && { open_case: node.open_case }),
  };
  return (
    <>
      <PaneHead icon={<UserRound size={15} className="text-faint" aria-hidden />} title={node.value}>
        Account, shares {rows.length} of these
      </PaneHead>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <div className="border-b border-line px-4 py-2.5">
          <AccountFacts account={account} isOrigin={node.is_origin} />
        </div>
        <ul aria-label="What it shares">
          {rows.map((row) => (
            <li key={row.id}>
              <button
                type="button"
                onClick={() => onFocus(row.id)}
                className="flex w-full items-center gap-2 border-b border-line px-4 py-2 text-left hover:bg-hover"
              >
                <KindIcon kind={row.kind} />
                <span className="min-w-0 flex-1 truncate font-mono text-xs">
                  <Id id={row.value} />
                </span>
                <span className="text-xs text-soft">{accountsWords(row.accounts)} accounts</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
