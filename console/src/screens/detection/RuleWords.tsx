import type { Feature } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useDetection } from "./queries.ts";

const names = /([a-z]+\.[a-z0-9_]+)/g;
const placeholders = /(\{[^{}]*\})/g;

function useFeatureNames(): Map<string, Feature> {
  const { data } = useQuery(useDetection().features);
  return new Map((data ?? []).map((each) => [each.name, each]));
}

// A rule's expression as written. The fields it reads are highlighted and explained on hover.
export function Expression({ text }: { text: string }) {
  const known = useFeatureNames();
  return (
    <code className="block rounded-md bg-sunken px-3 py-2 font-mono text-[12.5px] leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]">
      {text.split(names).map((part, index) => {
        const feature = known.get(part);
        if (!feature) return part;
        return (
          <span key={index} className="text-accent" title={`${feature.plain_name}. ${feature.description}`}>
            {part}
          </span>
        );
      })}
    </code>
  );
}

// `isQuiet` only underlines the placeholders, for use in a list.
export function Sentence({ text, isQuiet = false }: { text: string; isQuiet?: boolean }) {
  const known = useFeatureNames();
  const look = isQuiet ? "underline decoration-dotted underline-offset-2" : "rounded bg-accent-soft px-1 text-accent";
  return (
    <span className="[overflow-wrap:anywhere]">
      {text.split(placeholders).map((part, index) => {
        if (index % 2 === 0) return part;
        const feature = known.get(part.slice(1, -1));
        return (
          <span key={index} className={look} title={part}>
            {feature?.plain_name ?? part}
          </span>
        );
      })}
    </span>
  );
}
