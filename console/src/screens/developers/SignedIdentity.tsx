import type { Identity } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { CopyBlock } from "../../parts/Copy.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age, Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { IdentitySecretDialog, NewIdentitySecretDialog, type MadeSecret } from "./IdentityDialogs.tsx";
import { IdentitySetting } from "./IdentitySetting.tsx";
import { readIdentity } from "./reads.ts";

type Open = { kind: "new" } | { kind: "secret"; made: MadeSecret };

// Shows how the site's server vouches for the user that a page names.
export function SignedIdentity() {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const read = useQuery({ ...readIdentity(client), enabled: may("read:tenant") });
  const [open, setOpen] = useState<Open | null>(null);
  const hasSecret = read.data !== undefined && read.data.secrets.length > 0;
  const show = (made: MadeSecret) => {
    void cache.invalidateQueries({ queryKey: ["tenant"] });
    setOpen({ kind: "secret", made });
  };
  return (
    <Section
      title="Signed identity"
      aside={
        <div className="flex flex-wrap items-center gap-3">
          <GuideLink page="signed-identity" about="signed identity" />
          {read.data && may("update:tenant_auth_secret") && (
            <Button onClick={() => setOpen({ kind: "new" })}>
              <KeyRound size={15} aria-hidden /> {hasSecret ? "Rotate the identity secret" : "Create a secret"}
            </Button>
          )}
        </div>
      }
    >
      {read.isLoading && <Loading lines={4} name="Loading signed identity" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <div className="grid gap-4">
          {read.data.is_snippet_only && <SnippetOnly />}
          <Counts days={read.data.days} />
          <IdentitySetting identity={read.data} />
          <Secrets secrets={read.data.secrets} />
        </div>
      )}
      {open?.kind === "new" && <NewIdentitySecretDialog hasSecret={hasSecret} onClose={() => setOpen(null)} onMade={show} />}
      {open?.kind === "secret" && <IdentitySecretDialog made={open.made} onClose={() => setOpen(null)} />}
    </Section>
  );
}

const lines = `import { createHmac } from "node:crypto";
const expiry = Math.floor(Date.now() / 1000) + 3600;
const message = \`casehound-identity:v1:\${expiry}:\${user.id}\`;
const token = \`v1.\${expiry}.\${createHmac("sha256", secret).update(message).digest("base64url")}\`;
// and in the page: casehound.setUserId(user.id, { token })`;

function SnippetOnly() {
  return (
    <div className="grid gap-2">
      <p className="text-sm">
        Without signed identity or server calls, your pages can only make claims about accounts. So their cases score at most 3
        and recommend at most MONITOR. Signed identity, or one server call at log-in, lifts both limits.
      </p>
      <CopyBlock name="the lines that sign an identity" text={lines} />
    </div>
  );
}

const count = new Intl.NumberFormat("en");
const were = (number: number) => `${count.format(number)} ${number === 1 ? "was" : "were"}`;

function Counts({ days }: { days: Identity["days"] }) {
  const sum = (name: "signed" | "tied" | "unvouched" | "bad_token") => days.reduce((total, day) => total + day[name], 0);
  const [signed, tied, unvouched, bad] = [sum("signed"), sum("tied"), sum("unvouched"), sum("bad_token")];
  const all = signed + tied + unvouched + bad;
  if (all === 0) return <p className="text-sm text-soft">No event from a page has named an account in the last 7 days.</p>;
  return (
    <p className="text-sm">
      Of {count.format(all)} {all === 1 ? "event" : "events"} that named an account in the last 7 days, {were(signed)} signed,{" "}
      {were(tied)} tied by your server, {were(unvouched)} unverified, and {count.format(bad)} had a bad token.
    </p>
  );
}

function Secrets({ secrets }: { secrets: Identity["secrets"] }) {
  if (secrets.length === 0) return null;
  return (
    <ul className="divide-y divide-line" aria-label="Identity secrets">
      {secrets.map(({ secret_id, created_at, expires_at }) => (
        <li key={secret_id} className="py-1.5">
          <p className="font-mono text-xs break-all">{secret_id}</p>
          <p className="text-xs text-faint">
            {expires_at === undefined ? "Current secret" : "Replaced"} · created <Age at={created_at} suffix=" ago" />
          </p>
          {expires_at !== undefined && (
            <p className="text-xs text-warn">
              Works until <Moment at={expires_at} />.
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}
