import type { Event } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { EventTable, deedOf } from "../../timeline/EventTable.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { dispositionWords } from "../../parts/Badges.tsx";
import { Section } from "./Section.tsx";

function wordsOfEvent({ type, data }: Event): string {
  const outcome = Object.entries(dispositionWords).find(([name]) => name === data?.["disposition"])?.[1];
  const said = deedOf(type);
  return outcome === undefined ? said : `${said}: ${outcome.toLowerCase()}`;
}

// Shows who did what and when, according to the log.
export function AuditTrail({ caseId }: { caseId: string }) {
  const list = useInfiniteQuery(useHistories().caseEvents(caseId));
  return (
    <Section title="Audit trail" isFlush>
      <EventTable list={list} name="Audit trail" wordsOf={wordsOfEvent} hasVersion />
    </Section>
  );
}
