import type { ReactNode } from "react";

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/** Loads the next page of a list, if there is one. The label names its content: "Load older builds". */
export function MoreButton({
  pages: { hasNextPage, isFetchingNextPage, fetchNextPage },
  children,
}: {
  readonly pages: Pages;
  readonly children: ReactNode;
}) {
  if (!hasNextPage) return null;
  return (
    <button
      type="button"
      className="more"
      disabled={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      {isFetchingNextPage ? "Loading…" : children}
    </button>
  );
}
