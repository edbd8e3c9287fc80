import { unknownAccount } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import { accountName } from "../../parts/account-name.ts";
import { Id } from "../../parts/Id.tsx";

// `isSkipped` takes the link out of the tab order, in rows that keys and clicks treat as one item.
type Props = { id: string; look?: string; isSkipped?: boolean };

// An account id links to the account's screen wherever it is shown. The placeholder for no account has no screen.
export function AccountLink({ id, look = "font-medium text-accent", isSkipped = false }: Props) {
  if (id === unknownAccount) return <span className="text-faint italic">{accountName(id)}</span>;
  return (
    <Link
      to="/accounts/$accountId"
      params={{ accountId: id }}
      title={accountName(id)}
      className={`hover:underline ${look}`}
      {...(isSkipped && { tabIndex: -1, onClick: (event) => event.stopPropagation() })}
    >
      <Id id={id} />
    </Link>
  );
}
