import { ChartColumn, CodeXml, ListChecks, Radar, Users, Waypoints, type LucideIcon } from "lucide-react";

export type NavigationEntry = {
  path: "/" | "/links" | "/overview" | "/detection" | "/developers" | "/people";
  name: string;
  Icon: LucideIcon;
  // A person without this scope does not see the entry.
  scope?: string;
};

// The entries of the side bar and the palette, in this order. To add a screen, add it here and in router.tsx.
export const navigation: NavigationEntry[] = [
  { path: "/", name: "Queue", Icon: ListChecks, scope: "read:cases" },
  { path: "/links", name: "Links", Icon: Waypoints, scope: "read:enduseraccounts" },
  { path: "/overview", name: "Overview", Icon: ChartColumn, scope: "read:metrics" },
  { path: "/detection", name: "Detection", Icon: Radar, scope: "read:rules" },
  { path: "/developers", name: "Developers", Icon: CodeXml, scope: "read:tenant" },
  { path: "/people", name: "People", Icon: Users, scope: "read:users" },
];
