// The files that take long by nature: they start processes, browsers or whole databases, or prove a promise by many trials. They
// run with `npm run test:slow`, everything else with `npm test`.
export const slowFiles = [
  "{proof,bench}/**/*.test.ts",
  "scripts/{browser,deploy}.test.ts",
  "client/test/package.test.ts",
  "console/test/{detection,developers,screens,overview}.test.ts",
  "service/test/{addresses,data-folder,people-start,start-stop,upgrade,walkthrough,tutorial}.test.ts",
  "service/test/{backup,backup-moment,backup-refusals,cli-database}.test.ts",
  "service/test/{collector-outage,outage,sdk-outage,silence}.test.ts",
  "service/test/{detection-bench,detection-voices,model,rba,simulator-sdk}.test.ts",
  "service/test/{docs-browser,identity-browser,sdk-browser,tag-browser}.test.ts",
  "service/test/{embedded,embedded-commands,embedded-words}.test.ts",
  "service/test/{engine-crashes,engine-kills}.test.ts",
  "service/test/{witness-prism,witness-redocly,witness-respect}.test.ts",
];

export type Suite = "gate" | "slow";
