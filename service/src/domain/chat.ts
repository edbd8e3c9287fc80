// The content of a chat message. webhook/slack.ts and webhook/teams.ts turn it into the format of each.
import { plainText } from "./plain-text.ts";
import { attackWords, counted, groupByAttack, scoreWords, type ToldCase } from "./told-case.ts";

// `words` are ours: counts, scores and labels. `outside` is text that others chose, such as account ids.
export type ChatLine = { words: string; url?: string; outside?: string };
export type ChatMessage = { title: string; lines: ChatLine[]; url: string };

// One event of a case. `told` is undefined if the case no longer exists or is not in the webhook's view.
export type ChatEvent = { type: string; actor: string; told: ToldCase | undefined; mentions: number };

type Saying = { publicUrl: string; hasIds: boolean };

const linesMax = 10;

const kinds: readonly { type: string; one: string; many: string; verb: string }[] = [
  { type: "case.reopened", one: "case reopened", many: "cases reopened", verb: "Reopened" },
  { type: "case.overdue", one: "case overdue", many: "cases overdue", verb: "Overdue" },
  { type: "case.handed_over", one: "case handed over", many: "cases handed over", verb: "Handed over" },
  { type: "case.note_added", one: "note with a mention", many: "notes with mentions", verb: "Note with a mention" },
  { type: "case.closed", one: "case closed", many: "cases closed", verb: "Closed" },
];

// One message for many events, or null if there is no news.
export function chatMessage(events: readonly ChatEvent[], saying: Saying): ChatMessage | null {
  const opened = events.flatMap(({ type, told }) => (type === "case.opened" && told ? [told] : []));
  const { attacks, others } = groupByAttack(opened);
  const attackLines = attacks.map((attack) => ({
    words: `${attackWords(attack)}: score ${attack.score}, ${attack.label}`,
    url: caseUrl(saying, attack.case_id),
  }));
  const openedLines = others.map((told) => caseLine(saying, { verb: "Opened", told, actor: "" }));
  const rest = kinds.map((kind) => ({ ...kind, events: events.filter((event) => event.type === kind.type && isSaid(event)) }));
  const restLines = rest.flatMap(({ verb, events: some }) =>
    some.flatMap(({ told, actor }) => (told ? [caseLine(saying, { verb, told, actor })] : [])),
  );
  const lines = [...attackLines, ...openedLines, ...restLines];
  if (lines.length === 0) return null;
  const title = [
    attacks.length > 0 && counted(attacks.length, "attack", "attacks"),
    others.length > 0 && counted(others.length, "new case", "new cases"),
    ...rest.map(({ events: some, one, many }) => some.length > 0 && counted(some.length, one, many)),
  ];
  const more = lines.length - linesMax;
  const summary = others.length > 1 ? [{ words: `New cases: ${scoreWords(others)}` }] : [];
  const tail = more > 0 ? [{ words: `… and ${counted(more, "more", "more")}` }] : [];
  return {
    title: title.filter((part) => part !== false).join(", "),
    lines: [...summary, ...lines.slice(0, linesMax), ...tail],
    url: `${saying.publicUrl}/`,
  };
}

// Notes that mention nobody are not sent.
function isSaid({ type, told, mentions }: ChatEvent): boolean {
  return told !== undefined && (type !== "case.note_added" || mentions > 0);
}

const caseUrl = ({ publicUrl }: Saying, id: string) => `${publicUrl}/cases/${id}`;

function caseLine(saying: Saying, { verb, told, actor }: { verb: string; told: ToldCase; actor: string }): ChatLine {
  const { score, label, account, case_id } = told;
  const by = actor === "" || actor === "system" ? "" : `, by ${plainText(actor)}`;
  return {
    words: `${verb}: score ${score}, ${label}`,
    url: caseUrl(saying, case_id),
    ...(saying.hasIds && { outside: `${plainText(account)}${by}` }),
  };
}
