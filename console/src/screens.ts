import { CodeXml, ListChecks, Users, type LucideIcon } from "lucide-react";

export type NavigationEntry = {
  path: "/" | "/developers" | "/people";
  name: string;
  Icon: LucideIcon;
  // Without it the entry is not shown.
  scope?: string;
};

// What the side bar and the palette lead to, in this order. A screen is added here and in router.tsx.
export const navigation: NavigationEntry[] = [
  { path: "/", name: "Queue", Icon: ListChecks, scope: "read:cases" },
  { path: "/developers", name: "Developers", Icon: CodeXml, scope: "read:tenant" },
  { path: "/people", name: "People", Icon: Users, scope: "read:users" },
];
