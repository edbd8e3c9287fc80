import type { Rule } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FraudLabel } from "../../parts/Badges.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { Outcomes, figure, precisionWords } from "./Outcomes.tsx";
import { Expression, Sentence } from "./RuleWords.tsx";

export const aboutWords = {
  account: "the account that the event names",
  device: "the device it came from (one case for all accounts)",
  address: "the address it came from (one case for all accounts)",
  network: "the network it came from (one case for all accounts)",
  campaign: "the campaign, an attack from many sources (one case for all accounts)",
  payee: "the payee (one case for all accounts)",
  instrument: "the payment instrument (one case for all accounts)",
};

export function Definition({ rule }: { rule: Rule }) {
  return (
    <Section title="Definition" aside={<GuideLink page="rules-and-backtests#a-rule" about="rules" />}>
      <p className="mb-3 text-base">
        <Sentence text={rule.sentence} />
      </p>
      <Expression text={rule.expression} />
      <dl className="mt-4 grid grid-cols-[repeat(auto-fit,minmax(11rem,1fr))] gap-x-6 gap-y-3">
        <Fact name="Label">
          <FraudLabel label={rule.label} />
        </Fact>
        <Fact name="Weight">
          {rule.weight} <WeightMeaning weight={rule.weight} />
        </Fact>
        <Fact name="Failed log-ins and sign-ups open a case about">{aboutWords[rule.about]}</Fact>
        <Fact name="Hits, 7 days">
          {figure.format(rule.hits_7d)} on, {figure.format(rule.shadow_hits_7d)} in shadow
        </Fact>
        <Fact name="Precision so far">
          <strong className="font-semibold">{precisionWords(rule.precision)}</strong> <Outcomes of={rule.precision} />
        </Fact>
      </dl>
    </Section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-faint">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

// What the rule does on its own under the current thresholds.
export function WeightMeaning({ weight }: { weight: number }) {
  const { data } = useQuery(useWorkspace().queries.thresholds());
  if (!data) return null;
  const score = [data.score_2, data.score_3, data.score_4, data.score_5].filter((from) => weight >= from).length + 1;
  const words = score >= 3 ? `on its own, it opens a case with score ${score}` : "on its own, it opens no case";
  return <span className="text-soft">({words})</span>;
}
