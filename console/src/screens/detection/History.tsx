import type { Rule, RuleVersion } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Actor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Moment } from "../../parts/Time.tsx";
import { changedMembers, type Member } from "../../changes/rules.ts";
import { Section } from "../case/Section.tsx";
import { useDetection } from "./queries.ts";
import { diffWords } from "./words-diff.ts";

const shownAtFirst = 10;

export const memberNames: Record<Member, string> = {
  name: "Name",
  expression: "Expression",
  sentence: "Sentence",
  label: "Label",
  weight: "Weight",
  about: "About",
  state: "State",
};

// Every version: who made it, when, and what changed.
export function History({ rule }: { rule: Rule }) {
  const read = useQuery(useDetection().history(rule.rule_id));
  const [isWhole, setWhole] = useState(false);
  const versions = read.data ?? [];
  const shown = isWhole ? versions : versions.slice(0, shownAtFirst);
  return (
    <Section title="Versions" aside={<span className="text-faint">{rule.rule_version}</span>}>
      {read.isPending && <Loading lines={3} name="Loading the versions" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      <ol className="grid gap-3">
        {shown.map((version, index) => (
          <li key={version.rule_version} className={index > 0 ? "border-t border-line pt-3" : ""}>
            <p className="mb-1 flex flex-wrap gap-x-3">
              <strong className="font-semibold">Version {version.rule_version}</strong>
              <Actor actor={version.updated_by} />
              <span className="text-soft">
                <Moment at={version.updated_at} />
              </span>
            </p>
            <Changes before={versions[index + 1]} after={version} />
          </li>
        ))}
      </ol>
      {shown.length < versions.length && (
        <Button className="mt-3" onClick={() => setWhole(true)}>
          Show all {versions.length}
        </Button>
      )}
    </Section>
  );
}

function Changes({ before, after }: { before: RuleVersion | undefined; after: RuleVersion }) {
  if (!before) return <p className="text-soft">{after.rule_version === 1 ? "Created." : "The previous version is not kept."}</p>;
  return (
    <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-1">
      {changedMembers(before, after).map((member) => (
        <Change key={member} member={member} from={String(before[member])} to={String(after[member])} />
      ))}
    </dl>
  );
}

export function Change({ member, from, to }: { member: Member; from: string; to: string }) {
  const isCode = member === "expression";
  return (
    <>
      <dt className="text-faint">{memberNames[member]}</dt>
      <dd className={`[overflow-wrap:anywhere] whitespace-pre-wrap ${isCode ? "font-mono text-[12.5px]" : ""}`}>
        {isText(member) ? <Words from={from} to={to} /> : <Pair from={from} to={to} />}
      </dd>
    </>
  );
}

function isText(member: Member): boolean {
  return member === "expression" || member === "sentence" || member === "name";
}

function Pair({ from, to }: { from: string; to: string }) {
  return (
    <>
      <del className="rounded bg-bad-soft px-1 text-bad">{from}</del>{" "}
      <ins className="rounded bg-good-soft px-1 text-good no-underline">{to}</ins>
    </>
  );
}

function Words({ from, to }: { from: string; to: string }) {
  return diffWords(from, to).map(({ kind, text }, index) => {
    if (kind === "same") return <span key={index}>{text}</span>;
    if (kind === "out")
      return (
        <del key={index} className="rounded bg-bad-soft text-bad">
          {text}
        </del>
      );
    return (
      <ins key={index} className="rounded bg-good-soft text-good no-underline">
        {text}
      </ins>
    );
  });
}
