import { useEffect, useRef, useState } from "react";

/** Returns whether an element is near the visible area. Hundreds of charts are drawn one screen at a time. */
export function useSeen<E extends HTMLElement>() {
  const element = useRef<E>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const at = element.current;
    if (at === null || isSeen) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: "600px" },
    );
    observer.observe(at);
    return () => observer.disconnect();
  }, [isSeen]);
  return { element, isSeen };
}
