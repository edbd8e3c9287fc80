import type { User } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { SwitchTrack } from "../../parts/SwitchTrack.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

// The tenant's rule that everyone needs a second factor.
export function FactorRule({ users }: { users: User[] }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const tenant = useQuery({ queryKey: ["tenant"], queryFn: ({ signal }) => client.call("getTenant", { signal }) });
  const [isAsking, setAsking] = useState(false);
  if (!tenant.data) return null;
  const isOn = tenant.data.requires_second_factor;
  const without = users.filter((user) => user.has_password && !user.has_second_factor && !user.is_disabled).length;
  const change = async () => {
    await client.call("updateTenant", { body: { requires_second_factor: !isOn } });
    toast({ kind: "done", words: isOn ? "A second factor is now optional." : "Everyone now needs a second factor." });
    setAsking(false);
    void cache.invalidateQueries({ queryKey: ["tenant"] });
  };
  return (
    <section className="mt-4 flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        disabled={!may("update:tenant")}
        onClick={() => setAsking(true)}
        className="inline-flex items-center gap-2 font-medium disabled:opacity-60"
      >
        <SwitchTrack isOn={isOn} tone="accent" />
        Require two-factor authentication
      </button>
      <p className="text-xs text-soft">{wordsOf(without)} Sign-in through an identity provider is not affected.</p>
      {isAsking && (
        <SureDialog
          title={isOn ? "Make the second factor optional?" : "Require a second factor?"}
          act={isOn ? "Make it optional" : "Require it"}
          onClose={() => setAsking(false)}
          run={change}
        >
          <p>
            {isOn
              ? "People can then remove their second factor and sign in with the password alone."
              : `${wordsOf(without)} From their next request on, people without a second factor must add one before they can do anything else. Their unsaved work is kept.`}
          </p>
        </SureDialog>
      )}
    </section>
  );
}

function wordsOf(without: number): string {
  if (without === 0) return "Everyone with a password has a second factor.";
  return without === 1 ? "One person has no second factor yet." : `${without} people have no second factor yet.`;
}
