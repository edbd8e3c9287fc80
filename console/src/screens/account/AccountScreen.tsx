import { ProblemError, unknownAccount, type EndUserAccount } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ArrowLeft, Link2, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { useBack } from "../../keys/back.ts";
import { FlagMarks } from "../../parts/Badges.tsx";
import { IconButton } from "../../parts/Button.tsx";
import { copyAddress } from "../../parts/Copy.tsx";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { accountName } from "../../parts/account-name.ts";
import { Absent, NoAccount } from "./Absent.tsx";
import { Activity, Sessions } from "./Activity.tsx";
import { Cases } from "./Cases.tsx";
import { CrmId } from "./CrmId.tsx";
import { Devices } from "./Devices.tsx";
import { Erase } from "./Erase.tsx";
import { Flags } from "./Flags.tsx";
import { History } from "./History.tsx";

export function AccountScreen() {
  const { accountId } = useParams({ from: "/inside/accounts/$accountId" });
  const { queries, may } = useWorkspace();
  const isKnown = accountId !== unknownAccount;
  const isAllowed = may("read:enduseraccount");
  const read = useQuery({ ...queries.account(accountId), enabled: isKnown && isAllowed });
  const isAbsent = read.error instanceof ProblemError && read.error.status === 404;
  const back = useBack();
  return (
    <div className="on-paper h-full overflow-y-auto">
      <Header accountId={accountName(accountId)} account={read.data} onBack={back} />
      {!isKnown && <NoAccount />}
      {isKnown && !isAllowed && <NotAvailable what="The account" />}
      {isKnown && isAllowed && read.isPending && <Loading lines={12} name="Loading the account" />}
      {isAbsent && <Absent key={accountId} accountId={accountId} />}
      {read.isLoadingError && !isAbsent && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && !isAbsent && <Stale read={read} />}
      {read.data && !isAbsent && <AccountView key={accountId} account={read.data} />}
    </div>
  );
}

function AccountView({ account }: { account: EndUserAccount }) {
  const { website_account_id: id, last_session_updated_on: seen, first_activity_at: first, created_at, updated_at } = account;
  return (
    <div className="mx-auto grid max-w-[88rem] grid-cols-[minmax(0,1fr)_24rem] grid-rows-[auto_1fr] items-start gap-4 p-5 max-[70rem]:grid-cols-[minmax(0,1fr)] max-[70rem]:grid-rows-none">
      <div className="row-span-2 grid min-w-0 grid-cols-1 gap-4 max-[70rem]:order-2 max-[70rem]:row-auto">
        <Cases accountId={id} />
        <Activity accountId={id} />
        <Sessions accountId={id} />
        <History accountId={id} />
      </div>
      <div className="grid min-w-0 grid-cols-1 items-start gap-4 max-[70rem]:grid-cols-2 max-[45rem]:grid-cols-1">
        <Section title="Flags">
          <Flags account={account} />
        </Section>
        <Section title="Facts">
          <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
            <Fact name="CRM id">
              <CrmId account={account} />
            </Fact>
            <Fact name="Last session">
              {seen === undefined ? <span className="text-faint">none</span> : <Age at={seen} suffix=" ago" />}
            </Fact>
            <Fact name="First active">
              {first === undefined ? <span className="text-faint">not known</span> : <Age at={first} suffix=" ago" />}
            </Fact>
            <Fact name="In Casehound since">
              <Age at={created_at} suffix=" ago" />
            </Fact>
            <Fact name="Changed">
              <Age at={updated_at} suffix=" ago" />
            </Fact>
          </dl>
        </Section>
      </div>
      <div className="grid min-w-0 grid-cols-1 gap-4 max-[70rem]:order-3">
        <Devices accountId={id} />
        <Erase accountId={id} />
      </div>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

type HeaderProps = { accountId: string; account: EndUserAccount | undefined; onBack: () => void };

function Header({ accountId, account, onBack }: HeaderProps) {
  return (
    <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
      <div className="mx-auto flex max-w-[85.5rem] items-center gap-x-4">
        <IconButton name="Back" onClick={onBack} className="no-print -ml-1">
          <ArrowLeft size={17} aria-hidden />
        </IconButton>
        <div className="min-w-0 flex-1">
          <div className="flex min-w-0 items-center gap-x-3">
            <UserRound size={17} className="shrink-0 text-faint" aria-hidden />
            <h1 className="truncate text-lg font-semibold" title={accountId}>
              <bdi>{accountId}</bdi>
            </h1>
            {account && <FlagMarks flags={account} />}
          </div>
          <p className="text-xs text-faint">Account</p>
        </div>
        <IconButton name="Copy the link to this account" onClick={() => void copyAddress("account")} className="no-print">
          <Link2 size={16} aria-hidden />
        </IconButton>
      </div>
    </header>
  );
}
