// Constants and functions that programs need besides the operations. They are generated into the client, so that nobody maintains
// a copy by hand.
import { readFileSync } from "node:fs";
import { reasonCharactersMax, defaultReasons } from "../service/src/domain/case.ts";
import { dispositions } from "../service/src/domain/disposition.ts";
import { CaseListItem } from "../service/src/domain/case-item.ts";
import { eventFacts } from "../service/src/domain/event.ts";
import { unknownAccount } from "../service/src/domain/account.ts";
import { labels } from "../service/src/domain/finding.ts";
import { listKinds, listTypeFacts, listTypes } from "../service/src/domain/list.ts";
import { stabilityMax } from "../service/src/domain/model.ts";
import { noteCharactersMax } from "../service/src/domain/note.ts";
import { notifiedViewsMax } from "../service/src/domain/notification.ts";
import { roles } from "../service/src/domain/role.ts";
import { ruleStates } from "../service/src/domain/rule.ts";
import { viewNameCharactersMax } from "../service/src/domain/view.ts";
import { chatTypes } from "../service/src/domain/webhook.ts";

export function factsSource(): string {
  const webhookTypes = wordsOf("webhook");
  const eventDeeds = wordsOf("deed");
  const eventTypes = eventFacts.map(([type]) => type);
  const versionlessEvents = eventFacts.flatMap(([type, { leavesVersion }]) => (leavesVersion ? [type] : []));
  const caseListMembers = Object.keys(CaseListItem.properties);
  const facts = {
    labels,
    dispositions,
    roles,
    ruleStates,
    unknownAccount,
    reasonCharactersMax,
    noteCharactersMax,
    viewNameCharactersMax,
    notifiedViewsMax,
    chatTypes,
    defaultReasons,
    eventTypes,
    webhookTypes,
    eventDeeds,
    versionlessEvents,
    caseListMembers,
    stabilityMax,
    listTypes,
    listKinds,
    listTypeFacts,
  };
  const lines = Object.entries(facts).map(([name, value]) => `export const ${name} = ${JSON.stringify(value)} as const;`);
  return `// Generated from the service's domain by \`npm run generate\`. Do not edit.
import type { Case, FraudOccurrence as Occurrence } from "./types.ts";

${lines.join("\n")}

export type Role = (typeof roles)[number];

${copied("case-digest.ts", "hasNewEvidence")}

${copied("evidence.ts", "compareEvidence")}

${copied("user.ts", "actorOf")}
`;
}

function wordsOf(name: "webhook" | "deed"): Record<string, string> {
  return Object.fromEntries(eventFacts.flatMap(([type, { [name]: words }]) => (words === undefined ? [] : [[type, words]])));
}

// Copies a pure function of the domain. The client has the types that it uses.
function copied(file: string, name: string): string {
  const source = readFileSync(new URL(`../service/src/domain/${file}`, import.meta.url), "utf8");
  const text = new RegExp(`^export function ${name}\\b.*?^}$`, "ms").exec(source)?.[0];
  if (text === undefined) throw new Error(`${file} has no function ${name}`);
  return text;
}
