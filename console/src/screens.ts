import {
  ChartColumn,
  CodeXml,
  Gauge,
  Inbox,
  ListChecks,
  Radar,
  UserCheck,
  Users,
  Waypoints,
  type LucideIcon,
} from "lucide-react";

export type NavigationEntry = {
  path: "/" | "/inbox" | "/approvals" | "/links" | "/overview" | "/team" | "/detection" | "/developers" | "/people";
  name: string;
  Icon: LucideIcon;
  // The page of the documentation about the screen.
  guide: string;
  // A person without this scope does not see the entry.
  scope?: string;
};

// The entries of the sidebar and the palette, in this order. To add a screen, add it here and in router.tsx.
export const navigation: NavigationEntry[] = [
  { path: "/", name: "Queue", Icon: ListChecks, guide: "investigators#the-queue", scope: "read:cases" },
  { path: "/inbox", name: "Inbox", Icon: Inbox, guide: "investigators#your-inbox", scope: "read:case" },
  { path: "/approvals", name: "Approvals", Icon: UserCheck, guide: "investigators#a-second-person", scope: "read:case" },
  {
    path: "/links",
    name: "Links",
    Icon: Waypoints,
    guide: "investigators#look-at-linked-accounts",
    scope: "read:enduseraccounts",
  },
  { path: "/overview", name: "Overview", Icon: ChartColumn, guide: "investigators", scope: "read:metrics" },
  { path: "/team", name: "Team", Icon: Gauge, guide: "find-and-export#figures-for-a-lead", scope: "read:figures" },
  { path: "/detection", name: "Detection", Icon: Radar, guide: "rules-and-backtests", scope: "read:rules" },
  { path: "/developers", name: "Developers", Icon: CodeXml, guide: "send-from-a-browser", scope: "read:tenant" },
  { path: "/people", name: "People", Icon: Users, guide: "tenancy#who-may-do-what", scope: "read:users" },
];

// Screens without an entry, such as a case, link to the guide for investigators.
export function guideOf(pathname: string): string {
  const entry = navigation.find(({ path }) => path === pathname || (path !== "/" && pathname.startsWith(`${path}/`)));
  return `/docs/${entry?.guide ?? "investigators"}`;
}
