import { Failure } from "../../domain/failure.ts";
import { jsonMediaType } from "../operation.ts";
import { changePassword, readSession, signOut, signOutEverywhere, type Asked, type People } from "./people.ts";
import {
  beginTotp,
  confirmTotpCode,
  giveSecondFactor,
  readSecondFactors,
  removeTotp,
  renewRecoveryCodes,
} from "./second-factors.ts";
import { addPasskey, beginPasskey, beginPasskeySignIn, removePasskey, signInWithPasskey } from "./passkeys.ts";
import { signIn } from "./sign-in.ts";
import { siteOfPasskeys } from "./webauthn.ts";
import { readLink, takeLink } from "./links.ts";
import type { OidcSettings } from "../../config.ts";
import { beginOidc, finishOidc, isFromElsewhere, toTenantSignIn } from "./oidc.ts";
import { OtherIssuer } from "./other-issuer.ts";
import { TenantIssuers } from "./tenant-issuers.ts";
import type { Reply } from "../http/problem.ts";
import type { SystemCall, SystemOperation } from "../http/system-operation.ts";

type Answer = (asked: Asked, call: SystemCall) => Promise<Reply> | Reply;
type Route = [SystemOperation["method"], string, string, string, Answer];

// Sign-in for the console. It is not part of the public API, whose callers have tokens.
export function peopleRoutes(people: People, configured: OidcSettings | null): SystemOperation[] {
  const other = configured && configuredIssuer(people, configured);
  const issuers = new TenantIssuers(people);
  const routes: Route[] = [
    [
      "GET",
      "/auth/options",
      "getSignInOptions",
      "How people can sign in",
      (asked, call) => options(people, other, issuers, asked, call),
    ],
    ["POST", "/auth/sign-in", "signIn", "Sign in", (asked) => signIn(people, asked)],
    ["GET", "/auth/session", "getSession", "Who is signed in", (asked) => readSession(people, asked)],
    ["POST", "/auth/sign-out", "signOut", "Sign out", (asked) => signOut(people, asked)],
    ["POST", "/auth/sign-out-everywhere", "signOutEverywhere", "End all sessions", (asked) => signOutEverywhere(people, asked)],
    ["POST", "/auth/password", "changePassword", "Change the password", (asked) => changePassword(people, asked)],
    ["POST", "/auth/second-factor", "giveSecondFactor", "Give the second factor", (asked) => giveSecondFactor(people, asked)],
    ["GET", "/auth/second-factors", "readSecondFactors", "Your second factors", (asked) => readSecondFactors(people, asked)],
    ["POST", "/auth/totp", "beginTotp", "Begin to set up an app", (asked) => beginTotp(people, asked)],
    ["POST", "/auth/totp/confirm", "confirmTotp", "Confirm an app with a code", (asked) => confirmTotpCode(people, asked)],
    ["POST", "/auth/totp/remove", "removeTotp", "Remove the app", (asked) => removeTotp(people, asked)],
    ["POST", "/auth/passkeys/begin", "beginPasskey", "Begin to add a passkey", (asked) => beginPasskey(people, asked)],
    ["POST", "/auth/passkeys", "addPasskey", "Add a passkey", (asked) => addPasskey(people, asked)],
    ["POST", "/auth/passkeys/remove", "removePasskey", "Remove a passkey", (asked) => removePasskey(people, asked)],
    [
      "POST",
      "/auth/passkey/challenge",
      "beginPasskeySignIn",
      "A challenge for a passkey",
      (asked) => beginPasskeySignIn(people, asked),
    ],
    ["POST", "/auth/passkey", "signInWithPasskey", "Sign in with a passkey", (asked) => signInWithPasskey(people, asked)],
    ["POST", "/auth/recovery-codes", "renewRecoveryCodes", "New recovery codes", (asked) => renewRecoveryCodes(people, asked)],
    ["POST", "/auth/link", "readLink", "What a link is for", (asked) => readLink(people, asked)],
    ["POST", "/auth/link/use", "useLink", "Use a link", (asked) => takeLink(people, asked)],
    ["GET", "/auth/oidc", "beginOidc", "Sign in with the other issuer", () => beginOidc(people, need(other))],
    [
      "GET",
      "/auth/oidc/callback",
      "finishOidc",
      "The address to which the other issuer returns the browser",
      (asked, { query }) => finishOidc(people, need(other), asked, query),
    ],
    [
      "GET",
      "/auth/oidc/{tenant_slug}/{issuer_key}",
      "beginTenantOidc",
      "Sign in with an issuer of the tenant",
      (asked, { params }) =>
        issuers.run(...namesIn(params), async (issuer) =>
          isFromElsewhere(asked) ? toTenantSignIn(people, issuer.settings.tenant) : beginOidc(people, issuer),
        ),
    ],
    [
      "GET",
      "/auth/oidc/{tenant_slug}/{issuer_key}/callback",
      "finishTenantOidc",
      "The address to which an issuer of the tenant returns the browser",
      (asked, { params, query }) => issuers.run(...namesIn(params), (issuer) => finishOidc(people, issuer, asked, query)),
    ],
  ];
  return routes.map(([method, path, id, summary, answer]) => ({
    id,
    role: "api",
    method,
    path,
    summary,
    handle: (request, onBody, call) => answer({ request, onBody }, call),
  }));
}

function namesIn(params: Record<string, string>): [string, string] {
  return [params["tenant_slug"] ?? "", params["issuer_key"] ?? ""];
}

// The issuer of the service's configuration. People keep the role that they have.
function configuredIssuer({ publicUrl }: People, { issuer, clientId, clientSecret, tenant }: OidcSettings): OtherIssuer {
  return new OtherIssuer({
    issuer,
    clientId,
    clientSecret,
    tenant,
    redirectUri: `${publicUrl}/auth/oidc/callback`,
    extraScopes: [],
    trustsEmails: false,
    groupsClaim: "groups",
    mapping: { role_groups: [], without_group: "refuse", default_role: "investigator" },
  });
}

async function options(
  { publicUrl }: People,
  other: OtherIssuer | null,
  issuers: TenantIssuers,
  { request }: Asked,
  { query }: SystemCall,
): Promise<Reply> {
  const wanted = new URLSearchParams(query).get("tenant");
  const body = JSON.stringify({
    oidc: other && { name: new URL(other.settings.issuer).hostname },
    issuers: await issuers.list(wanted, request.headers.host ?? ""),
    passkeys: siteOfPasskeys(publicUrl) !== null,
  });
  return { status: 200, body, headers: { "content-type": jsonMediaType } };
}

function need(other: OtherIssuer | null): OtherIssuer {
  if (!other) throw new Failure("item-not-found", "No external issuer is configured.");
  return other;
}
