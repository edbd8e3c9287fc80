import type { Scope } from "@casehound/client";

type Offered = Exclude<Scope, "manage:webhooks">;

export const scopeWords: Record<Offered, string> = {
  "create:activities": "Send activity",
  "read:decisions": "Read the verdict on activity that is sent for assessment",
  "import:activities": "Import history, which opens no cases",
  "create:labels": "Say which activities were frauds",
  "read:labels": "List labels",
  "read:cases": "List cases",
  "read:case": "Read one case",
  "update:case": "Close and reopen cases",
  "update:views": "Save views of the queue, and share them",
  "manage:views": "Change and delete the shared views of others",
  "read:events": "Read the feed of changes",
  "read:enduseraccounts": "List accounts and the latest activity",
  "read:enduseraccount": "Read one account",
  "create:enduseraccount": "Create accounts",
  "update:enduseraccount": "Change an account's flags and CRM id",
  "delete:enduseraccount": "Erase accounts",
  "read:metrics": "Read metrics, overview and quarantine",
  "read:figures": "Read figures about each person's work",
  "read:rules": "Read rules, thresholds, the policy and backtests",
  "manage:rules": "Change rules, thresholds and the policy, run backtests",
  "read:lists": "Read lists and their entries",
  "update:lists": "Add and remove entries of lists",
  "manage:lists": "Manage lists, and add to allow lists",
  "read:models": "Read models and their figures",
  "manage:models": "Train, promote and retire models",
  "read:tenant": "Read the tenant",
  "update:tenant": "Change the tenant",
  "read:snippet": "Read the web snippet",
  "update:tenant_auth_secret": "Rotate the first client's secret",
  "read:clients": "List credentials",
  "manage:clients": "Create, rotate and revoke credentials",
  "read:users": "Read the tenant's people",
  "manage:users": "Invite and change people",
};

export const offeredScopes = Object.keys(scopeWords) as Offered[];

// The most common uses of credentials.
export const scopePresets: { name: string; scopes: Offered[] }[] = [
  { name: "Send activity", scopes: ["create:activities"] },
  { name: "Decide at log-in and checkout", scopes: ["create:activities", "read:decisions"] },
  {
    name: "Act on cases",
    scopes: ["read:cases", "read:case", "update:case", "read:events", "read:enduseraccount", "update:enduseraccount"],
  },
  { name: "Read reports", scopes: ["read:cases", "read:case", "read:metrics", "read:rules"] },
];
