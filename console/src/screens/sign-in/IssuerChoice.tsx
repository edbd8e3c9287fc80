import { queryOptions, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { issuerPath, oidcPath, readOptions } from "../../session/session.ts";

export function optionsQuery(tenant: string | undefined) {
  return queryOptions({ queryKey: ["auth", "options", tenant ?? null], queryFn: () => readOptions(tenant), retry: 1 });
}

// The identity providers that a person can sign in with. The service offers those of a tenant only if it knows which one.
export function IssuerChoice({ tenant, isApart }: { tenant: string | undefined; isApart: boolean }) {
  const [named, setNamed] = useState(tenant);
  const [isAsking, setAsking] = useState(false);
  const { data } = useQuery(optionsQuery(named));
  if (!data) return null;
  const { oidc, issuers } = data;
  return (
    <>
      {oidc && <IssuerLink href={oidcPath} name={oidc.name} isApart={isApart} />}
      {issuers.map((each) => (
        <IssuerLink key={each.issuer_key} href={issuerPath(each)} name={each.name} isApart={isApart} />
      ))}
      {!isApart && issuers.length === 0 && !isAsking && (
        <Button look="quiet" onClick={() => setAsking(true)}>
          Single sign-on
        </Button>
      )}
      {isAsking && issuers.length === 0 && <TenantForm missing={named} onNamed={setNamed} />}
    </>
  );
}

function TenantForm({ missing, onNamed }: { missing: string | undefined; onNamed: (tenant: string) => void }) {
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    onNamed(typedIn(event.currentTarget)("tenant").trim().toLowerCase());
  }
  return (
    <form className="grid gap-3" onSubmit={submit}>
      <Field
        name="tenant"
        label="Tenant"
        required
        autoFocus
        defaultValue={missing}
        maxLength={100}
        autoComplete="organization"
        hint="Your company's name in Casehound, such as demo. If you do not know it, ask an admin."
      />
      {missing !== undefined && <Alert>{`No identity provider is set up for ${missing}.`}</Alert>}
      <Button type="submit">Continue</Button>
    </form>
  );
}

// `isApart` opens a new tab, because this one may hold unsaved work.
function IssuerLink({ href, name, isApart }: { href: string; name: string; isApart: boolean }) {
  return (
    <a
      href={href}
      {...(isApart && { target: "_blank", rel: "noreferrer" })}
      className="inline-flex h-9 items-center justify-center rounded-md border border-edge/50 bg-surface text-sm font-medium hover:bg-hover"
    >
      <span className="truncate px-3">Sign in with {name}</span>
    </a>
  );
}
