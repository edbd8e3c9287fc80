import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { SwitchTrack } from "../../parts/SwitchTrack.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

// The tenant's setting for all e-mails.
export function MailDetails() {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const tenant = useQuery({
    queryKey: ["tenant"],
    queryFn: ({ signal }) => client.call("getTenant", { signal }),
    enabled: may("update:tenant"),
  });
  const [isAsking, setAsking] = useState(false);
  if (!may("update:tenant") || !tenant.data) return null;
  const isOn = tenant.data.notification_details === "ids";
  const change = async () => {
    await client.call("updateTenant", { body: { notification_details: isOn ? "none" : "ids" } });
    toast({ kind: "done", words: isOn ? "E-mails no longer name accounts." : "E-mails now name accounts." });
    setAsking(false);
    void cache.invalidateQueries({ queryKey: ["tenant"] });
  };
  return (
    <section aria-label="For everyone" className="rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        onClick={() => setAsking(true)}
        className="inline-flex items-center gap-2 font-medium"
      >
        <SwitchTrack isOn={isOn} tone="accent" />
        Name accounts in e-mails
      </button>
      <p className="mt-1 text-xs text-soft">
        For everyone in this tenant. When off, e-mails contain only counts, scores, labels and links.
      </p>
      {isAsking && (
        <SureDialog
          title={isOn ? "Stop naming accounts in e-mails?" : "Name accounts in e-mails?"}
          act={isOn ? "Stop naming them" : "Name them"}
          onClose={() => setAsking(false)}
          run={change}
        >
          <p>
            {isOn
              ? "New e-mails contain only counts, scores, labels and links. E-mails that were already sent do not change."
              : "Account ids leave this service and stay in mailboxes, even if you erase the account here."}
          </p>
        </SureDialog>
      )}
    </section>
  );
}
