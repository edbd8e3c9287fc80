import { plainText } from "./plain-text.ts";
import { attackWords, counted, groupByAttack, labelWords, scoreWords, type ToldCase } from "./told-case.ts";

// The text of an e-mail. It is plain text, so it cannot contain pictures. Mail programs turn URLs into links, so URLs in text from
// outside are broken up.

// `isSearched`: false if the search took too long, so it is unknown what is new.
type DigestView = { view_id: string; name: string; cases: ToldCase[]; isSearched: boolean };
export type Digest = {
  slug: string;
  publicUrl: string;
  views: DigestView[];
  overdue: ToldCase[];
  mentions: string[];
  handovers: string[];
  // Whether accounts may be named.
  hasIds: boolean;
};

const attacksShownMax = 10;
const casesShownMax = 20;

export function isEmpty({ views, overdue, mentions, handovers }: Digest): boolean {
  return views.length + overdue.length + mentions.length + handovers.length === 0;
}

// Counts only, because subjects are shown on locked screens.
export function digestSubject({ slug, views, overdue, mentions, handovers }: Digest): string {
  const cases = new Map(views.flatMap((view) => view.cases.map((each) => [each.case_id, each] as const)));
  const { attacks, others } = groupByAttack([...cases.values()]);
  const unsearched = views.filter(({ isSearched }) => !isSearched);
  const parts = [
    attacks.length > 0 && counted(attacks.length, "attack", "attacks"),
    others.length > 0 && counted(others.length, "case", "cases"),
    handovers.length > 0 && counted(handovers.length, "handover", "handovers"),
    mentions.length > 0 && counted(mentions.length, "mention", "mentions"),
    overdue.length > 0 && `${counted(overdue.length, "case", "cases")} overdue`,
    unsearched.length > 0 && `${counted(unsearched.length, "view", "views")} not searched`,
  ];
  return `[${slug}] ${parts.filter((part) => part !== false).join(", ")}`;
}

export function digestText(digest: Digest): string {
  const { publicUrl, views, overdue, mentions, handovers } = digest;
  const sections = [
    ...views.map((view) => [
      ...(view.isSearched
        ? [`New in the view "${plainText(view.name)}":`, ...caseLines(digest, view.cases)]
        : [`There may be new cases in the view "${plainText(view.name)}". Searching it took too long:`]),
      `${publicUrl}/views/${view.view_id}`,
    ]),
    overdue.length > 0 ? ["Overdue:", ...caseLines(digest, overdue), `${publicUrl}/?late=true&sort=due`] : [],
    personalLines(digest, handovers, { one: "case was handed over to you", many: "cases were handed over to you" }),
    personalLines(digest, mentions, { one: "note mentions you", many: "notes mention you" }),
  ];
  const foot = ["-- ", `You get this e-mail because of your notification settings: ${publicUrl}/notifications`];
  return [...sections, foot]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

function caseLines({ publicUrl, hasIds }: Digest, cases: ToldCase[]): string[] {
  const { attacks, others } = groupByAttack(cases);
  const shown = attacks.slice(0, attacksShownMax);
  return [
    ...shown.map(
      (attack) => `- ${attackWords(attack)}: score ${attack.score}, ${attack.label} ${publicUrl}/cases/${attack.case_id}`,
    ),
    ...(attacks.length > shown.length ? [`- ${counted(attacks.length - shown.length, "more attack", "more attacks")}`] : []),
    ...(others.length > 0 ? [`- ${counted(others.length, "case", "cases")}: ${scoreWords(others)} (${labelWords(others)})`] : []),
    ...(hasIds ? others.slice(0, casesShownMax).map((each) => `  ${idLine(publicUrl, each)}`) : []),
  ];
}

function idLine(publicUrl: string, { account, score, label, case_id }: ToldCase): string {
  return `${plainText(account)}: score ${score}, ${label} ${publicUrl}/cases/${case_id}`;
}

function personalLines({ publicUrl }: Digest, caseIds: string[], { one, many }: { one: string; many: string }): string[] {
  if (caseIds.length === 0) return [];
  const links = [...new Set(caseIds)].slice(0, casesShownMax).map((id) => `${publicUrl}/cases/${id}`);
  return [`${counted(caseIds.length, one, many)}:`, ...links, `${publicUrl}/inbox`];
}
