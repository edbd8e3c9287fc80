import type { ScoredActivity } from "@casehound/client";
import { Link } from "@tanstack/react-router";
import { Globe, Server, ShieldCheck, Tag } from "lucide-react";
import { fullDay, fullTime, timeOfDay } from "../parts/clock.ts";
import { Id } from "../parts/Id.tsx";
import { Score } from "../parts/Score.tsx";
import { casesElsewhere, isCounted, isHarmless, isOccurrence, scoreIn, type CaseEvidence } from "./grouping.ts";
import { useRuleNames, type Whose } from "./histories.ts";
import { pathOf, typeWords } from "./words.ts";

const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

type Props = { activity: ScoredActivity; whose: Whose; isChosen: boolean; hasDay?: boolean; hasAddress?: boolean };

export function eventElementId(activityId: string): string {
  return `event-${activityId}`;
}

// Everything in an event came from a browser or a shop, so it is rendered only as text.
export function EventRow({ activity, whose, isChosen, hasDay = false, hasAddress = true }: Props) {
  const { activity_id, type, source, occurred_at, signs, ip } = activity;
  const score = scoreIn(whose.evidence, activity);
  const mark = markOf(activity, whose.evidence);
  const at = new Date(occurred_at);
  return (
    <li
      id={eventElementId(activity_id)}
      tabIndex={-1}
      className={`grid break-inside-avoid grid-cols-[auto_1rem_minmax(0,1fr)_auto] items-start gap-x-3 border-l-[3px] max-sm:grid-cols-[1rem_minmax(0,1fr)_auto] py-1 pr-4 pl-3 ${mark?.edge ?? "border-l-transparent"} ${isChosen ? "bg-chosen" : ""}`}
    >
      <time
        dateTime={occurred_at}
        title={fullTime.format(at)}
        className={`text-faint max-sm:col-start-2 max-sm:row-start-1 ${hasDay ? "w-[7.5rem] whitespace-nowrap" : ""}`}
      >
        {hasDay && <span className="mr-1.5 inline-block w-12">{day.format(at)}</span>}
        {timeOfDay.format(at)}
      </time>
      <SourceMark source={source} />
      <div className="min-w-0 [overflow-wrap:anywhere] max-sm:col-span-2 max-sm:col-start-2">
        <div className="flex flex-wrap items-baseline gap-x-2">
          <span className={mark ? "font-semibold" : "font-medium"} title={type}>
            {typeWords(type)}
          </span>
          <Page activity={activity} />
          <OtherAccount activity={activity} whose={whose} />
          <ClaimedAccount id={activity.claimed_account_id} />
          {hasAddress && ip !== undefined && <span className="text-xs text-faint">{ip}</span>}
        </div>
        <Attributes attributes={activity.attributes} />
        {signs && signs.length > 0 && <p className="text-xs text-soft">Signs: {signs.map(typeWords).join(", ")}</p>}
        <LabelMark label={activity.label} />
        {(mark || activity.rules.length > 0) && <Rules activity={activity} evidence={whose.evidence} mark={mark} />}
        <Elsewhere activity={activity} evidence={whose.evidence} />
        {activity.lists && <Lists names={activity.lists} />}
      </div>
      <span className="flex min-w-18 justify-end max-sm:col-start-3 max-sm:row-start-1">
        {score > 1 ? <Score score={score} /> : <span className="text-faint">1</span>}
      </span>
    </li>
  );
}

type Label = NonNullable<ScoredActivity["label"]>;

const labelWords: Record<Label["source"], string> = {
  case: "decided in a case",
  api: "labelled by your systems",
  report: "reported by your server",
  account_report: "guessed from a report about the account",
};

// Says whether the activity was a fraud, and who decided that.
function LabelMark({ label }: { label: Label | undefined }) {
  if (!label) return null;
  const { fraudulent, source, known_at, case_id } = label;
  const look = fraudulent ? "bg-bad-soft text-bad" : "bg-good-soft text-good";
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-xs text-soft">
      <strong className={`inline-flex items-center gap-1 rounded px-1.5 font-semibold ${look}`}>
        <Tag size={12} aria-hidden /> {fraudulent ? "Fraud" : "Not fraud"}
      </strong>
      <span>
        {labelWords[source]}, known since{" "}
        <time dateTime={known_at} title={fullTime.format(new Date(known_at))}>
          {fullDay.format(new Date(known_at))}
        </time>
      </span>
      {case_id !== undefined && (
        <Link to="/cases/$caseId" params={{ caseId: case_id }} className="text-accent hover:underline">
          Show the case
        </Link>
      )}
    </p>
  );
}

