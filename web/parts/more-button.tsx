import type { ReactNode } from "react";

interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => Promise<unknown>;
}

/** Fetches the next page of a list, where there is one. The words say what comes: "Load older builds". */
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
