import { unknownAccount } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import { accountName } from "../../parts/account-name.ts";

// `isSkipped`: in a row that the keys go through as one, and that a click chooses.
type Props = { id: string; look?: string; isSkipped?: boolean };

// An account's id, wherever it is shown, leads to the account's own screen. What has no account has no such screen.
export function AccountLink({ id, look = "font-medium text-accent", isSkipped = false }: Props) {
  if (id === unknownAccount) return <span className="text-faint italic">{accountName(id)}</span>;
  return (
    <Link
      to="/accounts/$accountId"
      params={{ accountId: id }}
      title={id}
      className={`hover:underline ${look}`}
      {...(isSkipped && { tabIndex: -1, onClick: (event) => event.stopPropagation() })}
    >
      {id}
    </Link>
  );
}
