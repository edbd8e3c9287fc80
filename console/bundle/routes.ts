// The paths of the console's screens. The service serves the console's page at these paths and at no others.
export const routes = {
  queue: "/",
  case: "/cases/$caseId",
  account: "/accounts/$accountId",
  links: "/links",
  overview: "/overview",
  detection: "/detection",
  newRule: "/detection/new-rule",
  rule: "/detection/$ruleId",
  developers: "/developers",
  people: "/people",
  signIn: "/sign-in",
  link: "/link",
} as const;
