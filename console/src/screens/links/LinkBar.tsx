import { Link, useNavigate } from "@tanstack/react-router";
import { Table2, Waypoints, X } from "lucide-react";
import type { ReactNode, RefObject } from "react";
import { SearchBox } from "../../search/SearchBox.tsx";
import { AccountLink } from "../account/AccountLink.tsx";
import { kindWords } from "./rows.ts";
import type { LinksSearch } from "./search.ts";

const chipLook =
  "inline-flex h-7 min-w-0 items-center gap-1 rounded-full border border-line bg-surface pr-1 pl-2.5 text-xs font-medium";

// Whose links are shown, which of them and in what form. All of it is in the address.
export function LinkBar({ search, input }: { search: LinksSearch; input: RefObject<HTMLInputElement | null> }) {
  const navigate = useNavigate({ from: "/links" });
  const { account, cases, kind, view } = search;
  const { account: _account, cases: _cases, at: _at, ...standing } = search;
  const isGraph = view === "graph";

  return (
    <header className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-3 py-2">
      <SearchBox
        name="Links around an account"
        placeholder="Account"
        isAccountsOnly
        input={input}
        onAccount={(given) => void navigate({ search: { ...standing, account: given } })}
      />
      {account === undefined && cases === undefined ? (
        <span className="text-soft">Around the riskiest open cases</span>
      ) : (
        <span className={chipLook}>
          <span className="max-w-72 truncate">
            Around {account === undefined ? caseWords(cases ?? "") : <AccountLink id={account} look="underline" />}
          </span>
          <Link
            to="/links"
            search={standing}
            aria-label="Back to the riskiest open cases"
            className="grid size-5 shrink-0 place-items-center rounded-full text-faint hover:bg-hover hover:text-ink"
          >
            <X size={12} aria-hidden />
          </Link>
        </span>
      )}
      <span className="flex-1" />
      <Choice name="What is shared">
        {([undefined, "device", "ip"] as const).map((each) => (
          <Option key={each ?? "all"} isChosen={kind === each} search={withKind(search, each)}>
            {each === undefined ? "All" : kindWords[each].many}
          </Option>
        ))}
      </Choice>
      <Choice name="View">
        <Option isChosen={!isGraph} search={withView(search, false)}>
          <Table2 size={13} aria-hidden /> Table
        </Option>
        <Option isChosen={isGraph} search={withView(search, true)}>
          <Waypoints size={13} aria-hidden /> Graph
        </Option>
      </Choice>
    </header>
  );
}

function caseWords(cases: string): string {
  const count = cases.split(",").length;
  return count === 1 ? "one case" : `${count} cases`;
}

function withKind({ kind: _kind, ...rest }: LinksSearch, kind: LinksSearch["kind"]): LinksSearch {
  return { ...rest, ...(kind !== undefined && { kind }) };
}

function withView({ view: _view, ...rest }: LinksSearch, isGraph: boolean): LinksSearch {
  return { ...rest, ...(isGraph && { view: "graph" as const }) };
}

function Choice({ name, children }: { name: string; children: ReactNode }) {
  return (
    <nav aria-label={name} className="flex rounded-md border border-line bg-sunken p-0.5">
      {children}
    </nav>
  );
}

function Option({ isChosen, search, children }: { isChosen: boolean; search: LinksSearch; children: ReactNode }) {
  return (
    <Link
      to="/links"
      search={search}
      replace
      activeOptions={{ exact: true }}
      aria-current={isChosen ? "true" : undefined}
      className={`inline-flex h-6 items-center gap-1.5 rounded px-2.5 text-xs font-medium ${isChosen ? "bg-raised text-ink shadow-sm" : "text-soft hover:text-ink"}`}
    >
      {children}
    </Link>
  );
}
