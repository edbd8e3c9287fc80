import type { Event } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { flagFacts, flagNames } from "../../parts/Badges.tsx";
import { EventTable, deedOf } from "../../timeline/EventTable.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { Section } from "../case/Section.tsx";

function wordsOfEvent({ type, data = {} }: Event): string {
  if (type !== "account.updated") return deedOf(type);
  const set = flagNames.flatMap((flag) => {
    const value = data[flag];
    return typeof value === "boolean" ? [`${flagFacts[flag].name} ${value ? "on" : "off"}`] : [];
  });
  // The log does not store the CRM id, so an erasure does not have to search the log for it.
  return set.length > 0 ? set.join(", ") : "Changed the CRM id";
}

export function History({ accountId }: { accountId: string }) {
  const list = useInfiniteQuery(useHistories().accountEvents(accountId));
  return (
    <Section title="History" isFlush>
      <EventTable list={list} name="History" wordsOf={wordsOfEvent} />
    </Section>
  );
}