const marks = {
  server: { icon: Server, words: "Reported by your server" },
  verified_session: { icon: ShieldCheck, words: "Seen in a verified session" },
  page: { icon: Globe, words: "Claimed by a page" },
};

function SourceMark({ source }: { source: ScoredActivity["source"] }) {
  const { icon: Icon, words } = marks[source];
  return (
    <span className="mt-0.5 text-faint max-sm:col-start-1 max-sm:row-start-1" title={words}>
      <Icon size={14} aria-label={words} />
    </span>
  );
}

// Anybody can name an account in a page event, so this id is not a link.
function ClaimedAccount({ id }: { id: string | undefined }) {
  if (id === undefined) return null;
  return (
    <span className="text-xs text-soft">
      names <Id id={id} /> <span className="text-faint">(claimed, not verified)</span>
    </span>
  );
}

function Page({ activity: { page_title, page_url } }: { activity: ScoredActivity }) {
  if (page_title === undefined && page_url === undefined) return null;
  return (
    <span className="text-soft">
      <Id id={page_title ?? ""} />{" "}
      {page_url !== undefined && (
        <span className="text-xs text-faint">
          <Id id={pathOf(page_url)} />
        </span>
      )}
    </span>
  );
}

// A session can contain several accounts. Name the account of an event if it differs from the timeline's.
function OtherAccount({ activity, whose }: { activity: ScoredActivity; whose: Whose }) {
  const id = activity.website_account_id;
  if (id === undefined || id === whose.websiteAccountId) return null;
  return (
    <span className="text-xs text-soft">
      as{" "}
      <Link to="/accounts/$accountId" params={{ accountId: id }} className="text-accent underline">
        <Id id={id} />
      </Link>
    </span>
  );
}

function Attributes({ attributes }: { attributes: ScoredActivity["attributes"] }) {
  const entries = Object.entries(attributes ?? {});
  if (entries.length === 0) return null;
  return (
    <dl className="flex flex-wrap gap-x-3 text-xs">
      {entries.map(([name, value]) => (
        <div key={name} className="flex gap-1">
          <dt className="shrink-0 text-faint">
            <Id id={name} />
          </dt>
          <dd className="min-w-0 text-soft">
            <Id id={String(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

type Mark = { words: string; look: string; edge: string };

function markOf(activity: ScoredActivity, evidence: CaseEvidence | undefined): Mark | null {
  if (!isOccurrence(activity, evidence)) return null;
  if (!isHarmless(activity, evidence)) return { words: "Evidence", look: "bg-bad-soft text-bad", edge: "border-l-bad" };
  return { words: evidence ? "Chosen at random" : "In a case", look: "bg-sunken text-soft", edge: "border-l-edge" };
}

function Lists({ names }: { names: readonly string[] }) {
  return (
    <p className="mt-0.5 text-xs text-soft">
      On {names.length === 1 ? "the list" : "the lists"} {names.join(", ")}
    </p>
  );
}

type RulesProps = { activity: ScoredActivity; evidence: CaseEvidence | undefined; mark: Mark | null };

function Rules({ activity, evidence, mark }: RulesProps) {
  const nameOf = useRuleNames();
  const counted = activity.rules.filter((rule) => isCounted(rule, activity, evidence));
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-1 text-xs">
      {mark && <strong className={`rounded px-1.5 font-semibold whitespace-nowrap ${mark.look}`}>{mark.words}</strong>}
      {counted.map((rule) => (
        <span key={rule} title={rule} className="rounded border border-line px-1.5 text-soft">
          {nameOf(rule)}
        </span>
      ))}
    </p>
  );
}

// What counts in another case is not part of this case's score.
function Elsewhere({ activity, evidence }: Omit<RulesProps, "mark">) {
  const nameOf = useRuleNames();
  const others = casesElsewhere(activity, evidence);
  if (others.length === 0) return null;
  const names = activity.rules.filter((rule) => !isCounted(rule, activity, evidence)).map(nameOf);
  return (
    <p className="mt-0.5 text-xs text-soft">
      {names.length > 0 ? `${names.join(", ")} ${names.length === 1 ? "counts" : "count"}` : "Counts"} in{" "}
      {others.map(({ case_id: caseId, score }, index) => (
        <span key={caseId}>
          {index > 0 && ", "}
          <Link to="/cases/$caseId" params={{ caseId }} className="text-accent underline">
            another case
          </Link>{" "}
          (score {score})
        </span>
      ))}
    </p>
  );
}
