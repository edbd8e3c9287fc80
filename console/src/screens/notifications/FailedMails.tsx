import { useQuery } from "@tanstack/react-query";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";

const shownMax = 20;
const refreshMs = 60_000;

// For those who manage people: e-mails that could not be delivered, and why.
export function FailedMails() {
  const { client, may } = useWorkspace();
  const read = useQuery({
    queryKey: ["notifications", "failed"],
    queryFn: ({ signal }) => client.call("listNotificationMails", { query: { state: "DEAD", limit: shownMax }, signal }),
    enabled: may("manage:users"),
    refetchInterval: refreshMs,
  });
  const mails = read.data?.mails ?? [];
  if (mails.length === 0) return null;
  return (
    <section aria-labelledby="failed-mails" className="rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <h2 id="failed-mails" className="font-semibold">
        E-mails that could not be delivered
      </h2>
      <ul className="divide-y divide-line">
        {mails.map(({ mail_id, email, created_at, last_error }) => (
          <li key={mail_id} className="py-2">
            <p>
              {visible(email)}
              <span className="ml-2 text-xs text-faint">
                <Age at={created_at} suffix=" ago" />
              </span>
            </p>
            <p className="text-xs break-words text-bad">{visible(last_error ?? "")}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
