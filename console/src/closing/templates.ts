import type { CaseListItem, ReasonTemplate } from "@casehound/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ConsoleClient } from "../data/client.ts";
import { useWorkspace } from "../session/workspace.tsx";
import type { Disposition } from "../changes/desk.ts";

export type FraudLabel = CaseListItem["primary_fraud_label"];

const staleMs = 300_000;
const offeredMax = 8;

export function templateQuery(client: ConsoleClient) {
  return queryOptions({
    queryKey: ["closing", "templates"],
    queryFn: ({ signal }) => client.call("getReasonTemplates", { signal }),
    staleTime: staleMs,
  });
}

// The templates for cases with these labels. For several cases, a template must fit each of them.
export function useTemplates(labels: readonly FraudLabel[]): ReasonTemplate[] {
  const { client } = useWorkspace();
  const { data } = useQuery(templateQuery(client));
  const all = data?.templates ?? [];
  return all.filter(({ labels: own }) => own === undefined || labels.every((label) => own.includes(label)));
}

type Typed = { text: string; caret: number; disposition: Disposition | null };
type Offered = { from: number; offers: ReasonTemplate[] };

// The templates that fit what is typed after a slash at the beginning of a word.
export function templatesFor(templates: readonly ReasonTemplate[], { text, caret, disposition }: Typed): Offered {
  const typed = /(?:^|\s)\/([^\s/]{0,40})$/u.exec(text.slice(0, caret));
  if (!typed) return { from: caret, offers: [] };
  const wanted = (typed[1] ?? "").toLowerCase();
  const isMeant = ({ name, disposition: own }: ReasonTemplate) =>
    (own === undefined || disposition === null || own === disposition) &&
    name
      .toLowerCase()
      .split(/\s+/)
      .some((word) => word.startsWith(wanted));
  return { from: caret - wanted.length - 1, offers: templates.filter(isMeant).slice(0, offeredMax) };
}
