// The slow files: they start processes, browsers or whole databases, or prove a promise by many trials. They
// run with `npm run test:slow`, everything else with `npm test`.
export const slowFiles = [
  "{proof,bench}/*.test.ts",
  "bench/speed/{drive,profile,report,store-templates}.test.ts",
  "proof/histories/{checker,checker-histories}.test.ts",
  "scripts/{browser,deploy}.test.ts",
  "client/test/package.test.ts",
  "console/test/{changes-waits,detection,developers,live,models,overview,score,screens,sign-in-issuer,webhooks}.test.ts",
  "console/test/{account,addresses,approvals,campaigns,claims,close-lists,due,evidence,figures,handovers,identity,ids,inbox,links,lists,model-settings,narrow,notes,notifications,own-outcomes,passkeys,people,policy,provisioning,queue,queue-undo,quiet,search,second-factor,session-ends,team,templates,timeline,views}.test.ts",
  "service/test/{addresses,assess-guide,assessments-equal,cli-api,cli-completion,cli-decide,cli-waits,config-start,data-folder,order-pairs,people-start,poolers,standby,start-stop,tutorial,unused-connection,upgrade,wire-waits,workers}.test.ts",
  "service/test/{mailer,notifications-attacks,notifications-mail,notifications-turns}.test.ts",
  "service/test/{backup,backup-moment,backup-refusals,cli-database,cli-import-kill,cli-import-report}.test.ts",
  "service/test/{collector-limits,engine-side-by-side,scopes}.test.ts",
  "service/test/{collector-outage,outage,sdk-outage,silence}.test.ts",
  "service/test/{detection-stages,detection-voices,model,simulator-sdk}.test.ts",
  "service/test/cluster-plans.test.ts",
  "service/test/{docs-browser,identity-browser,sdk-browser,tag-browser}.test.ts",
  "service/test/{embedded,embedded-commands,embedded-words}.test.ts",
  "service/test/{engine-crashes,engine-kills,models-crashes}.test.ts",
  "service/test/{witness-prism,witness-redocly,witness-respect}.test.ts",
];

// These also run on a Citus cluster, if CITUS_DATABASE_URL names its coordinator.
export const citusFiles = [
  "service/test/{accounts,activities,assessments,backtest-runner,bulk-close,campaigns,case-list,case-listings,case-update,claims,cluster,collector,due-times,engine,engine-accounts,erasure-traces,events,figures,handovers,idempotency,identity,isolation,labels,lists-entries,notices,people-races,races,retention-tenants,quarantine,revocation,sign-in-issuers,snoozes,tenants,webhooks}.test.ts",
];

export type Suite = "gate" | "slow" | "citus" | "citus-plans";
