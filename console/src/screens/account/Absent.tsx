import { unknownAccount } from "@casehound/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { UserRoundX } from "lucide-react";
import { Actor } from "../../parts/Actor.tsx";
import { Empty, Loading } from "../../parts/States.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { AccountLink } from "./AccountLink.tsx";
import { Cases } from "./Cases.tsx";
import { History } from "./History.tsx";

// The account does not exist now. The log knows whether it existed, by the pseudonym that its cases received on erasure.
export function Absent({ accountId }: { accountId: string }) {
  const histories = useHistories();
  const events = useInfiniteQuery(histories.accountEvents(accountId));
  if (events.isPending) return <Loading name="Loading the account" />;
  const erased = events.data?.pages.flatMap((page) => page.events).find(({ type }) => type === "account.erased");
  if (!erased) return <NeverThere accountId={accountId} />;
  return (
    <div className="mx-auto grid max-w-[60rem] gap-4 p-5">
      <p className="rounded-lg border border-line bg-surface p-4 text-base">
        This account was erased by <Actor actor={erased.actor} /> on <Moment at={erased.occurred_at} />. Its activity and identity
        were deleted. Its cases are kept under this pseudonym. Nothing here can be changed.
      </p>
      <Cases accountId={accountId} />
      <History accountId={accountId} />
    </div>
  );
}

function NeverThere({ accountId }: { accountId: string }) {
  const { may } = useWorkspace();
  const byCrm = useQuery({ ...useHistories().accountsByCrmId(accountId), enabled: may("read:enduseraccounts") });
  return (
    <Empty title="Account not found" icon={<UserRoundX size={20} aria-hidden />}>
      <p>This account was never seen, or it was erased. Cases of an erased account are kept under a pseudonym.</p>
      {byCrm.data && byCrm.data.end_user_accounts.length > 0 && (
        <p className="mt-2">
          But it is the CRM id of{" "}
          {byCrm.data.end_user_accounts.map(({ website_account_id: id }) => (
            <AccountLink key={id} id={id} look="mr-2 font-medium text-accent underline" />
          ))}
          {byCrm.data.next_cursor !== null && "and more"}
        </p>
      )}
    </Empty>
  );
}

// The screen for the placeholder name of cases without an account.
export function NoAccount() {
  return (
    <Empty title="No account" icon={<UserRoundX size={20} aria-hidden />}>
      <p>
        This is not an account. Some cases are about a source, a payee, an instrument or a campaign, and not about one account.
        There is nothing to block or mark here.
      </p>
      <Link to="/" search={{ account: unknownAccount }} className="mt-3 inline-block font-medium text-accent underline">
        Show the open cases without an account
      </Link>
    </Empty>
  );
}
