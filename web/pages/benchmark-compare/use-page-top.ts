import { useCallback, useState } from "react";

/** How far below the page's top an element begins, also after what stands above it became longer. */
export function usePageTop<E extends HTMLElement>() {
  const [top, setTop] = useState(0);
  const element = useCallback((at: E | null) => {
    if (at === null) return;
    const look = () => setTop(Math.round(at.getBoundingClientRect().top + window.scrollY));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  return { element, top };
}
