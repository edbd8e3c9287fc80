import type { Case } from "@casehound/client";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { isRandomCheck } from "../../parts/RandomCheck.tsx";
import { Section } from "./Section.tsx";

export function RandomCheckWords() {
  return (
    <p>
      Nothing suspicious was found. The case was chosen at random, to measure how many frauds are missed. Decide it as you would
      any other.
    </p>
  );
}

// Shown instead of the reasons, because there are none.
export function RandomCheckWhy() {
  return (
    <Section title="Why" aside={<GuideLink page="investigators#random-checks" about="random checks" />}>
      <RandomCheckWords />
    </Section>
  );
}

// Shown in a random check to which suspicious activity was added.
export function WasRandomCheck({ found: { details } }: { found: Case }) {
  if (!details.random_check || isRandomCheck(details)) return null;
  return <p className="mt-3 text-soft">The case was opened as a random check. The suspicious activity was added later.</p>;
}
