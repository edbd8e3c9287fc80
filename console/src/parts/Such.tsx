import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../session/workspace.tsx";

// How many of 100 labelled activities with this score were frauds. People understand this better than log-odds.
export function Such({ score }: { score: number }) {
  const { queries, may } = useWorkspace();
  const { data } = useQuery({ ...queries.thresholds(), enabled: may("read:rules") });
  if (!data) return null;
  const frauds = data.frauds_of_100?.[score];
  const labels = data.labels_by_score?.[score] ?? 0;
  const title = `Counted from the labels of the last 90 days for activities with score ${score}`;
  if (frauds === undefined)
    return (
      <span title={title}>
        share of fraud not known yet ({labels} {labels === 1 ? "label" : "labels"})
      </span>
    );
  return (
    <span title={title}>
      <strong className="font-semibold text-ink">{frauds}</strong> of 100 activities with this score{" "}
      {frauds === 1 ? "was" : "were"} fraud
    </span>
  );
}
