// The addresses of the console's screens. The service answers them, and no others, with the console's page.
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
