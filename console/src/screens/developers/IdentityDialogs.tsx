import { useState } from "react";
import { CopyLine } from "../../parts/Copy.tsx";
import { OnceDialog } from "../../parts/OnceDialog.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

export type MadeSecret = { secret: string; previous_secret_expires_at?: string };

type NewProps = { hasSecret: boolean; onClose: () => void; onMade: (made: MadeSecret) => void };

export function NewIdentitySecretDialog({ hasSecret, onClose, onMade }: NewProps) {
  const { client } = useWorkspace();
  const [isNow, setNow] = useState(false);
  const make = async () => onMade(await client.call("createIdentitySecret", { body: { revoke_now: isNow } }));
  return (
    <SureDialog
      title={hasSecret ? "Rotate the identity secret" : "Create an identity secret"}
      act="Create a new secret"
      isHarsh={isNow}
      onClose={onClose}
      run={make}
    >
      <p>Your server uses it to sign which user is signed in to a page. It is shown once, and works immediately.</p>
      {!hasSecret && <p>This sets verification to Observe: nothing is rejected, and unverified events are counted.</p>}
      {hasSecret && <p>Each older secret works for 24 hours after it was replaced, so your servers can switch one by one.</p>}
      {hasSecret && (
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            className="mt-0.5 size-4 shrink-0 accent-accent"
            checked={isNow}
            onChange={(event) => setNow(event.target.checked)}
          />
          <span>
            <span className="block font-medium text-ink">End the older secrets now</span>
            <span>Choose this if one has leaked. Tokens signed with them stop working at once.</span>
          </span>
        </label>
      )}
    </SureDialog>
  );
}

export function IdentitySecretDialog({ made, onClose }: { made: MadeSecret; onClose: () => void }) {
  const { secret, previous_secret_expires_at: until } = made;
  return (
    <OnceDialog title="Store the identity secret now" onClose={onClose}>
      <p className="text-sm text-soft">
        It is not shown again. Keep it on your servers and never put it in a page: anybody who has it can vouch for every account.
      </p>
      <CopyLine label="Identity secret" text={secret} />
      {until !== undefined && (
        <p className="text-sm text-warn">
          The replaced secret works until <Moment at={until} />.
        </p>
      )}
    </OnceDialog>
  );
}
