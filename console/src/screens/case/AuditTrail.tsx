import type { Event } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useRecipientName } from "../../handing/recipients.ts";
import { EventTable, deedOf } from "../../timeline/EventTable.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { dispositionWords } from "../../parts/Badges.tsx";
import { visible } from "../../parts/visible.ts";
import { Section } from "./Section.tsx";

function wordsOfEvent({ type, data }: Event, nameOf: (recipient: string) => string): string {
  const outcome = Object.entries(dispositionWords).find(([name]) => name === data?.["disposition"])?.[1];
  const said = deedOf(type);
  if (typeof data?.["handed_to"] === "string") return `${said} to ${nameOf(data["handed_to"])}`;
  const own = data?.["own_disposition"];
  const more = typeof own === "string" ? ` (${visible(own)})` : "";
  return outcome === undefined ? said : `${said}: ${outcome.toLowerCase()}${more}`;
}

// Shows who did what and when, according to the log.
export function AuditTrail({ caseId }: { caseId: string }) {
  const nameOf = useRecipientName();
  const list = useInfiniteQuery(useHistories().caseEvents(caseId));
  return (
    <Section title="Audit trail" isFlush>
      <EventTable list={list} name="Audit trail" wordsOf={(event) => wordsOfEvent(event, nameOf)} hasVersion />
    </Section>
  );
}
