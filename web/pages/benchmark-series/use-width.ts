import { useLayoutEffect, useRef, useState } from "react";

/** The width of an element, so that what is drawn in it keeps the size of its letters. */
export function useWidth<E extends HTMLElement>(first: number) {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const at = element.current;
    if (at === null) return;
    setWidth(at.clientWidth);
    const observer = new ResizeObserver(() => setWidth(at.clientWidth));
    observer.observe(at);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}
