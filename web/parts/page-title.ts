import { useEffect } from "react";

/** Sets the tab's title while the calling page is shown. */
export function usePageTitle(...parts: readonly string[]): void {
  const title = [...parts, "Grange"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
