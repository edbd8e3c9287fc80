import { ProblemError, unknownAccount } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { flagFacts, flagNames } from "../../parts/Badges.tsx";
import { FlagSwitch } from "../../parts/FlagSwitch.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Flags } from "../../changes/flags.ts";
import { AccountLink } from "../account/AccountLink.tsx";

// The account of a case, with its flags as switches. It has no frame of its own, because the peek pane shows it too.
export function AccountCard({ websiteAccountId }: { websiteAccountId: string }) {
  const { queries } = useWorkspace();
  const isKnown = websiteAccountId !== unknownAccount;
  const account = useQuery({ ...queries.account(websiteAccountId), enabled: isKnown });
  if (!isKnown)
    return (
      <p className="text-soft">
        This case is not about one account. It is about a source, a payee, an instrument or a campaign, so there are no flags to
        set.
      </p>
    );
  if (account.isPending)
    return <div role="status" aria-label="Loading the account" className="h-20 animate-pulse rounded bg-sunken" />;
  if (account.isLoadingError) {
    const isAbsent = account.error instanceof ProblemError && account.error.status === 404;
    return <p className="text-soft">{isAbsent ? "The account was erased." : wordsOf(account.error)}</p>;
  }
  const { crm_account_id, last_session_updated_on: seen, first_activity_at: first, updated_at, created_at } = account.data;
  return (
    <div className="grid gap-3">
      <FlagSwitches account={account.data} />
      <p className="hidden print:block">{flagWords(account.data)}</p>
      <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-3 gap-y-1">
        <Fact name="Account">
          <AccountLink id={websiteAccountId} />
        </Fact>
        <Fact name="CRM id">{crm_account_id ?? <span className="text-faint">none</span>}</Fact>
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
    </div>
  );
}

function flagWords(flags: Flags): string {
  const set = flagNames.filter((flag) => flags[flag]).map((flag) => flagFacts[flag].name);
  return set.length === 0 ? "No flag is set." : `Flags: ${set.join(", ")}`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

function FlagSwitches({ account }: { account: Flags & { website_account_id: string } }) {
  const { flags, may } = useWorkspace();
  const isAllowed = may("update:enduseraccount");
  return (
    <div className="no-print @container">
      <div className="grid gap-1.5 @lg:flex @lg:flex-wrap">
        {flagNames.map((flag) => (
          <FlagSwitch
            key={flag}
            flag={flag}
            isOn={account[flag]}
            isAllowed={isAllowed}
            onPress={() => void flags.toggle(account, flag)}
          />
        ))}
      </div>
    </div>
  );
}
