import { randomUUID } from "node:crypto";
import { noNotifications } from "../../service/src/domain/notification.ts";
import type { Answer } from "../../service/test/send.ts";
import type { Pair } from "./attempts.ts";

// Nobody can get e-mails or chat messages about a view of the other tenant. Such a view is refused like one that does not exist.
export async function tryForeignViews({ by, on, tally }: Pair): Promise<void> {
  const [foreign, absent] = [on.own["view_id"] ?? "", randomUUID()];
  const tell = (id: string) =>
    by.ask("PUT", `/v2/${by.slug}/notifications`, { headers: by.person, body: { ...noNotifications, views: [id] } });
  const chat = { url: "https://chat.example/hook", format: "slack" };
  const post = (id: string) => by.call("POST", "/webhooks", { body: { ...chat, view_id: id } });
  for (const [what, ask] of [["a mail", tell] as const, ["a chat", post] as const]) {
    const answers: [Answer, Answer] = [await ask(foreign), await ask(absent)];
    for (const answer of answers) tally.see(`${what} about a foreign view`, answer, { wanted: 422 });
    tally.seeSame(`${what} about a foreign view`, answers, [foreign, absent]);
  }
}
