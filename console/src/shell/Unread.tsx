import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../session/workspace.tsx";

// The number of unread entries, beside the name in the sidebar, or at the icon's corner if the sidebar is narrow.
export function Unread() {
  const { queries } = useWorkspace();
  return <Count count={useQuery(queries.unread()).data?.unread ?? 0} words="unread" />;
}

// The number of requests that others have made and nobody has decided.
export function Waiting() {
  const { queries, may } = useWorkspace();
  const { data } = useQuery({ ...queries.caseCounts(), enabled: may("read:cases") });
  return <Count count={data?.waiting_for_approval ?? 0} words="waiting" />;
}

function Count({ count, words }: { count: number; words: string }) {
  if (count === 0) return null;
  return (
    <span className="ml-auto rounded-full bg-accent px-1.5 text-xs leading-4 font-semibold text-accent-ink tabular-nums max-xl:absolute max-xl:top-0 max-xl:right-0.5 max-xl:px-1 max-xl:text-[10px]">
      {count}
      <span className="sr-only"> {words}</span>
    </span>
  );
}
