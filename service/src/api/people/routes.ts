import { Failure } from "../../domain/failure.ts";
import { jsonMediaType } from "../operation.ts";
import { changePassword, readSession, signIn, signOut, signOutEverywhere, type Asked, type People } from "./people.ts";
import { readLink, takeLink } from "./links.ts";
import { beginOidc, finishOidc, type OtherIssuer } from "./oidc.ts";
import type { Reply } from "../http/problem.ts";
import type { SystemCall, SystemOperation } from "../http/system-operation.ts";

type Answer = (asked: Asked, call: SystemCall) => Promise<Reply> | Reply;
type Route = [SystemOperation["method"], string, string, string, Answer];

// Sign-in for the console. It is not part of the public API, whose callers have tokens.
export function peopleRoutes(people: People, other: OtherIssuer | null): SystemOperation[] {
  const routes: Route[] = [
    ["GET", "/auth/options", "getSignInOptions", "How people can sign in", () => options(other)],
    ["POST", "/auth/sign-in", "signIn", "Sign in", (asked) => signIn(people, asked)],
    ["GET", "/auth/session", "getSession", "Who is signed in", (asked) => readSession(people, asked)],
    ["POST", "/auth/sign-out", "signOut", "Sign out", (asked) => signOut(people, asked)],
    ["POST", "/auth/sign-out-everywhere", "signOutEverywhere", "End all sessions", (asked) => signOutEverywhere(people, asked)],
    ["POST", "/auth/password", "changePassword", "Change the password", (asked) => changePassword(people, asked)],
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

function options(other: OtherIssuer | null): Reply {
  const body = JSON.stringify({ oidc: other && { name: new URL(other.settings.issuer).hostname } });
  return { status: 200, body, headers: { "content-type": jsonMediaType } };
}

function need(other: OtherIssuer | null): OtherIssuer {
  if (!other) throw new Failure("item-not-found", "No external issuer is configured.");
  return other;
}
