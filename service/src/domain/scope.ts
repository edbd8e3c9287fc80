// Every scope with what it grants.
export const scopeMeanings = {
  "read:cases": "List cases",
  "read:case": "Read one case",
  "update:case": "Close and reopen cases",
  "update:views": "Save views of the queue, and share them",
  "manage:views": "Change and delete the shared views of others",
  "read:enduseraccount": "Read one end-user account",
  "update:enduseraccount": "Change an account's flags and CRM id",
  "read:enduseraccounts": "List end-user accounts",
  "create:enduseraccount": "Create end-user accounts",
  "delete:enduseraccount": "Erase end-user accounts",
  "create:activities": "Send activity",
  "read:decisions": "Read the verdict on an activity that is sent for assessment",
  "import:activities": "Import history, which opens no cases",
  "read:labels": "List labels",
  "create:labels": "Say which activities were frauds",
  "read:metrics": "Read the tenant's metrics, overview and quarantine",
  "read:figures": "Read figures about each person's work",
  "read:snippet": "Read the web snippet",
  "read:tenant": "Read the tenant",
  "update:tenant": "Change the tenant",
  "update:tenant_auth_secret": "Rotate the client secret",
  "read:events": "Read the feed of changes",
  "manage:webhooks": "Manage webhooks",
  "read:rules": "Read rules, thresholds, the policy and backtests",
  "manage:rules": "Change rules, thresholds and the policy, and run backtests",
  "read:lists": "Read lists and their entries",
  "update:lists": "Add and remove entries of lists",
  "manage:lists": "Create, change and delete lists, and add entries to allow lists",
  "read:models": "Read models and their figures",
  "manage:models": "Train, promote and retire models",
  "read:users": "Read the tenant's people",
  "manage:users": "Invite people, change their roles, end their sessions",
  "read:clients": "List the tenant's clients",
  "manage:clients": "Create clients, rotate their secrets, revoke them",
} as const;

export type Scope = keyof typeof scopeMeanings;

// The cast is safe, because these are the keys of the table above.
export const scopes = Object.keys(scopeMeanings) as Scope[];

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeMeanings, text);
}
