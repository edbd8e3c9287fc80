import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { routes } from "../bundle/routes.ts";
import { Empty, Trouble } from "./parts/States.tsx";
import { readApprovalSearch } from "./screens/approvals/search.ts";
import { readAhead } from "./screens/queue/ahead.ts";
import { QueueScreen } from "./screens/queue/QueueScreen.tsx";
import { readLinksSearch } from "./screens/links/search.ts";
import { readOverviewSearch } from "./screens/overview/search.ts";
import { readDetectionSearch, readRuleSearch } from "./screens/detection/address.ts";
import { readQueueSearch } from "./screens/queue/search.ts";
import { readDevelopersSearch } from "./screens/developers/search.ts";
import { readPeopleSearch } from "./screens/people/search.ts";
import { readTeamSearch } from "./screens/team/search.ts";
import { SignInPage } from "./screens/sign-in/SignInScreen.tsx";
import { SessionGate } from "./session/SessionGate.tsx";
import type { Workspace } from "./session/workspace.tsx";
import { Shell } from "./shell/Shell.tsx";
import { readEventSearch } from "./timeline/search.ts";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

// Every route that requires a signed-in person.
const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Inside,
});

function Inside() {
  const cache = useQueryClient();
  const onOpen = (workspace: Workspace) => {
    const { pathname, search } = router.state.location;
    if (pathname === "/") readAhead(workspace, cache, search);
  };
  return (
    <SessionGate onOpen={onOpen}>
      <Shell />
    </SessionGate>
  );
}

const queue = createRoute({
  getParentRoute: () => inside,
  path: routes.queue,
  validateSearch: readQueueSearch,
  component: QueueScreen,
});

const caseRoute = createRoute({
  getParentRoute: () => inside,
  path: routes.case,
  validateSearch: readEventSearch,
  component: lazyRouteComponent(() => import("./screens/case/CaseScreen.tsx"), "CaseScreen"),
});

const accountRoute = createRoute({
  getParentRoute: () => inside,
  path: routes.account,
  validateSearch: readEventSearch,
  component: lazyRouteComponent(() => import("./screens/account/AccountScreen.tsx"), "AccountScreen"),
});

const inbox = createRoute({
  getParentRoute: () => inside,
  path: routes.inbox,
  component: lazyRouteComponent(() => import("./screens/inbox/InboxScreen.tsx"), "InboxScreen"),
});

const notifications = createRoute({
  getParentRoute: () => inside,
  path: routes.notifications,
  component: lazyRouteComponent(() => import("./screens/notifications/NotificationsScreen.tsx"), "NotificationsScreen"),
});

const view = createRoute({
  getParentRoute: () => inside,
  path: routes.view,
  component: lazyRouteComponent(() => import("./views/ViewScreen.tsx"), "ViewScreen"),
});

const approvals = createRoute({
  getParentRoute: () => inside,
  path: routes.approvals,
  validateSearch: readApprovalSearch,
  component: lazyRouteComponent(() => import("./screens/approvals/ApprovalsScreen.tsx"), "ApprovalsScreen"),
});

const links = createRoute({
  getParentRoute: () => inside,
  path: routes.links,
  validateSearch: readLinksSearch,
  component: lazyRouteComponent(() => import("./screens/links/LinksScreen.tsx"), "LinksScreen"),
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: routes.overview,
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import("./screens/overview/OverviewScreen.tsx"), "OverviewScreen"),
});

const team = createRoute({
  getParentRoute: () => inside,
  path: routes.team,
  validateSearch: readTeamSearch,
  component: lazyRouteComponent(() => import("./screens/team/TeamScreen.tsx"), "TeamScreen"),
});

const detection = createRoute({
  getParentRoute: () => inside,
  path: routes.detection,
  validateSearch: readDetectionSearch,
  component: lazyRouteComponent(() => import("./screens/detection/DetectionScreen.tsx"), "DetectionScreen"),
});

// A rule id has no hyphen, so this address cannot clash with a rule.
const newRule = createRoute({
  getParentRoute: () => inside,
  path: routes.newRule,
  validateSearch: readRuleSearch,
  component: lazyRouteComponent(() => import("./screens/detection/NewRuleScreen.tsx"), "NewRuleScreen"),
});

const rule = createRoute({
  getParentRoute: () => inside,
  path: routes.rule,
  validateSearch: readRuleSearch,
  component: lazyRouteComponent(() => import("./screens/detection/RuleScreen.tsx"), "RuleScreen"),
});

const developers = createRoute({
  getParentRoute: () => inside,
  path: routes.developers,
  validateSearch: readDevelopersSearch,
  component: lazyRouteComponent(() => import("./screens/developers/DevelopersScreen.tsx"), "DevelopersScreen"),
});

const people = createRoute({
  getParentRoute: () => inside,
  path: routes.people,
  validateSearch: readPeopleSearch,
  component: lazyRouteComponent(() => import("./screens/people/PeopleScreen.tsx"), "PeopleScreen"),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: routes.signIn,
  validateSearch: ({ problem, tenant }): { problem?: string; tenant?: string } => ({
    ...(typeof problem === "string" && { problem }),
    ...(typeof tenant === "string" && { tenant }),
  }),
  component: SignInPage,
});

const link = createRoute({
  getParentRoute: () => root,
  path: routes.link,
  component: lazyRouteComponent(() => import("./screens/sign-in/LinkScreen.tsx"), "LinkScreen"),
});

function NotFound() {
  return (
    <Empty isScreen title="Page not found" icon={<Compass size={20} aria-hidden />}>
      <Link to="/" className="font-medium text-accent underline">
        Go to the queue
      </Link>
    </Empty>
  );
}

export const router = createRouter({
  routeTree: root.addChildren([
    inside.addChildren([
      queue,
      caseRoute,
      accountRoute,
      inbox,
      notifications,
      view,
      approvals,
      links,
      overview,
      team,
      detection,
      newRule,
      rule,
      developers,
      people,
    ]),
    signIn,
    link,
  ]),
  defaultErrorComponent: ({ error }) => <Trouble isScreen error={error} />,
  defaultPreload: "intent",
  // Remove parameters that the screen does not read, so the address describes exactly what is shown.
  search: { strict: true },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
