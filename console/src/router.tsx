import { Link, Outlet, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { Empty, Trouble } from "./parts/States.tsx";
import { QueueScreen } from "./screens/queue/QueueScreen.tsx";
import { readQueueSearch } from "./screens/queue/search.ts";
import { readDevelopersSearch } from "./screens/developers/search.ts";
import { readPeopleSearch } from "./screens/people/search.ts";
import { SignInPage } from "./screens/sign-in/SignInScreen.tsx";
import { SessionGate } from "./session/SessionGate.tsx";
import { Shell } from "./shell/Shell.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

// All that needs a person.
const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: () => (
    <SessionGate>
      <Shell />
    </SessionGate>
  ),
});

const queue = createRoute({
  getParentRoute: () => inside,
  path: "/",
  validateSearch: readQueueSearch,
  component: QueueScreen,
});

const caseRoute = createRoute({
  getParentRoute: () => inside,
  path: "/cases/$caseId",
  component: lazyRouteComponent(() => import("./screens/case/CaseScreen.tsx"), "CaseScreen"),
});

const developers = createRoute({
  getParentRoute: () => inside,
  path: "/developers",
  validateSearch: readDevelopersSearch,
  component: lazyRouteComponent(() => import("./screens/developers/DevelopersScreen.tsx"), "DevelopersScreen"),
});

const people = createRoute({
  getParentRoute: () => inside,
  path: "/people",
  validateSearch: readPeopleSearch,
  component: lazyRouteComponent(() => import("./screens/people/PeopleScreen.tsx"), "PeopleScreen"),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: ({ problem }): { problem?: string } => (typeof problem === "string" ? { problem } : {}),
  component: SignInPage,
});

const link = createRoute({
  getParentRoute: () => root,
  path: "/link",
  component: lazyRouteComponent(() => import("./screens/sign-in/LinkScreen.tsx"), "LinkScreen"),
});

function NotFound() {
  return (
    <Empty title="There is nothing at this address" icon={<Compass size={20} aria-hidden />}>
      <Link to="/" className="font-medium text-accent underline">
        Go to the queue
      </Link>
    </Empty>
  );
}

export const router = createRouter({
  routeTree: root.addChildren([inside.addChildren([queue, caseRoute, developers, people]), signIn, link]),
  defaultErrorComponent: ({ error }) => <Trouble error={error} />,
  defaultPreload: "intent",
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
