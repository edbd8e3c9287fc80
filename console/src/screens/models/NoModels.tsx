import type { ModelLabels } from "@casehound/client";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Section } from "../case/Section.tsx";
import { figure } from "../detection/Outcomes.tsx";
import { momentNames } from "./words.ts";

// Shown before the first model: how many labels there are, and how many are needed.
export function NoModels({ labels }: { labels: readonly ModelLabels[] }) {
  const total = labels.reduce((sum, each) => sum + each.labels, 0);
  return (
    <Section
      title={total === 0 ? "There are no labels yet" : "There is no model yet"}
      aside={<GuideLink page="labels#where-labels-come-from" about="labels" />}
    >
      <p className="mb-3 max-w-[52rem] text-soft">
        The rules alone decide. A model is trained automatically as soon as enough frauds are known. Closed cases, chargebacks and
        fraud reports all give labels.
      </p>
      <ul aria-label="Labels" className="grid max-w-[52rem]">
        {labels.map((each) => (
          <li key={each.moment} className="border-t border-line py-2">
            <LabelProgress of={each} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

type ProgressProps = { of: ModelLabels; name?: string };

export function LabelProgress({ of: { moment, labels, frauds, frauds_needed: needed }, name }: ProgressProps) {
  return (
    <div className="grid grid-cols-[14rem_minmax(6rem,1fr)_auto] items-center gap-x-4 max-[50rem]:grid-cols-1">
      <span className="font-medium">{name ?? momentNames[moment]}</span>
      <span className="h-2 overflow-hidden rounded-full bg-sunken" aria-hidden>
        <span
          className="block h-full rounded-full bg-accent"
          style={{ width: `${Math.min(100, Math.round((100 * frauds) / needed))}%` }}
        />
      </span>
      <span className="text-soft min-[50rem]:text-right">
        {figure.format(frauds)} of {figure.format(needed)} known frauds needed · {figure.format(labels)}{" "}
        {labels === 1 ? "label" : "labels"}
      </span>
    </div>
  );
}
