import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Button } from "./Button.tsx";
import { wordsOf } from "./States.tsx";

type List = Pick<
  UseInfiniteQueryResult,
  "isError" | "isFetchNextPageError" | "error" | "hasNextPage" | "isFetching" | "fetchNextPage" | "refetch"
>;

// `what` names the list in an error message. `more` labels the button that reads the next page.
type Props = { list: List; what: string; more: string };

// The end of a paged list. It offers the next page or shows the error, and keeps the rows read so far.
export function ListFoot({ list, what, more }: Props) {
  if (!list.isError && !list.hasNextPage) return null;
  const isAgain = list.isError && !list.isFetchNextPageError;
  return (
    <div className="no-print flex flex-wrap items-center gap-3 px-4 py-2">
      {list.isError && (
        <p role="alert" className="text-soft">
          {what} could not be loaded: {wordsOf(list.error)}
        </p>
      )}
      <Button disabled={list.isFetching} onClick={() => void (isAgain ? list.refetch() : list.fetchNextPage())}>
        {list.isError ? "Try again" : more}
      </Button>
    </div>
  );
}
