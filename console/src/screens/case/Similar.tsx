import type { Case, SimilarCases } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Scale } from "lucide-react";
import { dispositionWords } from "../../parts/Badges.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Id } from "../../parts/Id.tsx";
import { subjectName } from "../../parts/subject.ts";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

const staleMs = 60_000;

// Says how similar cases were decided, with links to them.
export function Similar({ found: { case_id: id } }: { found: Case }) {
  const { client, may } = useWorkspace();
  const { data } = useQuery({
    queryKey: ["similar", id],
    queryFn: ({ signal }) => client.call("listSimilarCases", { params: { case_id: id }, signal }),
    staleTime: staleMs,
    enabled: may("read:cases"),
  });
  if (!data) return null;
  return (
    <div className="mt-4">
      <p className="flex gap-2">
        <Scale size={16} className="mt-0.5 shrink-0 text-faint" aria-hidden />
        <span>
          {summaryOf(data)}{" "}
          <GuideLink page="investigators#similar-cases" about="similar cases" className="no-print text-xs whitespace-nowrap" />
        </span>
      </p>
      {data.cases.length > 0 && (
        <details className="no-print mt-1 ml-6">
          <summary className="cursor-pointer text-sm text-soft">Similar cases</summary>
          <ul aria-label="Similar cases" className="mt-1 grid gap-1 text-sm">
            {data.cases.map((each) => (
              <li key={each.case_id} className="flex flex-wrap items-baseline gap-x-3">
                <Link
                  to="/cases/$caseId"
                  params={{ caseId: each.case_id }}
                  className="max-w-full truncate font-medium text-accent hover:underline"
                >
                  <Id id={subjectName(each.website_account_id, each.subject)} />
                </Link>
                <span>{dispositionWords[each.disposition]}</span>
                <span className="text-faint">
                  {Math.round(each.similarity * 100)} % alike, closed <Age at={each.decided_at} suffix=" ago" />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function summaryOf({ compared, similar, confirmed_frauds, false_positives, inconclusive, is_enough }: SimilarCases): string {
  if (compared === 0) return "There are no decided cases to compare this one with yet.";
  if (similar === 0 && compared === 1) return "The only decided case with this label is not like this one.";
  if (similar === 0) return `None of the last ${compared} decided cases with this label is like this one.`;
  if (!is_enough) {
    const which = similar === 1 ? "Only 1 decided case is" : `Only ${similar} decided cases are`;
    return `${which} like this one, which is too few to say how such cases turn out.`;
  }
  const isFraud = confirmed_frauds >= false_positives;
  const [leading, words] = isFraud ? [confirmed_frauds, "confirmed fraud"] : [false_positives, "false positives"];
  const rest = [
    ...(isFraud && false_positives > 0 ? [`${false_positives} false positive${false_positives === 1 ? "" : "s"}`] : []),
    ...(!isFraud && confirmed_frauds > 0 ? [`${confirmed_frauds} confirmed fraud`] : []),
    ...(inconclusive > 0 ? [`${inconclusive} inconclusive`] : []),
  ];
  return `${leading} of the last ${similar} cases like this were ${words}${rest.length > 0 ? `, ${rest.join(", ")}` : ""}.`;
}
